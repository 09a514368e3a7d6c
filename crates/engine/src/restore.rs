//! What a restored store does not know: unfinished effects are in doubt, and a repeated decision first checks whether
//! its effect exists.

use domain::delivery::Delivery;
use domain::effect::{Action, Effect, JulesAction, RepoAction, RestoreGap};
use domain::ids::{DeliveryId, JobId};
use domain::job::{Attention, Job, JobPhase};
use jiff::Timestamp;

use crate::backend::{Backend, Error, IndexEntry};
use crate::dispatcher::CLOCK_SLACK;
use crate::keys;
use crate::ports::{Expect, Key};
use crate::store::Versioned;

/// Maximum number of rows to check: a due row is read as a key and two numbers, so that a million of them is no burden.
const ROWS_MAX: usize = 1_000_000;

impl Backend {
    /// Marks a store that was just restored from a copy made at `from`, before any process works with it. Returns how
    /// many effects are in doubt.
    ///
    /// Everything unfinished has a due time, so the due rows are all there is to doubt. A second run changes nothing.
    pub async fn mark_restored(&self, from: Timestamp) -> Result<u64, Error> {
        let rows = self.store.records().due(Timestamp::MAX, ROWS_MAX).await?;
        let due = rows.into_iter().map(|row| row.key).collect();
        self.mark_uncertain(due, from).await
    }

    /// The same for these rows: for a store whose index may not contain all of them yet.
    pub(crate) async fn mark_uncertain(
        &self,
        due: Vec<Key>,
        from: Timestamp,
    ) -> Result<u64, Error> {
        let now = self.now();
        let gap = RestoreGap { from, until: now };
        let mut unit = self.unit();
        unit.put_if(
            keys::restore_gap(),
            &gap,
            Expect::Any,
            IndexEntry::default(),
        );
        self.commit(unit).await?;
        let mut doubted = 0;
        for key in due {
            if !key.sk.starts_with(keys::EFFECT) {
                continue;
            }
            let Some(found) = self.store.read::<Effect>(&key).await? else {
                continue;
            };
            let mut unit = self.unit();
            let next = found.value.after_restore(&gap, now);
            self.save_effect_state(&mut unit, &key.pk, &found, &next);
            self.commit(unit).await?;
            doubted += 1;
        }
        Ok(doubted)
    }

    /// The gap in which an effect may already have happened, narrowed to what can match it; `None` when it is
    /// certainly new.
    pub(crate) async fn restore_gap_of(
        &self,
        pk: &str,
        before: Option<&Effect>,
        action: &Action,
    ) -> Result<Option<RestoreGap>, Error> {
        if !action.may_double() {
            return Ok(None);
        }
        let Some(gap) = self.store.gap().await? else {
            return Ok(None);
        };
        if before.is_some_and(|before| !before.failed_before(&gap)) {
            return Ok(None);
        }
        if self.is_of_later_delivery(pk, &gap).await? {
            return Ok(None);
        }
        let job = self.job_behind(action).await?;
        if job
            .as_ref()
            .is_some_and(|job| job.value.created_at > gap.until)
        {
            return Ok(None);
        }
        let open = job.and_then(|job| open_question(&job.value));
        let from = match (action, open) {
            // Messages before the open question were no answer to it. The slack covers differing clocks; both times
            // are Jules's.
            (Action::Jules(JulesAction::Say { .. }), Some(asked)) => {
                gap.from.max((asked + CLOCK_SLACK).min(self.now()))
            }
            (_, _) => gap.from,
        };
        Ok(Some(RestoreGap { from, ..gap }))
    }

    /// Whether an effect is one of a delivery that was created after the gap. What an earlier delivery started may look
    /// the same as what this one has to start.
    async fn is_of_later_delivery(&self, pk: &str, gap: &RestoreGap) -> Result<bool, Error> {
        let id: Option<DeliveryId> = pk
            .strip_prefix(keys::DELIVERY)
            .and_then(|id| id.parse().ok());
        let found = match id {
            Some(id) => self.store.get::<Delivery>(&id).await?,
            None => None,
        };
        Ok(found.is_some_and(|found| found.value.created_at > gap.until))
    }

    async fn job_behind(&self, action: &Action) -> Result<Option<Versioned<Job>>, Error> {
        let id: Option<JobId> = match action {
            Action::Jules(JulesAction::CreateSession { job, .. })
            | Action::Repo(RepoAction::Propose { job, .. } | RepoAction::Weave { job, .. }) => {
                Some(job.clone())
            }
            Action::Jules(
                JulesAction::Say { session, .. }
                | JulesAction::ApprovePlan { session, .. }
                | JulesAction::Archive { session },
            ) => self.store.job_of(session).await?,
            Action::Pull(_)
            | Action::Repo(
                RepoAction::Status { .. }
                | RepoAction::OpenIssue { .. }
                | RepoAction::PutLabel { .. }
                | RepoAction::Unlabel { .. },
            )
            | Action::Tracker(_) => None,
        };
        match id {
            Some(id) => Ok(self.store.job(&id).await?),
            None => Ok(None),
        }
    }
}

/// When the question was asked that waits for an answer.
fn open_question(job: &Job) -> Option<Timestamp> {
    let JobPhase::Watching(watch) = &job.phase else {
        return None;
    };
    match watch.attention {
        Attention::Question { .. } => watch.log.agent.as_ref().map(|said| said.at),
        Attention::None
        | Attention::Expecting { .. }
        | Attention::Plan { .. }
        | Attention::Answered { .. } => None,
    }
}
