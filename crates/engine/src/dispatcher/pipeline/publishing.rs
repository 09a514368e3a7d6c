//! Proposals become issues: all are checked first, each is opened once, and then their files are removed. Labels of requirements are made
//! likewise, and no file goes.

use std::collections::BTreeSet;

use domain::effect::{Action, EffectState, PullAction, RepoAction};
use domain::ids::{JobId, RepoName};
use domain::job;
use domain::pipeline::{Pipeline, Recipe, StepPlan};
use jiff::tz::TimeZone;
use scaffold::doctor::{self, Circumstances, Finding, Level, Rule};
use scaffold::exchange::{self, FoundProposal, Label};
use scaffold::layout::{Layout, Paths};
use scaffold::tree::Tree;

use super::at_work;
use super::trees::TreeCache;
use crate::backend::Error;
use crate::dispatcher::Dispatcher;

/// How many issues one run opens: eight innovators make three proposals each. Others wait for the next one.
const PUBLISHED_MAX: usize = 24;

/// How many labels one run makes: there are five, and people may add some.
const LABELS_MAX: usize = 20;

/// The version of this Gaffer.
const OURS: &str = env!("CARGO_PKG_VERSION");

impl Dispatcher {
    /// Publishes all proposals that wait, or none: one that is not in order holds up the others.
    pub(super) async fn plan_publishing(
        &self,
        pipeline: &Pipeline,
        cache: &mut TreeCache,
    ) -> Result<StepPlan, Error> {
        let shas = match self.both_tips(pipeline).await? {
            Ok(shas) => shas,
            Err(why) => return Ok(StepPlan::Fail(why)),
        };
        let trees = self.trees_of(&pipeline.repo, &shas, cache).await?;
        let paths = paths(&trees.worker);
        let folder = paths.proposals;
        if !exchange::has_proposal(&trees.worker, paths) {
            return Ok(StepPlan::Skip("No proposal waits".to_owned()));
        }
        let circumstances = Circumstances {
            today: self.backend.now().to_zoned(TimeZone::UTC).date(),
            version: OURS.to_owned(),
        };
        // Of what is left over from an earlier run there may be less than three.
        let is_odd = |it: &&Finding| {
            it.level == Level::Error
                && it.rule != Rule::ProposalCount
                && it.file.starts_with(folder)
        };
        let found = doctor::examine(trees, &circumstances);
        if let Some(odd) = found.iter().find(is_odd) {
            return Ok(StepPlan::Fail(format!("nothing is published: {odd}")));
        }
        let job = JobId::of_pipeline(&pipeline.id, "proposals", self.backend.now());
        Ok(StepPlan::run(vec![at_work(job)], shas))
    }

    /// Makes the labels of requirements, as the worker branch names them.
    pub(super) async fn plan_labels(
        &self,
        pipeline: &Pipeline,
        cache: &mut TreeCache,
    ) -> Result<StepPlan, Error> {
        let shas = match self.both_tips(pipeline).await? {
            Ok(shas) => shas,
            Err(why) => return Ok(StepPlan::Fail(why)),
        };
        let trees = self.trees_of(&pipeline.repo, &shas, cache).await?;
        if labels(&trees.worker).is_empty() {
            let file = paths(&trees.worker).labels;
            return Ok(StepPlan::Fail(format!("`{file}` names no label")));
        }
        let job = JobId::of_pipeline(&pipeline.id, "labels", self.backend.now());
        Ok(StepPlan::run(vec![at_work(job)], shas))
    }

    /// The issues of a worker branch's proposals that are not there yet: an earlier run may have opened some and kept their files.
    pub(super) async fn issues_of(
        &self,
        job: &JobId,
        repo: &RepoName,
        worker: &Tree,
    ) -> Result<Vec<Action>, Error> {
        let found = proposals(worker);
        let labels: BTreeSet<_> = found.iter().map(FoundProposal::label).collect();
        let mut known = BTreeSet::new();
        for label in &labels {
            known.extend(self.readers.issues.own_markers(repo, label).await?);
        }
        let new = found.into_iter().filter(|it| !known.contains(&it.marker));
        let issues = new.map(|it| {
            Action::Repo(RepoAction::OpenIssue {
                job: job.clone(),
                repo: repo.clone(),
                label: it.label(),
                title: it.title,
                body: it.body,
                marker: it.marker,
            })
        });
        Ok(issues.collect())
    }

