//! A requirement: from its file to a delivery, and from the merge to the removal of its files.

use domain::delivery::{Actor, Delivery, IssueText};
use domain::ids::{ArtefactId, BranchName, DeliveryId, RepoName};
use domain::job::{Job, NewProposal};
use domain::layer::Layer;
use domain::pipeline::{
    self, Agent, AgentState, Implement, MEMBERS_MAX, PartWork, Pipeline, PipelinePart, Recipe,
    Requirement, RequirementOutcome, RequirementRef, RequirementState, StepPlan, TreeShas,
};
use domain::policy::Source;
use domain::priority::Priority;
use domain::refusal::NotNow;
use jiff::Timestamp;
use scaffold::exchange;
use scaffold::layout::{Layout, stream_of};
use scaffold::prompt::{Ask, Records, Trees};
use scaffold::tree::TreePath;

use super::cleaning::real;
use super::expanding::UNMADE_FOR;
use super::members::no_prompt;
use super::prompts;
use super::trees::TreeCache;
use crate::backend::Error;
use crate::deliveries::DeliveryOrder;
use crate::dispatcher::Dispatcher;
use crate::dispatcher::dues::is_due_kept;
use crate::store::Versioned;

/// How many decisions one message leads to.
const LOOKS_MAX: u32 = 4;

/// What the pull request that removes the files of a requirement is called.
const TIDY_TITLE: &str = "Remove the files of an implemented requirement";

