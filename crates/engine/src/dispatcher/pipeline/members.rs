//! The jobs of a run: one for each agent, and one for each pull request of Gaffer's own.

use domain::failure::Hindrance;
use domain::ids::{BranchName, JobId};
use domain::job::{self, Job, NewJob, NewProposal};
use domain::layer::Layer;
use domain::pipeline::{
    Agent, Member, MockTag, PartWork, Pipeline, PipelinePart, PipelineStep, Recipe, StepKind,
    TreeShas,
};
use domain::policy::{Source, Terms};
use domain::priority::Priority;
use domain::refusal::NotNow;
use domain::step::Step;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use scaffold::prompt::PromptError;

use super::prompts::{self, PromptSources};
use super::publishing::labels_of;
use super::trees::TreeCache;
use crate::backend::{Error, UnitOfWork, ignore_conflict};
use crate::dispatcher::Dispatcher;

/// A member of a step whose job is to be made.
#[derive(Clone, Copy)]
pub(super) struct NewMember<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) step: &'a PipelineStep,
    pub(super) member: &'a Member,
    pub(super) source: &'a Source,
}

impl Dispatcher {
    /// Creates the jobs of a step that are not there yet, under the ids that were saved with its plan. Returns those that can never be
    /// made, and why the others are not made now, if they are not.
    pub(super) async fn create_members(
        &self,
        pipeline: &Pipeline,
        place: usize,
        source: &Source,
        trees: &mut TreeCache,
    ) -> Result<(Vec<(JobId, String)>, Option<Hindrance>), Error> {
        let step = &pipeline.steps[place];
        let mut refused = Vec::new();
        for member in step.members.iter().filter(|it| !it.state.is_over()) {
            if self.backend.store.job(&member.job).await?.is_some() {
                continue;
            }
            let new = NewMember {
                pipeline,
                step,
                member,
                source,
            };
            match Box::pin(self.create_member(new, trees)).await {
                Ok(()) => {}
                Err(Error::Outside(failure)) => {
                    tracing::warn!(pipeline = %pipeline.id, %failure, "a job is not created");
                    let before = step.hindrance.as_ref();
                    match Hindrance::of(&failure, before, self.backend.now()) {
                        // The other ones need the same files.
                        Some(hindrance) => return Ok((refused, Some(hindrance))),
                        None => refused.push((member.job.clone(), failure.to_string())),
                    }
                }
                Err(Error::NotNow(why)) => refused.push((member.job.clone(), why.to_string())),
                Err(error) => return Err(error),
            }
        }
        Ok((refused, None))
    }

    async fn create_member(&self, new: NewMember<'_>, trees: &mut TreeCache) -> Result<(), Error> {
        let NewMember {
            pipeline,
            step,
            member,
            source,
        } = new;
        let Some(shas) = &step.trees else {
            return Ok(());
        };
        let worker = shas.worker.clone();
        let (recipe, (title, text), before) = match step.kind {
            StepKind::Layer(layer) => {
                return Box::pin(self.create_of_layer(new, layer, trees)).await;
            }
            StepKind::Requirements => return Ok(()),
            StepKind::Bootstrap => (Recipe::Bootstrap(shas.clone()), BOOTSTRAP, Vec::new()),
            StepKind::Proposals => {
                let trees = self.trees_of(&pipeline.repo, shas, trees).await?;
                let issues = self
                    .issues_of(&member.job, &pipeline.repo, &trees.worker)
                    .await?;
                (Recipe::Publish { worker }, PUBLISH, issues)
            }
            StepKind::Labels => {
                let trees = self.trees_of(&pipeline.repo, shas, trees).await?;
                let labels = labels_of(&member.job, &pipeline.repo, &trees.worker);
                (Recipe::Labels { worker }, LABELS, labels)
            }
            StepKind::Clean => match pipeline.ask.mock.clone() {
                Some(tag) => (Recipe::Clean { worker, tag }, CLEAN, Vec::new()),
                None => {
                    return Box::pin(self.create_removal(new, shas, trees)).await;
                }
            },
        };
        let part = of_run(pipeline, PartWork::Proposal { requirement: None });
        let place = (&member.job, &pipeline.worker);
        let job = self.part_job(source, place, (title, text.to_owned()), part);
        self.create_proposal(NewProposal {
            job,
            recipe,
            before,
        })
        .await
    }

    /// Creates the job of an agent. In a trial run Gaffer itself writes what the agent would have written.
    async fn create_of_layer(
        &self,
        new: NewMember<'_>,
        layer: Layer,
        cache: &mut TreeCache,
    ) -> Result<(), Error> {
        let NewMember {
            pipeline,
            step,
            member,
            source,
        } = new;
        let Some(shas) = &step.trees else {
            return Ok(());
        };
        if let Some(tag) = &pipeline.ask.mock {
            let mocked = self.mocked(new, layer, shas, tag);
            return self.create_proposal(mocked).await;
        }
        let trees = &self.trees_of(&pipeline.repo, shas, cache).await?.clone();
        let records = self.records(&pipeline.repo, layer, trees, cache).await?;
        // It was assembled before the step began, from the same files.
        let sources = PromptSources {
            trees,
            records: &records,
            range: &step.range,
        };
        let prompt = prompts::assembled(pipeline, layer, member, sources);
        let prompt = prompt.map_err(|error| no_prompt(&error))?;
        let agent = prompts::agent(layer, member, shas, &prompt);
        let title = agent_title(&agent);
        let part = of_run(pipeline, PartWork::Agent(agent));
        let place = (&member.job, &pipeline.worker);
        let job = self.part_job(source, place, (&title, prompt.text), part);
        self.create_agent(job).await
    }

