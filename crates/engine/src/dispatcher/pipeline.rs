//! A run of a pipeline: plans its next step, asks for the jobs of the present one, and reads how they are.

mod announcing;
mod asked;
mod cleaning;
mod expanding;
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
use domain::pipeline::{
    self, AgentState, Member, MemberSight, Pipeline, PipelineInput, PipelineStep, StepState,
};
use domain::policy::Source;

use super::Dispatcher;
use super::dues::is_due_kept;
use crate::backend::{DECIDE_AGAIN_MAX, Error, UnitOfWork, ignore_conflict};
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
                return self.end_jobs(&found).await;
            };
            let source = self.source(&found.value.repo).await?;
            let goes_on = match self.hold(&source).await? {
                // Nothing begins now; the row is due again.
                Some(_) => {
                    let held = pipeline::held(&found.value, place, self.backend.now());
                    let unit = self.backend.unit();
                    self.save_pipeline(unit, &found, held).await?;
                    false
                }
                None => self.go_on(&found, place, &source, &mut trees).await?,
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
        source: &Source,
        trees: &mut TreeCache,
    ) -> Result<bool, Error> {
        let step = &found.value.steps[place];
        let mut unit = self.backend.unit();
        let (input, hindrance) = match step.state {
            StepState::Pending => {
                let planned = self.plan(&found.value, place, source, trees);
                match Box::pin(planned).await? {
                    Ok(plan) => (PipelineInput::Planned(plan), None),
                    Err(hindrance) => {
                        let same = found.value.clone();
                        let next = pipeline::hindered(same, place, Some(hindrance));
                        let saved = self.save_pipeline(unit, found, next).await;
                        return saved.map(|_changed| false);
                    }
                }
            }
            StepState::Running { .. } | StepState::WaitingMerge { .. } => {
                let created = self.create_members(&found.value, place, source, trees);
                let (refused, hindrance) = Box::pin(created).await?;
                (self.sights(step, &refused).await?, hindrance)
            }
            StepState::Done { .. } | StepState::Skipped { .. } | StepState::Failed { .. } => {
                return Ok(false);
            }
        };
        // Merges go by the present settings of the source, and so does the time that they may take.
        let present = Pipeline {
            rules: source.pipeline_rules(),
            ..found.value.clone()
        };
        let goes_on = hindrance.is_none();
        // One whose time is over says what was in its way.
        let present = pipeline::hindered(present, place, hindrance);
        let next = pipeline::apply(&present, &input, self.backend.now());
        let decided = &next.steps[place];
        match step.state {
            StepState::Pending => {
                let noted = self.note_planning(&mut unit, &next, decided, trees);
                if !Box::pin(noted).await? {
                    return Ok(true);
                }
            }
            StepState::Running { .. }
            | StepState::WaitingMerge { .. }
            | StepState::Done { .. }
            | StepState::Skipped { .. }
            | StepState::Failed { .. } => {
                let ends = self.call_planned(&mut unit, &next, step, decided);
                Box::pin(ends).await?;
            }
        }
        let news = self.news(&found.value, &next, source).await?;
        self.announce(&mut unit, source, &news).await?;
        for job in pipeline::given_up(&found.value, &next) {
            // A later run would begin the same work beside it.
            self.cancel_member(&named(&found.value), &job).await?;
        }
        Ok(self.save_pipeline(unit, found, next).await? && goes_on)
    }

    /// Saves a run with its due, and with what is in the unit already. Returns whether it changed, here or meanwhile.
    async fn save_pipeline(
        &self,
        mut unit: UnitOfWork,
        found: &Versioned<Pipeline>,
        next: Pipeline,
    ) -> Result<bool, Error> {
        let now = self.backend.now();
        let due = pipeline::due(&next, now);
        let is_same = next == found.value;
        if is_same && is_due_kept(found.due, due, now) {
            return Ok(false);
        }
        unit.save_at(&next.id, &next, Some(found.version), due);
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
    ) -> Result<PipelineInput, Error> {
        let mut sights = Vec::new();
        for member in &step.members {
            let seen = self.member_sight(&member.job).await?;
            let refusal = refused.iter().find(|(id, _)| *id == member.job);
            let sight = match (seen, refusal) {
                (None, Some((_, reason))) => Some(MemberSight::refused(reason)),
                (seen, _) => seen,
            };
            sights.push((member.job.clone(), sight));
        }
        Ok(PipelineInput::Seen(sights))
    }

    /// How far a job is, with its pull request; none if it is not there.
    async fn member_sight(&self, id: &JobId) -> Result<Option<MemberSight>, Error> {
        let Some(job) = self.backend.store.job(id).await? else {
            return Ok(None);
        };
        let pull = match job.value.pull() {
            Some(pull) if !job.value.is_ended() => self.backend.store.pull(pull).await?,
            Some(_) | None => None,
        };
        let pull = pull.map(|found| found.value.pull);
        Ok(Some(MemberSight::of(&job.value, pull.as_ref())))
    }

    /// Cancels the jobs of a run that was cancelled, again until all of them have ended.
    async fn end_jobs(&self, found: &Versioned<Pipeline>) -> Result<(), Error> {
        let run = &found.value;
        let mut sights = Vec::new();
        for member in run.open_members() {
            self.cancel_member(&named(run), &member.job).await?;
            sights.push((member.job.clone(), self.member_sight(&member.job).await?));
        }
        if sights.is_empty() {
            return Ok(());
        }
        let now = self.backend.now();
        let next = pipeline::ended(run, &sights, now);
        let mut unit = self.backend.unit();
        for (before, after) in run.steps.iter().zip(&next.steps) {
            self.call_planned(&mut unit, &next, before, after).await?;
        }
        let due = pipeline::due(&next, now);
        unit.save_at(&next.id, &next, Some(found.version), due);
        ignore_conflict(self.backend.commit(unit).await)
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
                // The message comes again.
                Err(error) if error.is_busy() => return Err(error),
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
        state: AgentState::Working,
        note: String::new(),
    }
}
