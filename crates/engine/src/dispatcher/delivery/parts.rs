//! What the parts of a delivery that was split show of a merge, which closes the issue of them all.

use domain::delivery::{Delivery, PartsSight, PullEnd, PullGlimpse};
use domain::ids::{DeliveryId, PullRef};
use domain::job::{Job, JobPhase};
use jiff::Timestamp;

use crate::backend::Error;
use crate::dispatcher::Dispatcher;

impl Dispatcher {
    /// Whether one of the parts is merged, and as of when that is known.
    pub(super) async fn parts_sight(&self, delivery: &Delivery) -> Result<PartsSight, Error> {
        let mut sight = PartsSight {
            is_any_merged: false,
            read_at: Some(self.backend.now()),
        };
        for child in &delivery.children {
            let (is_merged, read_at) = self.part_sight(&child.id).await?;
            sight.is_any_merged |= is_merged;
            // The part that was read first tells how much is known of all; none is earlier than any time.
            sight.read_at = sight.read_at.min(read_at);
        }
        Ok(sight)
    }

    async fn part_sight(&self, id: &DeliveryId) -> Result<(bool, Option<Timestamp>), Error> {
        let (store, now) = (&self.backend.store, self.backend.now());
        let Some(part) = store.get::<Delivery>(id).await? else {
            return Ok((false, Some(now)));
        };
        let part = part.value;
        if let Some(earlier) = &part.task.earlier_pull
            && let Some(tracked) = store.pull(earlier).await?
            && let Some(PullEnd::Merged { .. }) = PullGlimpse::of_pull(&tracked.value.pull).end
        {
            return Ok((true, Some(now)));
        }
        // Before the job: what a later reading showed may not be in it yet.
        let session_read_at = match &part.task.job {
            Some(job) => self.session_read_at(job).await?,
            None => None,
        };
        let job = self.job_of_part(&part).await?;
        let Some(pull) = pull_of(&part, job.as_ref()) else {
            let has_session = job.is_some_and(|job| matches!(job.phase, JobPhase::Watching(_)));
            let read_at = match has_session {
                true => session_read_at,
                false => Some(now),
            };
            return Ok((false, read_at));
        };
        let Some(tracked) = store.pull(&pull).await? else {
            return Ok((false, None));
        };
        let tracked = tracked.value;
        Ok(match PullGlimpse::of_pull(&tracked.pull).end {
            Some(PullEnd::Merged { .. }) => (true, Some(now)),
            Some(PullEnd::Closed { .. }) => (false, Some(now)),
            // For a part that is over it is not read any more.
            None if part.is_terminal() => (false, Some(now)),
            None => (false, Some(tracked.read_at.unwrap_or(tracked.pull.since))),
        })
    }

    /// Reads what may show that a part is merged. Returns whether there was something to read.
    pub(super) async fn read_part(&self, id: &DeliveryId) -> Result<bool, Error> {
        let Some(part) = self.backend.store.get::<Delivery>(id).await? else {
            return Ok(false);
        };
        let job = self.job_of_part(&part.value).await?;
        if let Some(pull) = pull_of(&part.value, job.as_ref()) {
            return self.read_pull(&pull).await;
        }
        match job {
            Some(job) => self.read_session(&job.id).await,
            None => Ok(false),
        }
    }

    async fn job_of_part(&self, part: &Delivery) -> Result<Option<Job>, Error> {
        match &part.task.job {
            Some(job) => Ok(self.backend.store.job(job).await?.map(|found| found.value)),
            None => Ok(None),
        }
    }
}

/// The pull request of a part, which its session may have made since the part was last looked at.
fn pull_of(part: &Delivery, job: Option<&Job>) -> Option<PullRef> {
    let of_job = || job.and_then(|job| job.pull().cloned());
    part.task.pull.clone().or_else(of_job)
}
