//! Calls of a delivery, a run or a sprint when what it can see of its jobs or their pull requests changes.

use domain::delivery::{self, Checks, Delivery, JobGlimpse, PullGlimpse};
use domain::ids::DeliveryId;
use domain::job::Job;
use domain::pipeline::{self, PartWork};
use domain::policy::Timing;
use domain::pull::Pull;
use domain::sprint;

use crate::backend::{Backend, Error};
use crate::work::Work;

impl Backend {
    /// The delivery of a job, if what it can see of the job changes.
    pub(super) async fn seen_by_delivery<'a>(
        &self,
        before: Option<&Job>,
        job: &'a Job,
    ) -> Result<Option<&'a DeliveryId>, Error> {
        let Some(delivery) = &job.delivery else {
            return Ok(None);
        };
        let source = self.store.source(&job.repo).await?;
        let timing = source.map_or_else(Timing::default, |source| source.value.timing);
        let now = self.now();
        let glimpse = |job| JobGlimpse::of_job(job, &timing, now);
        let changes = before.map(glimpse) != Some(glimpse(job));
        Ok(changes.then_some(delivery))
    }

    /// The run and the requirement, or the sprint, that a job works for, if what they can see of the job changes.
    pub(super) async fn seen_by_part(
        &self,
        before: Option<&Job>,
        job: &Job,
    ) -> Result<Vec<Work>, Error> {
        let Some(part) = &job.part else {
            return Ok(Vec::new());
        };
        let repo = job.repo.clone();
        let requirement = match &part.work {
            PartWork::Sprint(part) => {
                let number = part.sprint;
                let changes = self.seen_by_sprint(before, job).await?;
                return Ok(changes
                    .then_some(Work::Sprint { repo, number })
                    .into_iter()
                    .collect());
            }
            PartWork::Proposal { requirement } => requirement.clone(),
            PartWork::Agent(_) => None,
        };
        if before.map(pipeline::sight) == Some(pipeline::sight(job)) {
            return Ok(Vec::new());
        }
        let requirement = requirement.map(|id| Work::Requirement { repo, id });
        let run = part.pipeline.clone().map(|id| Work::Pipeline { id });
        Ok(run.into_iter().chain(requirement).collect())
    }

    /// Whether what a sprint can see of a job changes.
    async fn seen_by_sprint(&self, before: Option<&Job>, job: &Job) -> Result<bool, Error> {
        let source = self.store.source(&job.repo).await?;
        let timing = source.map_or_else(Timing::default, |source| source.value.timing);
        let now = self.now();
        let glimpse = |job: &Job| (sprint::sight(job, None, &timing, now), job.pull().cloned());
        Ok(before.map(glimpse) != Some(glimpse(job)))
    }

    /// The sprint of a pull request, if what it can see of that changes.
    pub(super) async fn shows_sprint(&self, pull: &Pull) -> Result<Option<Work>, Error> {
        let Some(number) = pull.sprint else {
            return Ok(None);
        };
        let before = self.store.pull(&pull.pull).await?;
        let before = before.map(|found| sprint::glimpse(&found.value.pull));
        let changes = before != Some(sprint::glimpse(pull));
        let repo = pull.pull.repo.clone();
        Ok(changes.then_some(Work::Sprint { repo, number }))
    }

    /// The run of a pull request, when its failed checks turn out not to be repaired: no change of its job tells that.
    pub(super) async fn shows_run(&self, pull: &Pull) -> Result<Option<Work>, Error> {
        let is_red = |pull: &Pull| !pipeline::unrepaired(pull).is_empty();
        if !is_red(pull) {
            return Ok(None);
        }
        let before = self.store.pull(&pull.pull).await?;
        if before.is_some_and(|found| is_red(&found.value.pull)) {
            return Ok(None);
        }
        let job = self.store.job(&pull.job).await?;
        let part = job.and_then(|found| found.value.part);
        let run = part.and_then(|part| part.pipeline.clone());
        Ok(run.map(|id| Work::Pipeline { id }))
    }

    /// The delivery of a pull request, if what it can see of that changes, or if it waits for another reading of failed checks,
    /// which may show the same.
    pub(super) async fn shows_delivery(&self, pull: &Pull) -> Result<Option<DeliveryId>, Error> {
        let Some(delivery) = &pull.delivery else {
            return Ok(None);
        };
        let before = self.store.pull(&pull.pull).await?;
        let before = before.map(|found| PullGlimpse::of_pull(&found.value.pull));
        let glimpse = PullGlimpse::of_pull(pull);
        let is_red = glimpse.checks == Checks::GivenUp;
        let changes = before != Some(glimpse);
        let calls = changes || is_red && self.reads_again(delivery).await?;
        Ok(calls.then(|| delivery.clone()))
    }

    /// Whether a delivery tries its merge again although checks failed, and decides by the next reading of them.
    async fn reads_again(&self, id: &DeliveryId) -> Result<bool, Error> {
        let found = self.store.get::<Delivery>(id).await?;
        Ok(found.is_some_and(|found| delivery::is_read_again(&found.value)))
    }
}
