//! Moves rows that kept too early a time in the index: see `UnitOfWork::keep_due_row`.

use domain::effect::Effect;
use domain::job::{self, Job, JobPhase};
use domain::when::plus;
use jiff::{SignedDuration, Timestamp};

use super::Poller;
use crate::backend::{Error, IndexEntry};
use crate::keys;
use crate::ports::Record;
use crate::store::decode;
use crate::work::Work;

/// How long a queued job is left to the slots of its account. They are due while any job waits, so this only covers a
/// list that did not show the job.
const QUEUED_LOOK: SignedDuration = SignedDuration::from_hours(6);

impl Poller {
    /// Moves a row that is due too early to its right time, and returns that time; `None` for one that is due now.
    /// After a conflict nothing is left to do either.
    pub(super) async fn correct_due(&self, record: &Record) -> Result<Option<Timestamp>, Error> {
        if let Some(job) = queued(record) {
            return Ok(Some(self.leave_to_slots(record, &job).await?));
        }
        let Some(at) = self.wanted_at(record).await? else {
            return Ok(None);
        };
        if at <= self.backend.now() {
            return Ok(None);
        }
        self.move_to(record, at).await?;
        self.jobs.invalidate(&record.key);
        Ok(Some(at))
    }

    /// A queued job is hardly ever due by itself: the slots of its account are due, once for all that wait. Returns
    /// when.
    async fn leave_to_slots(&self, record: &Record, job: &Job) -> Result<Timestamp, Error> {
        let now = self.backend.now();
        let slots = self.backend.store.slots(&job.account).await?;
        let at = slots.due.unwrap_or(now);
        if slots.due.is_none() {
            let mut unit = self.backend.unit();
            let key = keys::slots(&job.account);
            unit.put(
                key,
                &slots.value,
                Some(slots.version),
                IndexEntry::due(Some(at)),
            );
            match self.backend.commit(unit).await {
                // Another process changes the slots just now: the job stays due until they are.
                Err(error) if error.is_conflict() => return Ok(now),
                outcome => outcome?,
            }
        }
        self.move_to(record, plus(now, QUEUED_LOOK)).await?;
        self.jobs.invalidate(&record.key);
        Ok(at)
    }

    /// The right due time of a row's content; `None` for rows that are never too early, and for unreadable ones:
    /// their handler reports that.
    async fn wanted_at(&self, record: &Record) -> Result<Option<Timestamp>, Error> {
        let key = &record.key;
        if key.sk.starts_with(keys::EFFECT) {
            let found = decode::<Effect>(record).ok();
            return Ok(found.and_then(|found| found.value.due()));
        }
        let is_job = key.sk == keys::META && matches!(Work::of_due(key), Some(Work::Job { .. }));
        let Some(found) = decode::<Job>(record).ok().filter(|_| is_job) else {
            return Ok(None);
        };
        let rules = self.rules(&found.value).await?;
        Ok(job::looked_at(&found.value, &rules.timing))
    }
}

/// The job that a row holds, if it waits for a slot.
fn queued(record: &Record) -> Option<Job> {
    let is_job = matches!(Work::of_due(&record.key), Some(Work::Job { .. }));
    let found = decode::<Job>(record)
        .ok()
        .filter(|_| is_job && record.key.sk == keys::META)?;
    matches!(found.value.phase, JobPhase::Queued { .. }).then_some(found.value)
}
