//! Pull requests on GitHub: merges them and their branches, comments on them, labels and closes them.

use std::borrow::Cow;

use domain::effect::{Effect, EffectFinding, EffectState, PullAction};
use domain::facts::{PullFacts, PullState, ReadDepth};
use domain::failure::{Failure, FailureClass};
use domain::ids::{BranchName, CommitSha, PullRef, RepoName};
use domain::policy::Source;
use domain::pull::{self, PullInput};

use super::{EffectOrder, EffectOutcome, Settled, done, seen};
use crate::backend::{Error, UnitOfWork};
use crate::dispatcher::Dispatcher;
use crate::keys;
use crate::ports::{Reading, Share};
use crate::save::EventRoute;
use crate::work::Work;

/// Reads only the outline: it shows whether an effect on a pull request happened.
const OUTLINE: Reading = Reading {
    share: Share::Kept,
    depth: ReadDepth::Outline,
};

impl Dispatcher {
    /// Why an action on a pull request is obsolete: a merge that a delivery or a sprint does not allow any more, a label of a conflict
    /// that is resolved, or the deletion of a branch that is kept by now.
    pub(super) async fn not_wanted_on_pull(
        &self,
        pk: &str,
        action: &PullAction,
        source: &Source,
    ) -> Result<Option<String>, Error> {
        match action {
            PullAction::Merge { pull, sha, .. } => self.not_let_go(pull, sha).await,
            PullAction::Label {
                pull,
                weave: Some(_),
                ..
            } => self.not_labelled(pull).await,
            PullAction::DeleteBranch { branch, .. } => self.not_deleted(pk, branch, source).await,
            PullAction::Label { weave: None, .. }
            | PullAction::MarkReady { .. }
            | PullAction::UpdateBranch { .. }
            | PullAction::Comment { .. }
            | PullAction::ClosePull { .. } => Ok(None),
        }
    }

    /// Why a branch is not deleted any more: its source was told to keep branches meanwhile.
    async fn not_deleted(
        &self,
        pk: &str,
        branch: &BranchName,
        source: &Source,
    ) -> Result<Option<String>, Error> {
        if source.policy.delete_branch {
            return Ok(None);
        }
        let store = &self.backend.store;
        let merged = keys::pull_in(pk);
        let job = match &merged {
            Some(pull) => store.pull(pull).await?.map(|found| found.value.pull.job),
            None => keys::job_in(pk),
        };
        let job = match job {
            Some(job) => store.job(&job).await?,
            None => None,
        };
        let is_merged = merged.is_some();
        let goes = job.is_some_and(|found| source.still_deletes(&found.value, branch, is_merged));
        Ok((!goes).then(|| "its source keeps branches by now".to_owned()))
    }

    /// Makes the call.
    pub(super) async fn perform_on_pull(
        &self,
        effect: &Effect,
        action: &PullAction,
    ) -> EffectOutcome {
        let pulls = &self.writers.pulls;
        done(match action {
            PullAction::Merge {
                pull,
                sha,
                method,
                title,
                ..
            } => {
                let merged = pulls.merge(pull, sha, *method, title.as_deref()).await;
                return merged.map_or_else(EffectOutcome::Failed, EffectOutcome::Merged);
            }
            PullAction::MarkReady { pull, node_id, .. } => pulls.mark_ready(pull, node_id).await,
            PullAction::UpdateBranch { pull, sha } => pulls.update_branch(pull, sha).await,
            PullAction::Comment { pull, text, .. } => {
                pulls.comment(pull, text, effect.id.as_str()).await
            }
            PullAction::Label { pull, label, .. } => pulls.label(pull, label).await,
            PullAction::ClosePull { pull } => pulls.close(pull).await,
            PullAction::DeleteBranch { repo, branch, sha } => {
                self.delete_branch(repo, branch, sha).await
            }
        })
    }

    /// What the world shows of it.
    pub(super) async fn look_on_pull(
        &self,
        effect: &Effect,
        action: &PullAction,
        source: &Source,
    ) -> Result<(EffectFinding, EffectOutcome), Error> {
        let pulls = &self.readers.pulls;
        Ok(seen(match action {
            PullAction::Merge { pull, .. } => return self.look_for_merge(source, pull).await,
            PullAction::MarkReady { pull, .. } => {
                self.facts_show(source, pull, |facts| !facts.draft).await?
            }
            PullAction::UpdateBranch { pull, sha } => {
                self.facts_show(source, pull, |facts| facts.head.sha != *sha)
                    .await?
            }
            PullAction::Label { pull, label, .. } => {
                self.facts_show(source, pull, |facts| facts.labels.contains(label))
                    .await?
            }
            PullAction::Comment { pull, .. } => pulls.has_comment(pull, effect.id.as_str()).await,
            PullAction::ClosePull { pull } => {
                self.facts_show(source, pull, |facts| facts.state != PullState::Open)
                    .await?
            }
            PullAction::DeleteBranch { repo, branch, .. } => {
                let state = pulls.branch(repo, branch).await;
                state.map(|state| state.sha.is_none())
            }
        }))
    }

