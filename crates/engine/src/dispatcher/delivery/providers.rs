//! Asks whatever deploys or observes a change how it goes.

use domain::delivery::{
    self, Delivery, DeliveryInput, Deploy, Observe, Phase, ProviderReport, PullEnd, RunStatus,
};
use domain::effect::{Action, EffectState, TrackerAction};
use domain::failure::{Failure, FailureClass};
use domain::ids::{BranchName, CommitSha};
use domain::policy::Source;

use crate::backend::{Backend, Error};
use crate::dispatcher::Dispatcher;
use crate::keys;
use crate::ports::AwaitedRun;

impl Dispatcher {
    /// Asks, and shows the answer to the delivery. Returns whether that changed it.
    pub(super) async fn ask_provider(
        &self,
        delivery: &Delivery,
        phase: Phase,
        source: &Source,
    ) -> Result<bool, Error> {
        match self.dispatch_state(delivery, phase).await? {
            // No retry follows.
            Some(EffectState::Failed { failure, .. }) => {
                let report = ProviderReport::Bad(failure.to_string());
                let input = DeliveryInput::Provider(phase, report);
                return self.show_delivery(&delivery.id, &input).await;
            }
            Some(EffectState::Done { at }) if delivery.seen.dispatched_at != Some(at) => {
                let input = DeliveryInput::Dispatched(at);
                self.show_delivery(&delivery.id, &input).await?;
            }
            Some(
                EffectState::Intent { .. }
                | EffectState::Started { .. }
                | EffectState::Unknown { .. },
            ) => Box::pin(self.show_held_start(delivery, source)).await?,
            Some(EffectState::Done { .. }) | None => {}
        }
        let asked = if phase == Phase::Observe {
            self.observed(delivery).await
        } else {
            self.deployed(delivery).await
        };
        let report = match asked {
            Err(Error::Outside(failure)) if is_final(&failure) => {
                ProviderReport::Bad(failure.to_string())
            }
            // The next look asks again. Attempts of this message would be used up before a wait that GitHub asked for is over.
            Err(Error::Outside(_)) => return Ok(false),
            asked => asked?,
        };
        let mut input = DeliveryInput::Provider(phase, report);
        if !self.is_changed_by(delivery, &input).await? {
            return Ok(false);
        }
        match Box::pin(self.repository_must_be_meant(source)).await {
            Err(Error::Outside(failure)) if failure.class.may_pass() => return Ok(false),
            // Another repository, or none, shows nothing; the time that there is passes all the same.
            Err(Error::Outside(_)) => {
                input = DeliveryInput::Provider(phase, ProviderReport::Nothing);
            }
            read => read?,
        }
        self.show_delivery(&delivery.id, &input).await
    }

    /// Shows whether the start of its workflow waits for a repository that it is not made in. While a pause holds it too, no time passes.
    async fn show_held_start(&self, delivery: &Delivery, source: &Source) -> Result<(), Error> {
        let access = self.backend.store.reach(&source.repo).await?.value;
        // Another one was found by the start itself.
        let is_held = access.trouble.is_some()
            && self.hold(source).await?.is_none()
            && Box::pin(self.is_astray(source)).await?;
        if is_held || delivery.seen.held_since.is_some() {
            let input = DeliveryInput::StartHeld(is_held);
            self.show_delivery(&delivery.id, &input).await?;
        }
        Ok(())
    }

    /// Whether an answer is worth a reading of which repository gave it: one that took the name runs other workflows, or none.
    async fn is_changed_by(
        &self,
        delivery: &Delivery,
        input: &DeliveryInput,
    ) -> Result<bool, Error> {
        let rules = self.backend.delivery_rules(delivery).await?;
        let step = delivery::apply(delivery, input, self.backend.now(), &rules)?;
        Ok(step.aggregate != *delivery)
    }

    /// How far the start of the workflow is that deploys, while a run of it is awaited.
    async fn dispatch_state(
        &self,
        delivery: &Delivery,
        phase: Phase,
    ) -> Result<Option<EffectState>, Error> {
        let Deploy::Workflow { file, branch } = &delivery.rules.deploy else {
            return Ok(None);
        };
        if (phase, delivery.run_status) != (Phase::Deploy, RunStatus::Pending) {
            return Ok(None);
        }
        let action = dispatch(delivery, file, branch, &delivery::cause(delivery));
        let (pk, id) = (keys::delivery_pk(&delivery.id), Backend::effect_id(&action));
        let found = self.backend.store.effect(&pk, &id).await?;
        Ok(found.map(|found| found.value.state))
    }

