//! What the outcome of an effect means for its aggregate, saved in the same commit as the outcome.

use std::borrow::Cow;

use domain::effect::{Action, Effect, EffectState, RepoAction};
use domain::failure::{CallEffect, Failure, FailureClass};
use domain::governor::Slots;
use domain::ids::{JobId, PullRef, SessionId};
use domain::job::{self, Phase};
use domain::policy::Source;
use domain::pull::{self, Input};

use super::Dispatcher;
use super::effects::EffectOutcome;
use crate::backend::{Error, IndexEntry, OUTBOX_GRACE, UnitOfWork};
use crate::keys;
use crate::save::EventRoute;
use crate::store::Versioned;
use crate::work::Work;

impl Dispatcher {
    /// What an outcome means for the aggregate.
    pub(super) async fn apply_outcome(
        &self,
        unit: &mut UnitOfWork,
        effect: &Effect,
        outcome: &EffectOutcome,
        source: &Source,
    ) -> Result<(), Error> {
        match &effect.action {
            Action::CreateSession { .. } => self.apply_create(unit, effect, outcome, source).await,
            Action::Say { .. } => self.apply_said(unit, effect, outcome, source).await,
            Action::ApprovePlan { session, .. } => {
                self.apply_approved(unit, session, effect, outcome).await
            }
            Action::Merge { .. } => self.apply_merge(unit, effect, outcome, source).await,
            Action::ClosePull { pull } => {
                if *outcome == EffectOutcome::Done {
                    read_back(unit, pull);
                }
                Ok(())
            }
            Action::Repo(RepoAction::Propose { job, .. }) => {
                self.apply_proposed(unit, job, effect, outcome).await
            }
            Action::Repo(RepoAction::Weave { .. }) => self.apply_weave(unit, effect, outcome).await,
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
        effect: &Effect,
        outcome: &EffectOutcome,
    ) -> Result<(), Error> {
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

    async fn apply_create(
        &self,
        unit: &mut UnitOfWork,
        effect: &Effect,
        outcome: &EffectOutcome,
        source: &Source,
    ) -> Result<(), Error> {
        let Action::CreateSession { job: id, attempt } = &effect.action else {
            return Ok(());
        };
        let Some(found) = self.backend.store.job(id).await? else {
            return Ok(());
        };
        if found.value.attempt != *attempt {
            let late = (*attempt, outcome);
            return self.apply_late_create(unit, &found, late, source).await;
        }
        let now = self.backend.now();
        let step = match outcome {
            EffectOutcome::Created(view) => {
                let owner = self.backend.store.job_of(&view.id).await?;
                if owner.is_none() {
                    // Until the job is saved, the pointer means nothing.
                    unit.put_ahead(keys::session(&view.id), id, None, IndexEntry::default());
                }
                self.wake_up(unit, id, &found.value.account).await?;
                if matches!(found.value.phase, Phase::Creating { .. }) {
                    unit.ends_create(&found.value.account);
                } else {
                    // The job does not record that its session was created.
                    let slots = self.backend.store.slots(&found.value.account).await?;
                    let next = slots.value.created(id, now);
                    keep(unit, &slots, &next);
                }
                match &owner {
                    // It was adopted when this job was over.
                    Some(other) if other != id => {
                        let made = (&view.id, *attempt);
                        job::session_found(&found.value, made, Some(other), &source.timing)
                    }
                    Some(_) | None => job::created(&found.value, view, now, &source.timing),
                }
            }
            EffectOutcome::Failed(failure) if failure.happened == CallEffect::Maybe => {
                return Ok(());
            }
            EffectOutcome::Failed(failure) => {
                self.give_back(unit, &found.value, failure).await?;
                job::creation_failed(&found.value, failure, now)
            }
            EffectOutcome::Merged(_)
            | EffectOutcome::Proposed(_)
            | EffectOutcome::Woven(_)
            | EffectOutcome::Done => return Ok(()),
        };
        self.backend.save_job(unit, Some(&found), &step).await?;
        Ok(())
    }

    /// A create failed: its slot is free, and the next job has its turn.
    pub(super) async fn give_back(
        &self,
        unit: &mut UnitOfWork,
        job: &job::Job,
        failure: &Failure,
    ) -> Result<(), Error> {
        let found = self.backend.store.slots(&job.account).await?;
        let (slots, now) = (&found.value, unit.now());
        let next = match (failure.class, failure.asked_wait()) {
            (FailureClass::Precondition, _) => slots.refused(&job.id, now),
            (FailureClass::Throttled, Some(wait)) => slots.throttled(&job.id, wait, now),
            (
                FailureClass::Throttled
                | FailureClass::Unauthorized
                | FailureClass::Forbidden
                | FailureClass::NotFound
                | FailureClass::Conflict
                | FailureClass::Invalid
                | FailureClass::Unavailable
                | FailureClass::Network
                | FailureClass::Garbled,
                _,
            ) => slots.not_created(&job.id),
        };
        keep(unit, &found, &next);
        Ok(())
    }

    /// An earlier attempt's create ended: the job has moved on, and the unneeded session is archived.
    async fn apply_late_create(
        &self,
        unit: &mut UnitOfWork,
        found: &Versioned<job::Job>,
        (attempt, outcome): (u32, &EffectOutcome),
        source: &Source,
    ) -> Result<(), Error> {
        let EffectOutcome::Created(view) = outcome else {
            return Ok(());
        };
        let owner = self.backend.store.job_of(&view.id).await?;
        let made = (&view.id, attempt);
        let step = job::session_found(&found.value, made, owner.as_ref(), &source.timing);
        self.backend.save_job(unit, Some(found), &step).await?;
        Ok(())
    }

    async fn apply_approved(
        &self,
        unit: &mut UnitOfWork,
        session: &SessionId,
        effect: &Effect,
        outcome: &EffectOutcome,
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
            Action::Say { .. } => {
                self.apply_said(unit, effect, &EffectOutcome::Done, source)
                    .await
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
        effect: &Effect,
        outcome: &EffectOutcome,
        source: &Source,
    ) -> Result<(), Error> {
        let Action::Say { session, cause, .. } = &effect.action else {
            return Ok(());
        };
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
        effect: &Effect,
        outcome: &EffectOutcome,
        source: &Source,
    ) -> Result<(), Error> {
        let Action::Merge {
            pull: reference, ..
        } = &effect.action
        else {
            return Ok(());
        };
        let input = match outcome {
            EffectOutcome::Merged(commit) => Input::Merged {
                commit: commit.clone(),
            },
            EffectOutcome::Failed(failure)
                if matches!(effect.state, EffectState::Failed { .. }) =>
            {
                Input::MergeFailed(failure.clone())
            }
            EffectOutcome::Failed(_)
            | EffectOutcome::Created(_)
            | EffectOutcome::Proposed(_)
            | EffectOutcome::Woven(_)
            | EffectOutcome::Done => {
                return Ok(());
            }
        };
        if matches!(input, Input::MergeFailed(_)) {
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
        if matches!(input, Input::Merged { .. }) {
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

/// Saves changed slots, and lets the next job have its turn.
fn keep(unit: &mut UnitOfWork, found: &Versioned<Slots>, next: &Slots) {
    let place = IndexEntry::due(Some(unit.now() + OUTBOX_GRACE));
    unit.put(keys::slots(&next.account), next, Some(found.version), place);
    let account = next.account.clone();
    unit.enqueue(&keys::account_pk(&next.account), Work::Slots { account });
}