    /// Whether an effect waits for others of its job: what ends a run of proposals or labels waits for each of them, and a branch is
    /// not removed while a pull request may still be opened from it.
    pub(in crate::dispatcher) async fn waits_for_others(
        &self,
        pk: &str,
        action: &Action,
    ) -> Result<bool, Error> {
        let publishes = |action: &Action| {
            matches!(
                action,
                Action::Repo(RepoAction::Propose {
                    recipe: Recipe::Publish { .. } | Recipe::Labels { .. },
                    ..
                })
            )
        };
        let opens = |action: &Action| {
            matches!(
                action,
                Action::Repo(RepoAction::OpenIssue { .. } | RepoAction::PutLabel { .. })
            )
        };
        let removes =
            |action: &Action| matches!(action, Action::Pull(PullAction::DeleteBranch { .. }));
        let proposes = |action: &Action| matches!(action, Action::Repo(RepoAction::Propose { .. }));
        if !publishes(action) && !removes(action) {
            return Ok(false);
        }
        let is_before = |other: &Action| match removes(action) {
            true => proposes(other),
            false => opens(other),
        };
        let effects = self.backend.store.effects(pk).await?;
        Ok(effects
            .iter()
            .any(|found| is_before(&found.value.action) && !found.value.is_settled()))
    }

    /// Why nothing is done any more for a pull request of ours that is not open yet: its job is over.
    pub(in crate::dispatcher) async fn no_longer_proposes(
        &self,
        job: &JobId,
    ) -> Result<Option<String>, Error> {
        let found = self.backend.store.job(job).await?;
        let is_wanted = found.is_some_and(|found| {
            matches!(
                found.value.phase,
                job::JobPhase::Proposed { pull: None, .. }
            )
        });
        Ok((!is_wanted).then(|| "its job no longer waits for this pull request".to_owned()))
    }

    /// Why a pull request of ours is not opened any more: its job is over, or what it removes did not become an issue. A label that could
    /// not be made ends its run likewise.
    pub(in crate::dispatcher) async fn not_proposed(
        &self,
        job: &JobId,
    ) -> Result<Option<String>, Error> {
        if let Some(why) = self.no_longer_proposes(job).await? {
            return Ok(Some(why));
        }
        let pk = crate::keys::job_pk(job);
        let effects = self.backend.store.effects(&pk).await?;
        let unopened =
            effects
                .into_iter()
                .find_map(|found| match (found.value.action, found.value.state) {
                    (
                        Action::Repo(RepoAction::OpenIssue { title, .. }),
                        EffectState::Failed { failure, .. },
                    ) => Some(format!(
                        "the issue `{title}` could not be opened: {failure}"
                    )),
                    (
                        Action::Repo(RepoAction::PutLabel { name, .. }),
                        EffectState::Failed { failure, .. },
                    ) => Some(format!("the label `{name}` could not be made: {failure}")),
                    _other => None,
                });
        Ok(unopened)
    }
}

/// The proposals that wait on a worker branch, as many as are published at once.
pub(super) fn proposals(worker: &Tree) -> Vec<FoundProposal> {
    let mut found = exchange::proposals(worker, paths(worker));
    found.truncate(PUBLISHED_MAX);
    found
}

/// The labels of requirements that a worker branch names, as many as are made at once.
fn labels(worker: &Tree) -> Vec<Label> {
    let mut found = exchange::labels(worker, paths(worker));
    found.truncate(LABELS_MAX);
    found
}

/// What makes those labels.
pub(super) fn labels_of(job: &JobId, repo: &RepoName, worker: &Tree) -> Vec<Action> {
    let made = labels(worker).into_iter().map(|label| {
        Action::Repo(RepoAction::PutLabel {
            job: job.clone(),
            repo: repo.clone(),
            name: label.name,
            colour: label.colour,
            description: label.description,
        })
    });
    made.collect()
}

fn paths(worker: &Tree) -> &'static Paths {
    Layout::paths(worker).unwrap_or(&scaffold::layout::EXCHANGE)
}