    /// What stands for the agent of a trial run.
    fn mocked(
        &self,
        new: NewMember<'_>,
        layer: Layer,
        shas: &TreeShas,
        tag: &MockTag,
    ) -> NewProposal {
        let NewMember {
            pipeline,
            step,
            member,
            source,
        } = new;
        let agent = Agent {
            layer,
            role: member.role.clone(),
            stream: member.stream.clone(),
            requirement: member.requirement.clone(),
            trees: shas.clone(),
            included: Vec::new(),
            skipped: Vec::new(),
            mock: Some(tag.clone()),
        };
        let (base, branch) = match layer.is_on_worker_branch() {
            true => (&shas.worker, &pipeline.worker),
            false => (&shas.target, &pipeline.target),
        };
        let title = format!("{} of the trial run {tag}", agent_title(&agent));
        let part = of_run(pipeline, PartWork::Agent(agent));
        let place = (&member.job, branch);
        NewProposal {
            job: self.part_job(source, place, (&title, MOCK_TEXT.to_owned()), part),
            recipe: Recipe::Mock {
                base: base.clone(),
                range: step.range.clone(),
                today: self.backend.now().to_zoned(TimeZone::UTC).date(),
            },
            before: Vec::new(),
        }
    }

    /// Creates the job of an agent.
    async fn create_agent(&self, new: NewJob) -> Result<(), Error> {
        let now = self.backend.now();
        self.save_new(job::create(new, now)?, GAFFER, now).await
    }

    /// Creates the job of a pull request of our own.
    pub(super) async fn create_proposal(&self, new: NewProposal) -> Result<(), Error> {
        let now = self.backend.now();
        self.save_new(job::propose(new, now)?, GAFFER, now).await
    }

    /// Saves a new job, unless it is there already.
    pub(in crate::dispatcher) async fn save_new(
        &self,
        step: Step<Job>,
        by: &str,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.save_new_while(self.backend.unit(), step, by, now)
            .await
    }

    /// Saves a new job with what is in the unit already, unless it is there or what the unit checks is no more.
    pub(in crate::dispatcher) async fn save_new_while(
        &self,
        mut unit: UnitOfWork,
        mut step: Step<Job>,
        by: &str,
        now: Timestamp,
    ) -> Result<(), Error> {
        job::record_order(&mut step.aggregate, job::Order::Create, by, now);
        self.backend.save_job(&mut unit, None, &step).await?;
        ignore_conflict(self.backend.commit(unit).await)
    }

    /// A job of a pipeline or a sprint on one branch.
    pub(in crate::dispatcher) fn part_job(
        &self,
        source: &Source,
        (id, branch): (&JobId, &BranchName),
        (title, prompt): (&str, String),
        part: PipelinePart,
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
}

/// Who orders the jobs of a pipeline, for the record.
const GAFFER: &str = "pipeline";

/// Title and text of the pull request that brings the worker branch up to date.
const BOOTSTRAP: (&str, &str) = (
    "Bring the worker branch of the pipeline up to date",
    "Gaffer opened this pull request.\nIt takes the files of the target branch over, and puts the system's files below `.jules/` up to date.\nNo file of the exchange is changed.",
);

/// Title and text of the pull request that removes proposals which are issues now.
const PUBLISH: (&str, &str) = (
    "Remove the proposals that are issues now",
    "Gaffer opened this pull request.\nEach proposal was opened as an issue, so its file goes.",
);

/// Title and text of the pull request that removes the files of a trial run.
const CLEAN: (&str, &str) = (
    "Remove the files of a trial run",
    "Gaffer opened this pull request.\nIt removes the files that a trial run made up.",
);

/// Title and text of the job that makes labels: it opens no pull request.
const LABELS: (&str, &str) = (
    "Make the labels of requirements",
    "Gaffer makes the labels that requirements can have, and gives them their colours.",
);

/// What the pull request of a trial run says.
const MOCK_TEXT: &str = "Gaffer opened this pull request.\nIts files are made up for a trial run: no session wrote them.";

/// What a job does for a run.
pub(super) fn of_run(pipeline: &Pipeline, work: PartWork) -> PipelinePart {
    PipelinePart {
        pipeline: Some(pipeline.id.clone()),
        work,
    }
}

/// What the job of an agent is called.
fn agent_title(agent: &Agent) -> String {
    let whose = agent.role.as_ref().map(|role| format!(" {role}"));
    format!("{}{}", agent.layer.singular(), whose.unwrap_or_default())
}

/// Why the job of an agent is not made.
pub(super) fn no_prompt(error: &PromptError) -> Error {
    NotNow::new("no_prompt", error.to_string()).into()
}