    /// Why a workflow is not started any more: its delivery was cancelled or tried again while that was held, and wants a
    /// run of its own for each time that it comes to deploy.
    pub(in crate::dispatcher) async fn not_dispatched(
        &self,
        pk: &str,
        cause: &str,
    ) -> Result<Option<String>, Error> {
        let found = match keys::delivery_in(pk) {
            Some(id) => self.backend.store.get::<Delivery>(&id).await?,
            None => None,
        };
        let is_awaited = found.is_some_and(|found| {
            let delivery = &found.value;
            let at = (delivery.phase, delivery.run_status);
            at == (Phase::Deploy, RunStatus::Pending) && delivery::cause(delivery) == cause
        });
        Ok((!is_awaited).then(|| "its delivery does not wait for this run any more".to_owned()))
    }

    async fn observed(&self, delivery: &Delivery) -> Result<ProviderReport, Error> {
        let issues = &self.readers.issues;
        Ok(match (delivery.rules.observe, merge_commit(delivery)) {
            (Observe::Soak(_), Some(sha)) => {
                let since = delivery::deploying_again_since(delivery);
                issues.commit_checks(&delivery.repo, sha, since).await?
            }
            (Observe::Soak(_), None) | (Observe::None, _) => ProviderReport::Good,
        })
    }

    async fn deployed(&self, delivery: &Delivery) -> Result<ProviderReport, Error> {
        let (issues, repo) = (&self.readers.issues, &delivery.repo);
        Ok(match (&delivery.rules.deploy, merge_commit(delivery)) {
            (Deploy::None, _) => ProviderReport::Good,
            (Deploy::Workflow { file, branch }, _) => {
                let awaited = AwaitedRun {
                    file,
                    branch,
                    since: delivery::deploying_since(delivery),
                    merge: deployed_merge(delivery, branch),
                };
                issues.workflow_run(repo, awaited).await?
            }
            (Deploy::Deployment { environment }, Some(sha)) => {
                let failed_at = delivery::deploy_failed_at(delivery);
                issues.deployment(repo, sha, environment, failed_at).await?
            }
            (Deploy::Deployment { .. }, None) => ProviderReport::Nothing,
        })
    }
}

/// Whether asking again cannot help before a person changes something, for example a workflow that is missing.
fn is_final(failure: &Failure) -> bool {
    match failure.class {
        FailureClass::NotFound | FailureClass::Forbidden | FailureClass::Invalid => true,
        FailureClass::Throttled
        | FailureClass::Unavailable
        | FailureClass::Network
        | FailureClass::Garbled
        | FailureClass::Unauthorized
        | FailureClass::Precondition
        | FailureClass::Conflict => false,
    }
}

/// Starts the workflow that deploys a delivery.
pub(super) fn dispatch(
    delivery: &Delivery,
    file: &str,
    branch: &BranchName,
    cause: &str,
) -> Action {
    Action::Tracker(TrackerAction::DispatchWorkflow {
        repo: delivery.repo.clone(),
        file: file.to_owned(),
        branch: branch.clone(),
        cause: cause.to_owned(),
        since: delivery::deploying_since(delivery),
        merge: deployed_merge(delivery, branch).cloned(),
    })
}

/// The merge that a run on a branch has to hold: none on another branch than the one that got the merge, since there the
/// run itself may bring it.
fn deployed_merge<'a>(delivery: &'a Delivery, branch: &BranchName) -> Option<&'a CommitSha> {
    let job = delivery.seen.job.as_ref()?;
    merge_commit(delivery).filter(|_| job.branch == *branch)
}

/// The commit that came of the merge.
fn merge_commit(delivery: &Delivery) -> Option<&CommitSha> {
    match delivery.pull_seen()?.end.as_ref()? {
        PullEnd::Merged { commit, .. } => commit.as_ref(),
        PullEnd::Closed { .. } => None,
    }
}
