//! A run of a pipeline: plans its next step, asks for the jobs of the present one, and reads how they are.

mod planning;
mod prompts;
mod proposing;
mod publishing;
mod requirement;
mod schedule;
mod trees;

use domain::ids::{BranchName, JobId, PipelineId};
use domain::job::{self, NewJob, NewProposal};
use domain::pipeline::{
    self, Agent, Input, Member, MemberState, Part, PartWork, Pipeline, PipelineStep, Recipe,
    StepKind, StepState,
};
use domain::policy::{Source, Terms};
use domain::priority::Priority;
use scaffold::prompt::PromptError;

use super::Dispatcher;
use crate::backend::{DECIDE_AGAIN_MAX, Error, ignore_conflict};
use crate::jobs::JobRef;
use crate::store::Versioned;
use planning::passes;
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
        let next = pipeline::apply(&found.value, &input, self.backend.now());
        for job in pipeline::given_up(&found.value, &next) {
            // A later run would begin the same work beside it.
            self.cancel_member(&found.value, &job).await?;
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
        if is_same
            && found
                .due
                .is_some_and(|kept| kept > now && Some(kept) <= due)
        {
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

    /// Creates the jobs of a step that are not there yet, under the ids that were saved with its plan. Returns those that can never be made.
    async fn create_members(
        &self,
        pipeline: &Pipeline,
        place: usize,
        (source, trees): (&Source, &mut TreeCache),
    ) -> Result<Vec<(JobId, String)>, Error> {
        let step = &pipeline.steps[place];
        let mut refused = Vec::new();
        for member in step.members.iter().filter(|it| !it.state.is_over()) {
            if self.backend.store.job(&member.job).await?.is_some() {
                continue;
            }
            let asked = (step, member);
            let created = self.create_member(pipeline, asked, (source, &mut *trees));
            match Box::pin(created).await {
                Ok(()) => {}
                Err(Error::Outside(failure)) if passes(failure.class) => {
                    tracing::warn!(pipeline = %pipeline.id, %failure, "its job is created later");
                }
                Err(Error::Outside(failure)) => {
                    refused.push((member.job.clone(), failure.to_string()));
                }
                Err(Error::NotNow(why)) => refused.push((member.job.clone(), why.to_string())),
                Err(error) => return Err(error),
            }
        }
        Ok(refused)
    }

    async fn create_member(
        &self,
        pipeline: &Pipeline,
        (step, member): (&PipelineStep, &Member),
        (source, trees): (&Source, &mut TreeCache),
    ) -> Result<(), Error> {
        let place = (&member.job, &pipeline.worker);
        let of_run = |work| Part {
            pipeline: Some(pipeline.id.clone()),
            work,
        };
        match (step.kind, &step.trees) {
            (StepKind::Bootstrap, Some(shas)) => {
                let part = of_run(PartWork::Proposal { requirement: None });
                let texts = (BOOTSTRAP_TITLE, BOOTSTRAP_TEXT.to_owned());
                let new = NewProposal {
                    job: self.part_job(source, place, texts, part),
                    recipe: Recipe::Bootstrap(shas.clone()),
                    before: Vec::new(),
                };
                self.create_proposal(new).await
            }
            (StepKind::Proposals, Some(shas)) => {
                let trees = self.trees_of(&pipeline.repo, shas, trees).await?;
                let before = self.issues_of(&pipeline.repo, &trees.worker).await?;
                let part = of_run(PartWork::Proposal { requirement: None });
                let texts = (PUBLISH_TITLE, PUBLISH_TEXT.to_owned());
                let new = NewProposal {
                    job: self.part_job(source, place, texts, part),
                    recipe: Recipe::Publish {
                        worker: shas.worker.clone(),
                    },
                    before,
                };
                self.create_proposal(new).await
            }
            (StepKind::Layer(layer), Some(shas)) => {
                let trees = self.trees_of(&pipeline.repo, shas, trees).await?;
                let asked = (layer, member, step.range.as_str());
                // It was assembled before the step began, from the same files.
                let prompt = prompts::assembled(pipeline, asked, trees);
                let prompt = prompt.map_err(|error| no_prompt(&error))?;
                let agent = prompts::agent((layer, member), shas, &prompt);
                let title = agent_title(&agent);
                let part = of_run(PartWork::Agent(agent));
                let new = self.part_job(source, place, (&title, prompt.text), part);
                self.create_agent(new).await
            }
            (StepKind::Bootstrap | StepKind::Layer(_) | StepKind::Proposals, None)
            | (StepKind::Requirements, _) => Ok(()),
        }
    }

    /// Creates the job of an agent.
    async fn create_agent(&self, new: NewJob) -> Result<(), Error> {
        let now = self.backend.now();
        let mut step = job::create(new, now)?;
        job::record_order(&mut step.aggregate, job::Order::Create, GAFFER, now);
        let mut unit = self.backend.unit();
        self.backend.save_job(&mut unit, None, &step).await?;
        ignore_conflict(self.backend.commit(unit).await)
    }

    /// Creates the job of a pull request of our own.
    async fn create_proposal(&self, new: NewProposal) -> Result<(), Error> {
        let now = self.backend.now();
        let mut step = job::propose(new, now)?;
        job::record_order(&mut step.aggregate, job::Order::Create, GAFFER, now);
        let mut unit = self.backend.unit();
        self.backend.save_job(&mut unit, None, &step).await?;
        ignore_conflict(self.backend.commit(unit).await)
    }

    /// A job of a pipeline on one branch.
    fn part_job(
        &self,
        source: &Source,
        (id, branch): (&JobId, &BranchName),
        (title, prompt): (&str, String),
        part: Part,
    ) -> NewJob {
        NewJob {
            id: id.clone(),
            installation: self.backend.installation.clone(),
            account: source.account.clone(),
            repo: source.repo.clone(),
            branch: branch.clone(),
            title: Some(title.to_owned()),
            prompt,
            agent: None,
            resume: None,
            priority: Priority::BACKGROUND,
            terms: Terms::default(),
            delivery: None,
            part: Some(Box::new(part)),
        }
    }

    /// Cancels the jobs of a run that was called off.
    async fn end_jobs(&self, pipeline: &Pipeline) -> Result<(), Error> {
        let members = pipeline.steps.iter().flat_map(|step| &step.members);
        let open = |member: &&Member| !member.state.is_over();
        for member in members.filter(open) {
            self.cancel_member(pipeline, &member.job).await?;
        }
        Ok(())
    }

    async fn cancel_member(&self, pipeline: &Pipeline, id: &JobId) -> Result<(), Error> {
        let by = format!("pipeline {}", pipeline.id);
        for _ in 0..DECIDE_AGAIN_MAX {
            let job = self.backend.store.job(id).await?;
            if job.is_none_or(|job| job.value.is_ended()) {
                return Ok(());
            }
            let named = JobRef {
                job: id.clone(),
                session: None,
                by: Some(by.clone()),
            };
            match self.backend.cancel_job(&named, &by).await {
                Err(error) if error.is_conflict() => {}
                Err(Error::NotNow(_)) => return Ok(()),
                outcome => return outcome.map(drop),
            }
        }
        Ok(())
    }
}

/// Who orders the jobs of a pipeline, for the record.
const GAFFER: &str = "pipeline";

/// The title of the pull request that brings the worker branch up to date.
const BOOTSTRAP_TITLE: &str = "Bring the worker branch of the pipeline up to date";

/// What it says.
const BOOTSTRAP_TEXT: &str = "Gaffer opened this pull request.\nIt takes the files of the target branch over, and puts the system's files below `.jules/` up to date.\nNo file of the exchange is changed.";

/// The title of the pull request that removes proposals which are issues now.
const PUBLISH_TITLE: &str = "Remove the proposals that are issues now";

/// What it says.
const PUBLISH_TEXT: &str =
    "Gaffer opened this pull request.\nEach proposal was opened as an issue, so its file goes.";

/// What the job of an agent is called.
fn agent_title(agent: &Agent) -> String {
    let whose = agent.role.as_ref().map(|role| format!(" {role}"));
    format!("{}{}", agent.layer.singular(), whose.unwrap_or_default())
}

fn no_prompt(error: &PromptError) -> Error {
    job::NotNow::new("no_prompt", error.to_string()).into()
}

/// An agent at work.
fn at_work(job: JobId) -> Member {
    Member {
        role: None,
        requirement: None,
        job,
        state: MemberState::Working,
    }
}
