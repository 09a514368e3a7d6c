//! Cancels a job together with its pull request.

use domain::ids::{JobId, PullRef};
use domain::job::{self, Job};
use domain::priority::Priority;
use domain::pull;
use domain::refusal::NotNow;
use domain::step::Step;

use super::JobRef;
use crate::backend::{Backend, Error, decide_again};
use crate::keys;
use crate::save::EventRoute;
use crate::work::Work;

impl Backend {
    /// Cancels a job and closes its pull request, if it has one. An ended job keeps its end, and only its pull
    /// request is closed. Cancels nothing before the first reading of its pull request.
    pub async fn cancel_and_close(&self, named: &JobRef, by: &str) -> Result<Job, Error> {
        self.pull_to_close(&named.job).await?;
        let job = match self.cancel_job(named, by).await {
            Err(Error::NotNow(refusal)) => {
                let job = self.must_job(&named.job).await?.value;
                let closable = job.is_ended() && job.pull().is_some();
                if !closable {
                    return Err(Error::NotNow(refusal));
                }
                job
            }
            cancelled => cancelled?,
        };
        if let Some(pull) = job.pull() {
            self.close_pull(pull, by).await?;
        }
        Ok(job)
    }

    /// The pull request of a job; refused where it was not read yet.
    pub async fn pull_to_close(&self, id: &JobId) -> Result<Option<PullRef>, Error> {
        let Some(pull) = self.must_job(id).await?.value.pull().cloned() else {
            return Ok(None);
        };
        match self.store.pull(&pull).await? {
            Some(_) => Ok(Some(pull)),
            None => Err(unread(&pull).into()),
        }
    }

    /// Stops following the job of a delivery that came to its end before the merge.
    pub(crate) async fn leave_job(&self, id: &JobId) -> Result<(), Error> {
        decide_again(format!("job {id}"), || async move {
            let found = self.must_job(id).await?;
            let step = job::leave(&found.value, self.now());
            let mut unit = self.unit();
            self.save_job(&mut unit, Some(&found), &step).await?;
            let over = self.withdraw_at_end(&mut unit, &found.value, &step).await?;
            if !self.try_commit(unit).await? {
                return Ok(None);
            }
            self.nudge_after(&over).await?;
            Ok(Some(()))
        })
        .await
    }

    /// Has a job of a delivery wait for its slot by another priority.
    pub(crate) async fn prioritise_job(&self, id: &JobId, priority: Priority) -> Result<(), Error> {
        decide_again(format!("job {id}"), || async move {
            let found = self.must_job(id).await?;
            let Some(next) = job::prioritised(&found.value, priority) else {
                return Ok(Some(()));
            };
            let step = Step {
                due: found.due,
                ..Step::unchanged(next)
            };
            let mut unit = self.unit();
            self.save_job(&mut unit, Some(&found), &step).await?;
            Ok(self.try_commit(unit).await?.then_some(()))
        })
        .await
    }

    /// Orders a pull request of ours to be closed; the dispatcher closes it.
    pub async fn close_pull(&self, pull: &PullRef, by: &str) -> Result<(), Error> {
        decide_again(format!("pull request {pull}"), || async move {
            let found = self.store.pull(pull).await?.ok_or_else(|| unread(pull))?;
            let step = pull::close(&found.value.pull, by, self.now())?;
            let pull = step.aggregate.pull.clone();
            let mut unit = self.unit();
            let (version, read_at) = (Some(found.version), found.value.read_at);
            self.save_pull(&mut unit, version, (&step, read_at), &EventRoute::default())
                .await?;
            let pk = keys::pull_pk(&pull);
            let look = Work::of_pull(pull);
            unit.enqueue(&pk, look);
            Ok(self.try_commit(unit).await?.then_some(()))
        })
        .await
    }
}

fn unread(pull: &PullRef) -> NotNow {
    let sentence = format!(
        "{pull} was not read yet, so that it cannot be closed and nothing was cancelled: ask again in a moment, or cancel the job and leave its pull request open"
    );
    NotNow::new("no_pull_request", sentence)
}