impl Dispatcher {
    /// Handles a requirement: begins its delivery, follows it, and has its files removed once that is merged.
    pub(in crate::dispatcher) async fn requirement(
        &self,
        repo: &RepoName,
        id: &ArtefactId,
    ) -> Result<(), Error> {
        let key = (repo.clone(), id.clone());
        for _ in 0..LOOKS_MAX {
            let Some(found) = self.backend.store.get::<Requirement>(&key).await? else {
                return Ok(());
            };
            let source = self.source(repo).await?;
            let next = self.follow(&found.value, &source).await?;
            if !self.save_requirement(&found, &next).await? {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn follow(&self, known: &Requirement, source: &Source) -> Result<Requirement, Error> {
        let now = self.backend.now();
        Ok(match &known.state {
            RequirementState::Planning { job } => match self.planner_end(known, job).await? {
                None => known.clone(),
                Some(why) => known.planner_ended(&why, self.found_again(known, source).await?, now),
            },
            RequirementState::Implementing { delivery } => {
                let outcome = self.delivery_of(known, delivery, source).await?;
                known.delivered(&outcome, now)
            }
            RequirementState::Tidying { job, .. } => match self.backend.store.job(job).await? {
                None => match self.tidy(known, job, source).await? {
                    true => known.clone(),
                    false => known.tidied(true, now),
                },
                Some(job) => after_removal(known, &job.value, now),
            },
            RequirementState::Removing { job, .. } => match self.backend.store.job(job).await? {
                None if now.duration_since(known.updated_at) < UNMADE_FOR => known.clone(),
                None => known.tidied(false, now),
                Some(job) => after_removal(known, &job.value, now),
            },
            RequirementState::Unplanned { .. }
            | RequirementState::Ready
            | RequirementState::Merged { .. }
            | RequirementState::Tidied { .. }
            | RequirementState::Failed { .. } => known.clone(),
        })
    }

    /// Saves a requirement with its due. Returns whether it changed, here or meanwhile.
    async fn save_requirement(
        &self,
        found: &Versioned<Requirement>,
        next: &Requirement,
    ) -> Result<bool, Error> {
        let now = self.backend.now();
        let due = next.due(now);
        let is_same = *next == found.value;
        if is_same && is_due_kept(found.due, due, now) {
            return Ok(false);
        }
        let key = (next.repo.clone(), next.reference.id.clone());
        let mut unit = self.backend.unit();
        unit.save_at(&key, next, Some(found.version), due);
        match self.backend.commit(unit).await {
            Err(error) if error.is_conflict() => Ok(true),
            outcome => outcome.map(|()| !is_same),
        }
    }

    /// How the delivery of a requirement goes; one that is not there is begun.
    async fn delivery_of(
        &self,
        known: &Requirement,
        id: &DeliveryId,
        source: &Source,
    ) -> Result<RequirementOutcome, Error> {
        let Some(delivery) = self.backend.store.get::<Delivery>(id).await? else {
            return self.begin_delivery(known, id, source).await;
        };
        let delivery = delivery.value;
        let pull = match &delivery.task.pull {
            Some(pull) => self.backend.store.pull(pull).await?,
            None => None,
        };
        let pull = pull.map(|found| found.value.pull.phase);
        Ok(RequirementOutcome::of(&delivery, pull.as_ref()))
    }

    async fn begin_delivery(
        &self,
        known: &Requirement,
        id: &DeliveryId,
        source: &Source,
    ) -> Result<RequirementOutcome, Error> {
        let rules = source.pipeline_rules();
        let Some(worker) = self.readers.git.tip(&known.repo, &rules.worker).await? else {
            let reason = format!("{} has no branch `{}`", known.repo, rules.worker);
            return Ok(RequirementOutcome::NotMerged { reason });
        };
        let tree = self.system_tree(&known.repo, &worker).await?;
        let Some(text) = tree.text(&known.reference.path) else {
            return Ok(RequirementOutcome::NoFile);
        };
        let path = known.reference.path.parse().ok();
        let criteria = path.map(|path| exchange::acceptance_criteria(&tree, &path));
        let order = DeliveryOrder {
            repo: known.repo.clone(),
            issue: None,
            requirement: Some(known.reference.clone()),
            again: false,
            text: IssueText {
                summary: known.title.clone(),
                description: Some(exchange::description(text)),
                acceptance_criteria: criteria.unwrap_or_default(),
            },
            refs: Vec::new(),
            // What begins by itself lets the jobs of people go first.
            priority: (rules.implement == Implement::Auto).then_some(Priority::BACKGROUND),
            parent: None,
            id: Some(id.clone()),
            by: Actor::System,
        };
        match self.backend.create_delivery(&order).await {
            Ok(_) => Ok(RequirementOutcome::Open),
            // Others create deliveries at this moment: the message comes again.
            Err(error) if error.is_busy() => Err(error),
            Err(error @ (Error::NotNow(_) | Error::Transition(_))) => {
                let reason = error.to_string();
                Ok(RequirementOutcome::NotMerged { reason })
            }
            Err(error) => Err(error),
        }
    }

    /// Has the files of a requirement removed, under the job id that was saved with the decision. Returns whether there is a branch that
    /// may have them.
    async fn tidy(
        &self,
        known: &Requirement,
        job: &domain::ids::JobId,
        source: &Source,
    ) -> Result<bool, Error> {
        let rules = source.pipeline_rules();
        let Some(worker) = self.readers.git.tip(&known.repo, &rules.worker).await? else {
            return Ok(false);
        };
        let part = PipelinePart {
            pipeline: None,
            work: PartWork::Proposal {
                requirement: Some(known.reference.id.clone()),
            },
        };
        let text = format!(
            "Gaffer opened this pull request.\nThe requirement {} is implemented and merged, so its file goes, with the events that led to it.",
            known.reference.id
        );
        let new = NewProposal {
            job: self.part_job(source, (job, &rules.worker), (TIDY_TITLE, text), part),
            recipe: Recipe::Tidy {
                worker,
                requirement: known.reference.clone(),
            },
            before: Vec::new(),
        };
        self.create_proposal(new).await.map(|()| true)
    }

    /// Hands on what is ready: every requirement is put down once, and begun where that needs no person.
    pub(super) async fn hand_on(
        &self,
        pipeline: &Pipeline,
        source: &Source,
        cache: &mut TreeCache,
    ) -> Result<StepPlan, Error> {
        let shas = match self.both_tips(pipeline).await? {
            Ok(shas) => shas,
            Err(why) => return Ok(StepPlan::Fail(why)),
        };
        let trees = self.trees_of(&pipeline.repo, &shas, cache).await?;
        let paths = match Layout::paths(&trees.worker) {
            Ok(paths) => paths,
            Err(error) => return Ok(StepPlan::Fail(error.to_string())),
        };
        let only = pipeline.ask.requirement.as_deref();
        if let Some(why) = only.and_then(|path| not_implemented(trees, path)) {
            return Ok(StepPlan::Fail(why));
        }
        let found = exchange::requirements(&trees.worker, paths).into_iter();
        let ready: Vec<_> = found
            .filter(|it| !it.needs_planning)
            .filter(|it| only.is_none_or(|only| it.reference.path == only))
            .collect();
        let note = match only {
            Some(_) => String::new(),
            None => unreadable(&exchange::unreadable(&trees.worker, paths)),
        };
        let is_begun = only.is_some() || source.pipeline_rules().implement == Implement::Auto;
        let (mut begun, mut is_any_ready) = (0, false);
        for found in ready {
            // Each costs a task. What a run that died here had begun already counts as well.
            let begins = is_begun && begun < MEMBERS_MAX;
            let state = RequirementState::Ready;
            let path = found.reference.path.clone();
            let noted = self.note_requirement(pipeline, found, state, |known, found, now| {
                let seen = known.seen(found.clone(), now);
                let is_wanted = only.is_some() && !is_begun_by(pipeline, known);
                match begins && (is_wanted || seen.state == RequirementState::Ready) {
                    true => seen.start(seen.keep_files || pipeline.ask.keep_files, now),
                    false => Ok(seen),
                }
            });
            match noted.await {
                Err(error) if error.is_busy() => return Err(error),
                Err(Error::NotNow(why)) if only.is_some() => {
                    return Ok(StepPlan::Fail(why.to_string()));
                }
                // One that cannot be taken stops no other one.
                Err(Error::NotNow(why)) => {
                    tracing::warn!(pipeline = %pipeline.id, path, %why, "a requirement is left out");
                }
                outcome => {
                    let known = outcome?;
                    let was_begun = is_begun_by(pipeline, &known);
                    begun += usize::from(was_begun);
                    is_any_ready |= was_begun || known.state == RequirementState::Ready;
                }
            }
        }
        Ok(match is_any_ready {
            true => StepPlan::Done { note },
            false => none_ready(&note),
        })
    }

    /// Puts a requirement down under its id, or decides about the one that is there.
    async fn note_requirement(
        &self,
        pipeline: &Pipeline,
        found: domain::pipeline::FoundRequirement,
        begun: RequirementState,
        decide: impl Fn(
            &Requirement,
            &domain::pipeline::FoundRequirement,
            Timestamp,
        ) -> Result<Requirement, NotNow>,
    ) -> Result<Requirement, Error> {
        let new = |now| Requirement::found(&pipeline.repo, found.clone(), begun.clone(), now);
        self.backend
            .decide_requirement(&pipeline.repo, &found.reference.id, |known, now| {
                let fresh = new(now);
                decide(known.unwrap_or(&fresh), &found, now)
            })
            .await
    }

    /// The prompt of what implements a requirement, along a plan if there is one, and what its job keeps of it.
    pub(in crate::dispatcher) async fn implementer(
        &self,
        job: &domain::ids::JobId,
        (requirement, plan): (&RequirementRef, Option<String>),
        (source, target): (&Source, &BranchName),
    ) -> Result<(String, PipelinePart), Error> {
        let rules = source.pipeline_rules();
        let git = &self.readers.git;
        let Some(tip) = git.tip(&source.repo, target).await? else {
            let sentence = format!("{} has no branch `{target}`", source.repo);
            return Err(NotNow::new("no_branch", sentence).into());
        };
        let worker = git.tip(&source.repo, &rules.worker).await?;
        let trees = TreeShas {
            worker: worker.unwrap_or_else(|| tip.clone()),
            target: tip,
        };
        let mut cache = TreeCache::default();
        let files = self.trees_of(&source.repo, &trees, &mut cache).await?;
        let branches = prompts::Branches {
            repo: &source.repo,
            target,
            worker: &rules.worker,
        };
        let asked = Ask {
            records: Records {
                plan: plan.unwrap_or_default(),
                // Whether it has to be planned first was asked when it was started.
                as_it_is: true,
                ..Records::default()
            },
            ..prompts::ask(Layer::Implementer, job, branches, Some(&requirement.path))
        };
        let prompt = scaffold::prompt::assemble(files, &asked);
        let prompt = prompt.map_err(|error| no_prompt(&error))?;
        let included = prompt.included.iter();
        let path = requirement.path.parse().ok();
        let agent = Agent {
            layer: Layer::Implementer,
            role: None,
            stream: path.as_ref().map(stream_of).unwrap_or_default(),
            requirement: Some(requirement.path.clone()),
            trees,
            included: included.map(|it| it.path.to_string()).collect(),
            skipped: prompt.skipped,
            mock: None,
        };
        let part = PipelinePart {
            pipeline: None,
            work: PartWork::Agent(agent),
        };
        Ok((prompt.text, part))
    }
}

/// A requirement as the job of the pull request that removes its files leaves it.
fn after_removal(known: &Requirement, job: &Job, now: Timestamp) -> Requirement {
    match pipeline::sight(job) {
        AgentState::Working | AgentState::Merging => known.clone(),
        AgentState::Merged | AgentState::Nothing | AgentState::Open => known.tidied(true, now),
        AgentState::Failed { .. } | AgentState::Refused { .. } => known.tidied(false, now),
    }
}

/// Nothing is handed on: each requirement that is there asks for deep analysis, was taken before, or waits for a person.
fn none_ready(note: &str) -> StepPlan {
    let none = "No requirement is ready";
    StepPlan::Skip(match note.is_empty() {
        true => none.to_owned(),
        false => format!("{none}, and {note}"),
    })
}

/// Whether a requirement was begun while a run went on.
fn is_begun_by(pipeline: &Pipeline, known: &Requirement) -> bool {
    let is_under_way = matches!(known.state, RequirementState::Implementing { .. });
    is_under_way && known.updated_at >= pipeline.created_at
}

/// Why the requirement that a person named is not handed on.
fn not_implemented(trees: &Trees, path: &str) -> Option<String> {
    match real(trees, path) {
        Err(why) => Some(why),
        Ok(found) => found
            .needs_planning
            .then(|| format!("`{path}` asks for deep analysis: let the planner expand it first")),
    }
}

/// What is said of files that cannot be read as requirements; nothing without any.
fn unreadable(paths: &[TreePath]) -> String {
    let [first, rest @ ..] = paths else {
        return String::new();
    };
    let more = match rest.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("`{first}`{more} cannot be read as a requirement: `gaffer scaffold doctor` says why")
}
