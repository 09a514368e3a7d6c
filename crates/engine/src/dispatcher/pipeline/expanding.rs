//! Planners: which requirements get one, which planner works on which, and what became of a requirement once its planner ended.

use domain::ids::JobId;
use domain::pipeline::{
    self, FoundRequirement, Member, MemberState, Pipeline, Requirement, RequirementState,
};
use domain::policy::Source;
use jiff::SignedDuration;
use scaffold::exchange;
use scaffold::layout::{Layout, Paths};
use scaffold::prompt::Trees;

use super::asked::Asked;
use super::requirement::rules;
use crate::backend::Error;
use crate::dispatcher::Dispatcher;

/// How long a planner's job may be missing: its run may be held, or was called off.
const UNMADE_FOR: SignedDuration = SignedDuration::from_hours(1);

impl Dispatcher {
    /// Those of the requirements that get a planner: one that no planner expands is left out, so that it keeps none behind it waiting. One that
    /// a person named gets its planner all the same.
    pub(super) async fn plannable(
        &self,
        pipeline: &Pipeline,
        asked: Vec<Asked>,
        (trees, paths): (&Trees, &Paths),
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

    /// Notes down which planner works on which requirement.
    pub(super) async fn note_planning(
        &self,
        pipeline: &Pipeline,
        members: &[Member],
        (trees, paths): (&Trees, &Paths),
    ) -> Result<(), Error> {
        for found in exchange::requirements(&trees.worker, paths) {
            let path = Some(found.reference.path.as_str());
            let Some(member) = members.iter().find(|it| it.requirement.as_deref() == path) else {
                continue;
            };
            let job = &member.job;
            let begun = RequirementState::Planning { job: job.clone() };
            self.note_requirement(pipeline, found, begun, |known, _, now| {
                Ok(known.planned_by(job, now))
            })
            .await?;
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
            MemberState::Working | MemberState::Merging => None,
            MemberState::Merged | MemberState::Nothing | MemberState::Open => {
                Some("its planner left it as it was".to_owned())
            }
            MemberState::Failed { reason } => {
                Some(format!("its planner did not end well: {reason}"))
            }
        })
    }

    /// A requirement as its file shows it now.
    pub(super) async fn found_again(
        &self,
        known: &Requirement,
        source: &Source,
    ) -> Result<Option<FoundRequirement>, Error> {
        let worker = rules(source).worker;
        let Some(tip) = self.readers.git.tip(&known.repo, &worker).await? else {
            return Ok(None);
        };
        let tree = self.system_tree(&known.repo, &tip).await?;
        let Ok(paths) = Layout::written(&tree) else {
            return Ok(None);
        };
        let mut found = exchange::requirements(&tree, paths).into_iter();
        Ok(found.find(|it| it.reference.id == known.reference.id))
    }
}
