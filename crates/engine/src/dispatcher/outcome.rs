//! What the outcome of an effect means for its aggregate, saved in the same commit as the outcome.

mod creating;

use std::borrow::Cow;

use domain::effect::{Action, Effect, EffectState, RepoAction};
use domain::ids::{JobId, PullRef, RepoName, SessionId, SprintNumber};
use domain::job;
use domain::policy::Source;
use domain::pull::{self, PullInput};

use super::Dispatcher;
use super::effects::EffectOutcome;
use crate::backend::{Error, UnitOfWork};
use crate::keys;
use crate::save::EventRoute;
use crate::work::Work;

/// An effect with the outcome of an attempt at it.
#[derive(Clone, Copy)]
pub(super) struct Settled<'a> {
    /// The effect as it is saved after the attempt.
    pub(super) effect: &'a Effect,
    /// What the attempt came to.
    pub(super) outcome: &'a EffectOutcome,
    /// The source of the aggregate, for its settings.
    pub(super) source: &'a Source,
}

/// A weave of a sprint that an effect asks for.
#[derive(Clone, Copy)]
pub(super) struct WeaveAttempt<'a> {
    /// The job of the one pull request.
    pub(super) job: &'a JobId,
    /// The repository of the sprint.
    pub(super) repo: &'a RepoName,
    /// The number of the sprint.
    pub(super) sprint: SprintNumber,
    /// The number of the weave.
    pub(super) weave: u32,
}

impl Dispatcher {
    /// What an outcome means for the aggregate.
    pub(super) async fn apply_outcome(
        &self,
        unit: &mut UnitOfWork,
        effect: &Effect,
        outcome: &EffectOutcome,
        source: &Source,
    ) -> Result<(), Error> {
        let settled = Settled {
            effect,
            outcome,
            source,
        };
        match &effect.action {
            Action::CreateSession { job, attempt } => {
                self.apply_create(unit, job, *attempt, settled).await
            }
            Action::Say { session, cause, .. } => {
                self.apply_said(unit, session, cause, settled).await
            }
            Action::ApprovePlan { session, .. } => {
                self.apply_approved(unit, session, settled).await
            }
            Action::Merge { pull, .. } => self.apply_merge(unit, pull, settled).await,
            Action::ClosePull { pull } => {
                if *outcome == EffectOutcome::Done {
                    read_back(unit, pull);
                }
                Ok(())
            }
            Action::Repo(RepoAction::Propose { job, .. }) => {
                self.apply_proposed(unit, job, settled).await
            }
            Action::Repo(RepoAction::Weave {
                job,
                repo,
                sprint,
                weave,
            }) => {
                let attempt = WeaveAttempt {
                    job,
                    repo,
                    sprint: *sprint,
                    weave: *weave,
                };
                self.apply_weave(unit, attempt, settled).await
            }
            Action::Archive { .. }
            | Action::MarkReady { .. }
            | Action::UpdateBranch { .. }
            | Action::Comment { .. }
            | Action::Label { .. }
            | Action::DeleteBranch { .. }
            | Action::Repo(
                RepoAction::Status { .. }
                | RepoAction::OpenIssue { .. }
                | RepoAction::PutLabel { .. }
                | RepoAction::Unlabel { .. },
            ) => Ok(()),
            Action::Tracker(action) => self.apply_tracked(unit, action, &effect.state).await,
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

    async fn apply_approved(
        &self,
        unit: &mut UnitOfWork,
        session: &SessionId,
        Settled {
            effect, outcome, ..
        }: Settled<'_>,
    ) -> Result<(), Error> {
        match outcome {
            EffectOutcome::Failed(_) => self.apply_gave_up(unit, session, effect).await,
            EffectOutcome::Done
            | EffectOutcome::Created(_)
            | EffectOutcome::Proposed(_)
            | EffectOutcome::Woven(_)
            | EffectOutcome::Merged(_) => Ok(()),
        }
    }

    /// A message or an approval without further attempts: announce it.
    async fn apply_gave_up(
        &self,
        unit: &mut UnitOfWork,
        session: &SessionId,
        effect: &Effect,
    ) -> Result<(), Error> {
        let EffectState::Failed { failure, .. } = &effect.state else {
            return Ok(());
        };
        let Some(id) = self.backend.store.job_of(session).await? else {
            return Ok(());
        };
        let Some(found) = self.backend.store.job(&id).await? else {
            return Ok(());
        };
        let step = job::order_failed(&found.value, effect, failure, self.backend.now());
        self.backend.save_job(unit, Some(&found), &step).await?;
        Ok(())
    }

    /// The process that began it died, so it may have happened.
    pub(super) async fn apply_expiry(
        &self,
        unit: &mut UnitOfWork,
        effect: &Effect,
        source: &Source,
    ) -> Result<(), Error> {
        match &effect.action {
            Action::Say { session, cause, .. } => {
                let settled = Settled {
                    effect,
                    outcome: &EffectOutcome::Done,
                    source,
                };
                self.apply_said(unit, session, cause, settled).await
            }
            Action::CreateSession { .. }
            | Action::ApprovePlan { .. }
            | Action::Archive { .. }
            | Action::Merge { .. }
            | Action::MarkReady { .. }
            | Action::UpdateBranch { .. }
            | Action::Comment { .. }
            | Action::Label { .. }
            | Action::ClosePull { .. }
            | Action::DeleteBranch { .. }
            | Action::Repo(_)
            | Action::Tracker(_) => Ok(()),
        }
    }

    async fn apply_said(
        &self,
        unit: &mut UnitOfWork,
        session: &SessionId,
        cause: &str,
        settled: Settled<'_>,
    ) -> Result<(), Error> {
        let Settled {
            effect,
            outcome,
            source,
        } = settled;
        // A message that may have arrived wakes the session like one that did: its next message must be seen before
        // its job is over.
        let maybe = matches!(effect.state, EffectState::Unknown { .. });
        if *outcome != EffectOutcome::Done && !maybe {
            return self.apply_gave_up(unit, session, effect).await;
        }
        let Some(id) = self.backend.store.job_of(session).await? else {
            return Ok(());
        };
        let Some(found) = self.backend.store.job(&id).await? else {
            return Ok(());
        };
        let now = self.backend.now();
        let mut step = job::said(&found.value, session, now, &source.timing);
        job::note_sent(&mut step.aggregate, cause, now);
        self.wake_up(unit, &id, &found.value.account).await?;
        self.backend.save_job(unit, Some(&found), &step).await?;
        Ok(())
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
            self.count_merges(unit, source, (None, &given_up), false)
                .await?;
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

/// Has a pull request read at once.
fn read_back(unit: &mut UnitOfWork, reference: &PullRef) {
    let look = Work::Pull {
        pull: reference.clone(),
        job: None,
        received_at: None,
    };
    unit.enqueue(&keys::pull_pk(reference), look);
}
