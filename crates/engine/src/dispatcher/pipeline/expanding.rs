//! Planners: which requirements get one, which planner works on which, and what became of a requirement once its planner ended.

use std::collections::BTreeSet;

use domain::ids::{JobId, RepoName};
use domain::layer::Layer;
use domain::pipeline::{
    self, AgentState, FoundRequirement, Member, Pipeline, PipelineStep, Requirement,
    RequirementState, StepKind,
};
use domain::policy::Source;
use jiff::SignedDuration;
use scaffold::exchange;
use scaffold::layout::{Layout, Paths};
use scaffold::prompt::Trees;

use super::asked::Asked;
use super::trees::TreeCache;
use crate::backend::{Error, UnitOfWork};
use crate::dispatcher::Dispatcher;
use crate::keys;
use crate::work::Work;

/// How long a job that a run makes for a requirement may be missing: its run may be held, or was called off.
pub(super) const UNMADE_FOR: SignedDuration = SignedDuration::from_hours(1);

impl Dispatcher {
    /// Those of the requirements that get a planner: one that no planner expands is left out, so that it keeps none behind it waiting. One that
    /// a person named, and that is free, gets its planner all the same.
    pub(super) async fn plannable(
        &self,
        pipeline: &Pipeline,
        asked: Vec<Asked>,
        trees: &Trees,
        paths: &Paths,
    ) -> Result<Vec<Asked>, Error> {
        if pipeline.ask.requirement.is_some() || pipeline.ask.mock.is_some() {
            return Ok(asked);
        }
        let mut left_out = Vec::new();
        let found = exchange::requirements(&trees.worker, paths).into_iter();
        for found in found.filter(|it| it.needs_planning) {
            let key = (pipeline.repo.clone(), found.reference.id);
            let known = self.backend.store.get::<Requirement>(&key).await?;
            if known.is_some_and(|known| !known.value.may_be_planned()) {
                left_out.push(found.reference.path);
            }
        }
        let stays = |asked: &Asked| {
            let path = asked.requirement.as_ref();
            path.is_none_or(|path| !left_out.contains(path))
        };
        Ok(asked.into_iter().filter(stays).collect())
    }

    /// Notes down which planner works on which requirement, in the unit that saves the plan: a plan that is made twice, and saved once, leaves
    /// no requirement with a job that no run has. Returns false if one was taken since the step was planned: that is done anew then.
    pub(super) async fn note_planning(
        &self,
        unit: &mut UnitOfWork,
        pipeline: &Pipeline,
        step: &PipelineStep,
        cache: &mut TreeCache,
    ) -> Result<bool, Error> {
        let Some(shas) = step.trees.as_ref().filter(|_| plans(pipeline, step)) else {
            return Ok(true);
        };
        let trees = self.trees_of(&pipeline.repo, shas, cache).await?;
        let Ok(paths) = Layout::paths(&trees.worker) else {
            return Ok(true);
        };
        let mut noted = BTreeSet::new();
        for found in exchange::requirements(&trees.worker, paths) {
            let path = Some(found.reference.path.as_str());
            let mut members = step.members.iter();
            let member = members.find(|it| it.requirement.as_deref() == path);
            // One id may be in two files by mistake, and is one record.
            if let Some(member) = member
                && noted.insert(found.reference.id.clone())
                && !self
                    .note_planner(unit, &pipeline.repo, member, found)
                    .await?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The planner of one requirement, unless that was taken. One that failed before its session has ended already.
    async fn note_planner(
        &self,
        unit: &mut UnitOfWork,
        repo: &RepoName,
        member: &Member,
        found: FoundRequirement,
    ) -> Result<bool, Error> {
        let now = self.backend.now();
        let job = &member.job;
        let key = (repo.clone(), found.reference.id.clone());
        let stored = self.backend.store.get::<Requirement>(&key).await?;
        let begun = RequirementState::Planning { job: job.clone() };
        let fresh = Requirement::found(repo, found.clone(), begun, now);
        let known = stored.as_ref().map_or(&fresh, |stored| &stored.value);
        if known.must_be_free().is_err() {
            return Ok(false);
        }
        let planning = known.seen(found.clone(), now).planned_by(job, now);
        let next = match member.state.reason() {
            Some(why) => planning.planner_ended(&ended_badly(why), Some(found), now),
            None => planning,
        };
        match stored {
            // It is not taken before the plan is saved either.
            Some(stored) if stored.value == next => {
                unit.check(keys::requirement(&key.0, &key.1), stored.version);
            }
            stored => {
                let version = stored.map(|stored| stored.version);
                unit.save_at(&key, &next, version, next.due(now));
            }
        }
        Ok(true)
    }

    /// Calls the requirements whose planners are through: each reads how its own ended, and its file again.
    pub(super) async fn call_planned(
        &self,
        unit: &mut UnitOfWork,
        pipeline: &Pipeline,
        before: &PipelineStep,
        after: &PipelineStep,
    ) -> Result<(), Error> {
        let members = before.members.iter().zip(&after.members);
        let ended = members.filter(|(before, after)| before.state != after.state);
        let ended = ended.filter(|(_, after)| after.state.is_over());
        let ended: Vec<_> = ended.map(|(_, after)| &after.job).collect();
        if ended.is_empty() || !plans(pipeline, after) {
            return Ok(());
        }
        for known in self.backend.requirements(&pipeline.repo).await? {
            let job = known.state.job();
            if job.is_some_and(|job| ended.contains(&job)) {
                let (repo, id) = (known.repo, known.reference.id);
                let pk = keys::requirement_pk(&repo, &id);
                unit.enqueue(&pk, Work::Requirement { repo, id });
            }
        }
        Ok(())
    }

    /// How the planner of a requirement ended; none while it goes on.
    pub(super) async fn planner_end(
        &self,
        known: &Requirement,
        job: &JobId,
    ) -> Result<Option<String>, Error> {
        let Some(job) = self.backend.store.job(job).await? else {
            let missing = self.backend.now().duration_since(known.updated_at);
            let is_lost = missing >= UNMADE_FOR;
            return Ok(is_lost.then(|| "its planner never began".to_owned()));
        };
        Ok(match pipeline::sight(&job.value) {
            AgentState::Working | AgentState::Merging => None,
            AgentState::Merged | AgentState::Nothing | AgentState::Open => {
                Some("its planner left it as it was".to_owned())
            }
            AgentState::Failed { reason } | AgentState::Refused { reason } => {
                Some(ended_badly(&reason))
            }
        })
    }

    /// A requirement as its file shows it now.
    pub(super) async fn found_again(
        &self,
        known: &Requirement,
        source: &Source,
    ) -> Result<Option<FoundRequirement>, Error> {
        let worker = source.pipeline_rules().worker;
        let Some(tip) = self.readers.git.tip(&known.repo, &worker).await? else {
            return Ok(None);
        };
        let tree = self.system_tree(&known.repo, &tip).await?;
        let Ok(paths) = Layout::paths(&tree) else {
            return Ok(None);
        };
        let mut found = exchange::requirements(&tree, paths).into_iter();
        Ok(found.find(|it| it.reference.id == known.reference.id))
    }
}

/// Whether the agents of a step are planners that sessions are asked for.
fn plans(pipeline: &Pipeline, step: &PipelineStep) -> bool {
    step.kind == StepKind::Layer(Layer::Planner) && pipeline.ask.mock.is_none()
}

fn ended_badly(why: &str) -> String {
    format!("its planner did not end well: {why}")
}
