//! What is told of a run: that one of its steps failed.

use domain::event::Event;
use domain::job::{Job, Origin};
use domain::pipeline::{self, Pipeline, PipelineStep, StepKind};
use domain::policy::Source;

use crate::backend::Error;
use crate::dispatcher::Dispatcher;

/// How many runs are looked at for the last one that had the same step: those of single layers lie between.
const EARLIER_RUNS_MAX: usize = 20;

impl Dispatcher {
    /// The event of a step that failed, unless that was told already.
    pub(super) async fn news(
        &self,
        before: &Pipeline,
        next: &Pipeline,
        source: &Source,
    ) -> Result<Vec<Event>, Error> {
        let Some(step) = pipeline::failed_step(before, next) else {
            return Ok(Vec::new());
        };
        if self.is_told_by_jobs(step).await? {
            return Ok(Vec::new());
        }
        let runs = self.backend.pipelines(&next.repo, EARLIER_RUNS_MAX).await?;
        if pipeline::is_known(next, step, &runs) {
            return Ok(Vec::new());
        }
        let now = self.backend.now();
        let event = pipeline::announcement(next, step, &source.account, now);
        Ok(vec![event])
    }

    /// Whether all agents of a step ended by themselves: the session of each has an event, or a person ended it.
    async fn is_told_by_jobs(&self, step: &PipelineStep) -> Result<bool, Error> {
        match step.kind {
            StepKind::Layer(_) if !step.members.is_empty() => {}
            StepKind::Layer(_)
            | StepKind::Bootstrap
            | StepKind::Requirements
            | StepKind::Proposals
            | StepKind::Clean
            | StepKind::Labels => return Ok(false),
        }
        for member in &step.members {
            let job = self.backend.store.job(&member.job).await?;
            let tells = |job: &Job| job.is_ended() && job.origin != Origin::Proposed;
            if !job.is_some_and(|found| tells(&found.value)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
