//! Rows that were left where they stood in the index of times, earlier than they have to be looked at: see `Unit::may_stand`.

use domain::effect::Effect;
use domain::job::{self, Job};
use jiff::Timestamp;

use super::Poller;
use crate::desk::Error;
use crate::keys;
use crate::ports::Record;
use crate::store::decode;
use crate::work::Work;

impl Poller {
    /// Moves a row that is looked at too early to when it has to be, and answers when that is; none for one that has to be looked at now. Whoever lost it to somebody else has nothing to do either.
    pub(super) async fn put_right(&self, record: &Record) -> Result<Option<Timestamp>, Error> {
        let record = &self.known.caught_up(record);
        let Some(at) = self.wanted_at(record).await? else {
            return Ok(None);
        };
        if at <= self.desk.now() {
            return Ok(None);
        }
        let is_written = self.move_to(record, at).await?;
        let written = decode::<Job>(record).ok().filter(|_| is_written);
        let written = written.map(|written| written.value);
        let now = self.desk.now();
        self.known.forget(&record.key, written.as_ref(), now);
        Ok(Some(at))
    }

    /// When what a row holds has to be looked at; none for rows that never stand too early, and for those that nobody can read: whoever they are passed on to tells of that.
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
