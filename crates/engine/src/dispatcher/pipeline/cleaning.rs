//! The removal of a requirement that is not wanted any more: its file goes, with the events that led to it.

use domain::ids::JobId;
use domain::job::NewProposal;
use domain::pipeline::{
    FoundRequirement, Member, MockTag, PartWork, Pipeline, Recipe, Requirement, StepPlan, TreeShas,
};
use scaffold::exchange;
use scaffold::layout::Layout;
use scaffold::prompt::Trees;

use super::at_work;
use super::members::{NewMember, of_run};
use super::trees::TreeCache;
use crate::backend::Error;
use crate::dispatcher::Dispatcher;

/// What the pull request that removes a requirement is called.
const REMOVE_TITLE: &str = "Remove the files of a requirement";

impl Dispatcher {
    /// Removes one requirement, if it is there.
    pub(super) async fn plan_removal(
        &self,
        pipeline: &Pipeline,
        path: &str,
        cache: &mut TreeCache,
    ) -> Result<StepPlan, Error> {
        let shas = match self.both_tips(pipeline).await? {
            Ok(shas) => shas,
            Err(why) => return Ok(StepPlan::Fail(why)),
        };
        let trees = self.trees_of(&pipeline.repo, &shas, cache).await?;
        if let Err(why) = named(trees, path) {
            return Ok(StepPlan::Fail(format!("Nothing is removed, since {why}")));
        }
        let job = JobId::of_pipeline(&pipeline.id, "remove", self.backend.now());
        let member = Member {
            requirement: Some(path.to_owned()),
            ..at_work(job)
        };
        Ok(StepPlan::run(vec![member], shas))
    }

    /// Creates the job that removes a requirement. First the requirement takes no other order, if Gaffer follows it.
    pub(super) async fn create_removal(
        &self,
        new: NewMember<'_>,
        shas: &TreeShas,
        cache: &mut TreeCache,
    ) -> Result<(), Error> {
        let NewMember {
            pipeline,
            member,
            source,
            ..
        } = new;
        let trees = self.trees_of(&pipeline.repo, shas, cache).await?;
        let path = member.requirement.as_deref().unwrap_or_default();
        // The plan has read it at the same commits.
        let Ok(found) = named(trees, path) else {
            return Ok(());
        };
        let reference = found.reference;
        let key = (pipeline.repo.clone(), reference.id.clone());
        if let Some(known) = self.backend.store.get::<Requirement>(&key).await? {
            let known = known.value;
            self.backend
                .decide_requirement(&pipeline.repo, &reference.id, |stored, now| {
                    let by = pipeline.by.as_str();
                    stored.unwrap_or(&known).removed(&member.job, by, now)
                })
                .await?;
        }
        let work = PartWork::Proposal {
            requirement: Some(reference.id.clone()),
        };
        let place = (&member.job, &pipeline.worker);
        let text = format!(
            "Gaffer opened this pull request.\nThis was asked for by {}: the file of a requirement goes, with the events that led to it.",
            pipeline.by
        );
        self.create_proposal(NewProposal {
            job: self.part_job(source, place, (REMOVE_TITLE, text), of_run(pipeline, work)),
            recipe: Recipe::Tidy {
                worker: shas.worker.clone(),
                requirement: reference,
            },
            before: Vec::new(),
        })
        .await
    }
}

/// The requirement of a file, or a sentence why there is none.
pub(super) fn named(trees: &Trees, path: &str) -> Result<FoundRequirement, String> {
    let paths = Layout::paths(&trees.worker).map_err(|error| error.to_string())?;
    exchange::named(&trees.worker, paths, path).map_err(|error| error.to_string())
}

/// The same for a run that is real: no file of a trial is a requirement of it.
pub(super) fn real(trees: &Trees, path: &str) -> Result<FoundRequirement, String> {
    let paths = Layout::paths(&trees.worker).map_err(|error| error.to_string())?;
    exchange::real(&trees.worker, paths, path).map_err(|error| error.to_string())
}

/// The same for the planner of a trial run, which works on what that trial made.
pub(super) fn of_trial(
    trees: &Trees,
    path: &str,
    tag: &MockTag,
) -> Result<FoundRequirement, String> {
    let paths = Layout::paths(&trees.worker).map_err(|error| error.to_string())?;
    exchange::of_trial(&trees.worker, paths, path, tag).map_err(|error| error.to_string())
}
