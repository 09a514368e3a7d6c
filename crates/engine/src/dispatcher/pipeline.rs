//! A run of a pipeline: plans its next step, asks for the jobs of the present one, and reads how they are.

mod asked;
mod cleaning;
mod members;
mod planning;
mod prompts;
mod proposing;
mod publishing;
mod recipes;
mod requirement;
mod schedule;
mod trees;
mod trials;

use domain::ids::{JobId, PipelineId, StreamName};
use domain::pipeline::{self, Input, Member, MemberState, Pipeline, PipelineStep, StepState};
use domain::policy::Source;

use super::Dispatcher;
use super::dues::is_due_kept;
use crate::backend::{DECIDE_AGAIN_MAX, Error};
use crate::jobs::JobRef;
use crate::store::Versioned;
use trees::TreeCache;

/// How many decisions one message leads to: each step takes two, and no run has more steps than this allows.
const LOOKS_MAX: u32 = 16;

impl Dispatcher {
    /// Handles a run: goes on from step to step until one has to wait.
    pub(super) async fn pipeline(&self, id: &PipelineId) -> Result<(), Error> {
        let mut trees = TreeCache::default();
        for _ in 0..LOOKS_MAX {
            let Some(found) = self.backend.store.get::<Pipeline>(id).await? else {
                return Ok(());
            };
            let Some(place) = found.value.current() else {
                return self.end_jobs(&found.value).await;
            };
            let source = self.source(&found.value.repo).await?;
            let goes_on = match self.hold(&source).await? {
                // Nothing begins now; the row is due again.
                Some(_) => {
                    let held = pipeline::held(&found.value, place, self.backend.now());
                    self.save_pipeline(&found, held).await?;
                    false
                }
                None => self.go_on(&found, place, (&source, &mut trees)).await?,
            };
            if !goes_on {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Makes one decision about the present step, and returns whether another one may follow at once.
    async fn go_on(
        &self,
        found: &Versioned<Pipeline>,
        place: usize,
        (source, trees): (&Source, &mut TreeCache),
    ) -> Result<bool, Error> {
        let step = &found.value.steps[place];
        let input = match step.state {
            StepState::Pending => {
                let planned = Box::pin(self.plan(&found.value, place, (source, trees))).await?;
                match planned {
                    Some(plan) => Input::Planned(plan),
                    None => return self.save_pipeline(found, found.value.clone()).await,
                }
            }
            StepState::Running { .. } | StepState::WaitingMerge { .. } => {
                let created = self.create_members(&found.value, place, (source, trees));
                let refused = Box::pin(created).await?;
                self.sights(step, &refused).await?
            }
            StepState::Done { .. } | StepState::Skipped { .. } | StepState::Failed { .. } => {
                return Ok(false);
            }
        };
        // Merges go by the present settings of the source, and so does the time that they may take.
        let present = Pipeline {
            rules: requirement::rules(source),
            ..found.value.clone()
        };
        let next = pipeline::apply(&present, &input, self.backend.now());
        for job in pipeline::given_up(&found.value, &next) {
            // A later run would begin the same work beside it.
            self.cancel_member(&named(&found.value), &job).await?;
        }
        self.save_pipeline(found, next).await
    }

    /// Saves a run with its due. Returns whether it changed, here or meanwhile.
    async fn save_pipeline(
        &self,
        found: &Versioned<Pipeline>,
        next: Pipeline,
    ) -> Result<bool, Error> {
        let now = self.backend.now();
        let due = pipeline::due(&next, now);
        let is_same = next == found.value;
        if is_same && is_due_kept(found.due, due, now) {
            return Ok(false);
        }
        let mut unit = self.backend.unit();
        unit.save_at(&next.id, &next, (Some(found.version), due));
        match self.backend.commit(unit).await {
            Err(error) if error.is_conflict() => Ok(true),
            outcome => outcome.map(|()| !is_same),
        }
    }

    /// How far the jobs of a step are. Those that can never be made have failed.
    async fn sights(
        &self,
        step: &PipelineStep,
        refused: &[(JobId, String)],
    ) -> Result<Input, Error> {
        let mut sights = Vec::new();
        for member in &step.members {
            let job = self.backend.store.job(&member.job).await?;
            let refusal = refused.iter().find(|(id, _)| *id == member.job);
            let sight = match (job, refusal) {
                (Some(job), _) => Some(pipeline::sight(&job.value)),
                (None, Some((_, reason))) => Some(pipeline::failed(reason)),
                (None, None) => None,
            };
            sights.push((member.job.clone(), sight));
        }
        Ok(Input::Seen(sights))
    }

    /// Cancels the jobs of a run that was cancelled.
    async fn end_jobs(&self, pipeline: &Pipeline) -> Result<(), Error> {
        let members = pipeline.steps.iter().flat_map(|step| &step.members);
        let open = |member: &&Member| !member.state.is_over();
        for member in members.filter(open) {
            self.cancel_member(&named(pipeline), &member.job).await?;
        }
        Ok(())
    }

    /// Cancels the job of a member of a run or a sprint, unless it is over.
    pub(super) async fn cancel_member(&self, by: &str, id: &JobId) -> Result<(), Error> {
        for _ in 0..DECIDE_AGAIN_MAX {
            let job = self.backend.store.job(id).await?;
            if job.is_none_or(|job| job.value.is_ended()) {
                return Ok(());
            }
            let named = JobRef {
                job: id.clone(),
                session: None,
                by: Some(by.to_owned()),
            };
            match self.backend.cancel_job(&named, by).await {
                Err(error) if error.is_conflict() => {}
                Err(Error::NotNow(_)) => return Ok(()),
                outcome => return outcome.map(drop),
            }
        }
        Ok(())
    }
}

/// What a run calls itself where it cancels jobs.
fn named(pipeline: &Pipeline) -> String {
    format!("pipeline {}", pipeline.id)
}

/// An agent at work.
fn at_work(job: JobId) -> Member {
    Member {
        role: None,
        stream: StreamName::default(),
        requirement: None,
        job,
        state: MemberState::Working,
    }
}
