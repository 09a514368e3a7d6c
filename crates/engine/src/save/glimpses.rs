//! Calls of a delivery when what it can see of its job or its pull request changes.

use domain::delivery::{JobGlimpse, PullGlimpse};
use domain::ids::DeliveryId;
use domain::job::Job;
use domain::pipeline::{self, PartWork};
use domain::policy::Timing;
use domain::pull::Pull;

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
        let glimpse = |job| JobGlimpse::of(job, &timing, now);
        let changes = before.map(glimpse) != Some(glimpse(job));
        Ok(changes.then_some(delivery))
    }

    /// The run and the requirement that a job works for, if what they can see of the job changes.
    pub(super) fn seen_by_pipeline(before: Option<&Job>, job: &Job) -> impl Iterator<Item = Work> {
        let changes = before.map(pipeline::sight) != Some(pipeline::sight(job));
        let part = job.part.as_ref().filter(|_| changes);
        let run = part.and_then(|part| part.pipeline.clone());
        let requirement = part.and_then(|part| match &part.work {
            PartWork::Proposal { requirement } => requirement.clone(),
            PartWork::Agent(_) => None,
        });
        let requirement = requirement.map(|id| Work::Requirement {
            repo: job.repo.clone(),
            id,
        });
        let run = run.map(|id| Work::Pipeline { id });
        run.into_iter().chain(requirement)
    }

    /// The delivery of a pull request, if what it can see of that changes.
    pub(super) async fn shows_delivery(&self, pull: &Pull) -> Result<Option<DeliveryId>, Error> {
        let Some(delivery) = &pull.delivery else {
            return Ok(None);
        };
        let before = self.store.pull(&pull.pull).await?;
        let before = before.map(|found| PullGlimpse::of(&found.value.pull));
        let changes = before != Some(PullGlimpse::of(pull));
        Ok(changes.then(|| delivery.clone()))
    }
}
