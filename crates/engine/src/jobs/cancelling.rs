//! Cancels a job, and closes its pull request if that is wanted too.

use domain::job::{self, Job};
use domain::pull;

use super::{Named, busy};
use crate::desk::{DECIDE_AGAIN_MAX, Desk, Error};
use crate::keys;
use crate::save::Route;
use crate::work::Work;

impl Desk {
    /// Cancels a job. `closes_pull` closes its pull request as well, also when the job was cancelled before.
    pub async fn cancel_job(
        &self,
        named: &Named,
        by: &str,
        closes_pull: bool,
    ) -> Result<Job, Error> {
        let now = self.now();
        let cancel = (
            job::Order::Cancel,
            &|job: &Job, _: &_| job::cancel(job, by, now),
        );
        let job = match self.order(named, (cancel.0, cancel.1)).await {
            Ok(step) => step.aggregate,
            Err(Error::NotNow(ended)) if closes_pull => {
                let job = self.must_job(&named.job).await?.value;
                if !job.is_ended() || job.pull().is_none() {
                    return Err(Error::NotNow(ended));
                }
                self.close_pull(&job, by).await?;
                return Ok(job);
            }
            Err(error) => return Err(error),
        };
        if closes_pull && job.pull().is_some() {
            self.close_pull(&job, by).await?;
        }
        Ok(job)
    }

    /// Orders the pull request of a cancelled job to be closed; the dispatcher closes it.
    async fn close_pull(&self, job: &Job, by: &str) -> Result<(), Error> {
        for _ in 0..DECIDE_AGAIN_MAX {
            let found = self.pull_of(&job.id).await?;
            let step = pull::close(&found.value.pull, by, self.now())?;
            let mut unit = self.unit();
            let reference = step.aggregate.pull.clone();
            let read_at = found.value.read_at;
            let route = Route::default();
            self.save_pull(&mut unit, Some(found.version), (&step, read_at), &route)
                .await?;
            let pk = keys::pull_pk(&reference);
            unit.tell(
                &pk,
                Work::Pull {
                    pull: reference,
                    job: None,
                    received_at: None,
                },
            );
            match self.commit(unit).await {
                Err(error) if error.is_conflict() => {}
                outcome => return outcome,
            }
        }
        Err(busy(&job.id))
    }
}
