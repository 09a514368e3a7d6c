//! Repositories on GitHub: pull requests of our own, checks, issues and labels, and the weaves of sprints.

use domain::effect::{EffectFinding, EffectState, RepoAction};
use domain::ids::{JobId, RepoName, SprintNumber};
use domain::job;
use domain::pull::OwnOutcome;

use super::{EffectOrder, EffectOutcome, Settled, done};
use crate::backend::{Error, UnitOfWork};
use crate::dispatcher::Dispatcher;
use crate::ports::{NewIssue, NewStatus, StatusState};

/// A weave of a sprint that an effect asks for.
#[derive(Clone, Copy)]
pub(in crate::dispatcher) struct WeaveAttempt<'a> {
    /// The job of the one pull request.
    pub(in crate::dispatcher) job: &'a JobId,
    /// The repository of the sprint.
    pub(in crate::dispatcher) repo: &'a RepoName,
    /// The number of the sprint.
    pub(in crate::dispatcher) sprint: SprintNumber,
    /// The number of the weave.
    pub(in crate::dispatcher) weave: u32,
}

impl Dispatcher {
    /// Why an action on a repository is obsolete.
    pub(super) async fn not_wanted_on_repo(
        &self,
        action: &RepoAction,
    ) -> Result<Option<String>, Error> {
        match action {
            RepoAction::Propose { job, .. } => self.not_proposed(job).await,
            RepoAction::Weave {
                repo,
                sprint,
                weave,
                ..
            } => self.not_woven(repo, *sprint, *weave).await,
            RepoAction::Unlabel { .. } => Ok(None),
            RepoAction::OpenIssue { job, .. } | RepoAction::PutLabel { job, .. } => {
                self.no_longer_proposes(job).await
            }
            RepoAction::Status {
                pull,
                sha,
                context,
                outcome,
                rules,
                ..
            } => {
                let found = self.backend.store.pull(pull).await?;
                let holds = found.is_some_and(|found| {
                    let checks = found.value.pull.own_checks.as_deref();
                    checks.is_some_and(|it| it.shows(sha, rules, context, *outcome))
                });
                Ok((!holds).then(|| "the check has another result by now".to_owned()))
            }
        }
    }

    /// Makes the call.
    pub(super) async fn perform_on_repo(
        &self,
        action: &RepoAction,
    ) -> Result<EffectOutcome, Error> {
        match action {
            RepoAction::Propose {
                job,
                repo,
                base,
                recipe,
            } => self.propose(job, repo, base, recipe).await,
            RepoAction::Status {
                pull,
                sha,
                context,
                outcome,
                description,
                ..
            } => {
                let status = NewStatus {
                    context: context.clone(),
                    state: match outcome {
                        OwnOutcome::Passed | OwnOutcome::Neutral => StatusState::Success,
                        OwnOutcome::Failed => StatusState::Failure,
                    },
                    description: description.clone(),
                };
                let put = self.writers.git.set_status(&pull.repo, sha, &status).await;
                Ok(done(put))
            }
            RepoAction::OpenIssue {
                repo,
                title,
                body,
                label,
                marker,
                ..
            } => {
                let issue = NewIssue {
                    title: title.clone(),
                    body: body.clone(),
                    label: label.clone(),
                    marker: marker.clone(),
                };
                let opened = self.writers.git.open_issue(repo, &issue).await;
                Ok(done(opened.map(|_number| ())))
            }
            RepoAction::PutLabel {
                repo,
                name,
                colour,
                description,
                ..
            } => {
                let git = &self.writers.git;
                Ok(done(git.put_label(repo, name, colour, description).await))
            }
            RepoAction::Weave { repo, sprint, .. } => self.weave_sprint(repo, *sprint).await,
            RepoAction::Unlabel { pull, label, .. } => {
                Ok(done(self.writers.git.unlabel(pull, label).await))
            }
        }
    }

    /// What the world shows of it.
    pub(super) async fn look_on_repo(
        &self,
        action: &RepoAction,
    ) -> Result<(EffectFinding, EffectOutcome), Error> {
        match action {
            RepoAction::Propose { job, repo, .. } => self.was_proposed(job, repo).await,
            // A status or a label that is put twice is the same one, and so is a weave that is pushed twice.
            RepoAction::Status { .. }
            | RepoAction::PutLabel { .. }
            | RepoAction::Weave { .. }
            | RepoAction::Unlabel { .. } => Ok((EffectFinding::NoTrace, EffectOutcome::Done)),
            RepoAction::OpenIssue {
                repo,
                label,
                marker,
                ..
            } => {
                let finding = match self.readers.issues.own_markers(repo, label).await {
                    Ok(found) if found.contains(marker) => EffectFinding::Happened,
                    Ok(_) => EffectFinding::NoTrace,
                    Err(_unread) => EffectFinding::CannotTell,
                };
                Ok((finding, EffectOutcome::Done))
            }
        }
    }

    /// What its outcome means for its job or its sprint.
    pub(super) async fn apply_on_repo(
        &self,
        unit: &mut UnitOfWork,
        action: &RepoAction,
        settled: Settled<'_>,
    ) -> Result<(), Error> {
        match action {
            RepoAction::Propose { job, .. } => self.apply_proposed(unit, job, settled).await,
            RepoAction::Weave {
                job,
                repo,
                sprint,
                weave,
            } => {
                let attempt = WeaveAttempt {
                    job,
                    repo,
                    sprint: *sprint,
                    weave: *weave,
                };
                self.apply_weave(unit, attempt, settled).await
            }
            RepoAction::Status { .. }
            | RepoAction::OpenIssue { .. }
            | RepoAction::PutLabel { .. }
            | RepoAction::Unlabel { .. } => Ok(()),
        }
    }

    /// A pull request of ours was opened, or never will be.
    async fn apply_proposed(
        &self,
        unit: &mut UnitOfWork,
        id: &JobId,
        settled: Settled<'_>,
    ) -> Result<(), Error> {
        let Settled {
            effect, outcome, ..
        } = settled;
        let Some(found) = self.backend.store.job(id).await? else {
            return Ok(());
        };
        let now = self.backend.now();
        let step = match outcome {
            EffectOutcome::Proposed(opened) => {
                let opened = opened.as_ref().map(|(pull, head)| (pull, head));
                job::proposed(&found.value, opened, now)
            }
            EffectOutcome::Failed(failure)
                if matches!(effect.state, EffectState::Failed { .. }) =>
            {
                job::proposal_failed(&found.value, failure, now)
            }
            EffectOutcome::Failed(_)
            | EffectOutcome::Created(_)
            | EffectOutcome::Merged(_)
            | EffectOutcome::Woven(_)
            | EffectOutcome::Done => return Ok(()),
        };
        self.backend.save_job(unit, Some(&found), &step).await?;
        Ok(())
    }
}

/// When it is begun among the effects of its aggregate.
pub(super) fn order(action: &RepoAction) -> EffectOrder {
    match action {
        RepoAction::Propose { .. } | RepoAction::Weave { .. } => EffectOrder::Later,
        RepoAction::Status { .. }
        | RepoAction::OpenIssue { .. }
        | RepoAction::PutLabel { .. }
        | RepoAction::Unlabel { .. } => EffectOrder::Usual,
    }
}