    /// What its outcome means for its pull request.
    pub(super) async fn apply_on_pull(
        &self,
        unit: &mut UnitOfWork,
        action: &PullAction,
        settled: Settled<'_>,
    ) -> Result<(), Error> {
        match action {
            PullAction::Merge { pull, .. } => self.apply_merge(unit, pull, settled).await,
            PullAction::ClosePull { pull } => {
                if *settled.outcome == EffectOutcome::Done {
                    read_back(unit, pull);
                }
                Ok(())
            }
            PullAction::MarkReady { .. }
            | PullAction::UpdateBranch { .. }
            | PullAction::Comment { .. }
            | PullAction::Label { .. }
            | PullAction::DeleteBranch { .. } => Ok(()),
        }
    }

    /// A branch is deleted only if it still has the commit that is known and no open pull request is based on it.
    async fn delete_branch(
        &self,
        repo: &RepoName,
        branch: &BranchName,
        sha: &CommitSha,
    ) -> Result<(), Failure> {
        let state = self.readers.pulls.branch(repo, branch).await?;
        let left_alone = |why: String| {
            Err(Failure::new(
                FailureClass::Conflict,
                format!("left the branch `{branch}` of {repo} alone: {why}"),
            ))
        };
        match state.sha {
            None => Ok(()),
            Some(now) if now != *sha => left_alone(format!("it moved on to {now}")),
            Some(_) if state.based_on_it > 0 => left_alone(format!(
                "{} open pull requests are based on it",
                state.based_on_it
            )),
            Some(_) => self.writers.pulls.delete_branch(repo, branch).await,
        }
    }

    async fn look_for_merge(
        &self,
        source: &Source,
        pull: &PullRef,
    ) -> Result<(EffectFinding, EffectOutcome), Error> {
        let facts = match self.facts_of(source, pull, OUTLINE).await {
            Err(Error::Outside(_)) => return Ok((EffectFinding::CannotTell, EffectOutcome::Done)),
            read => read?,
        };
        Ok(match facts.state {
            PullState::Merged { commit } => (
                EffectFinding::Happened,
                EffectOutcome::Merged(commit.unwrap_or(facts.head.sha)),
            ),
            PullState::Open | PullState::Closed => (EffectFinding::NoTrace, EffectOutcome::Done),
        })
    }

    /// Whether a reading shows it; an error of the reading is returned as such.
    async fn facts_show(
        &self,
        source: &Source,
        pull: &PullRef,
        shows: impl Fn(&PullFacts) -> bool,
    ) -> Result<Result<bool, Failure>, Error> {
        match self.facts_of(source, pull, OUTLINE).await {
            Ok(facts) => Ok(Ok(shows(&facts))),
            Err(Error::Outside(failure)) => Ok(Err(failure)),
            Err(error) => Err(error),
        }
    }

    async fn apply_merge(
        &self,
        unit: &mut UnitOfWork,
        reference: &PullRef,
        settled: Settled<'_>,
    ) -> Result<(), Error> {
        let Settled {
            effect,
            outcome,
            source,
            ..
        } = settled;
        let input = match outcome {
            EffectOutcome::Merged(commit) => PullInput::Merged {
                commit: commit.clone(),
            },
            EffectOutcome::Failed(failure)
                if matches!(effect.state, EffectState::Failed { .. }) =>
            {
                PullInput::MergeFailed(failure.clone())
            }
            EffectOutcome::Failed(_)
            | EffectOutcome::Created(_)
            | EffectOutcome::Proposed(_)
            | EffectOutcome::Woven(_)
            | EffectOutcome::Done => {
                return Ok(());
            }
        };
        if matches!(input, PullInput::MergeFailed(_)) {
            let given_up = [effect.id.clone()];
            self.count_merges(unit, source, None, &given_up).await?;
        }
        let Some(found) = self.backend.store.pull(reference).await? else {
            return Ok(());
        };
        let job = self.backend.store.job(&found.value.pull.job).await?;
        let source = match &job {
            Some(job) => source.for_job(&job.value),
            None => Cow::Borrowed(source),
        };
        let step = pull::apply(
            &found.value.pull,
            &input,
            self.backend.now(),
            &source.policy,
            &source.timing,
        );
        self.backend
            .save_pull(
                unit,
                Some(found.version),
                (&step, found.value.read_at),
                &EventRoute::default(),
            )
            .await?;
        // A merge is read back at once; after any other outcome the row says when, and looking sooner would only ask again.
        if matches!(input, PullInput::Merged { .. }) {
            read_back(unit, reference);
        }
        Ok(())
    }
}

/// When it is begun among the effects of its aggregate.
pub(super) fn order(action: &PullAction) -> EffectOrder {
    match action {
        PullAction::Merge { .. } => EffectOrder::First,
        PullAction::DeleteBranch { .. } => EffectOrder::Last,
        PullAction::MarkReady { .. }
        | PullAction::UpdateBranch { .. }
        | PullAction::Comment { .. }
        | PullAction::Label { .. }
        | PullAction::ClosePull { .. } => EffectOrder::Usual,
    }
}

/// Has a pull request read at once.
fn read_back(unit: &mut UnitOfWork, reference: &PullRef) {
    let look = Work::of_pull(reference.clone());
    unit.enqueue(&keys::pull_pk(reference), look);
}
