//! What the outcome of creating a session means for its job and for the slots of its account.

use domain::failure::{CallEffect, Failure, FailureClass};
use domain::governor::Slots;
use domain::ids::JobId;
use domain::job::{self, JobPhase};

use super::Settled;
use crate::backend::{Error, IndexEntry, OUTBOX_GRACE, UnitOfWork};
use crate::dispatcher::Dispatcher;
use crate::dispatcher::effects::EffectOutcome;
use crate::keys;
use crate::store::Versioned;
use crate::work::Work;

impl Dispatcher {
    pub(super) async fn apply_create(
        &self,
        unit: &mut UnitOfWork,
        id: &JobId,
        attempt: u32,
        settled: Settled<'_>,
    ) -> Result<(), Error> {
        let Settled {
            outcome, source, ..
        } = settled;
        let Some(found) = self.backend.store.job(id).await? else {
            return Ok(());
        };
        if found.value.attempt != attempt {
            return self.apply_late_create(unit, &found, attempt, settled).await;
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
                if matches!(found.value.phase, JobPhase::Creating { .. }) {
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
                        let timing = &source.timing;
                        job::session_found(&found.value, &view.id, attempt, Some(other), timing)
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
    pub(in crate::dispatcher) async fn give_back(
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
        attempt: u32,
        settled: Settled<'_>,
    ) -> Result<(), Error> {
        let EffectOutcome::Created(view) = settled.outcome else {
            return Ok(());
        };
        let timing = &settled.source.timing;
        let owner = self.backend.store.job_of(&view.id).await?;
        let owner = owner.as_ref();
        let step = job::session_found(&found.value, &view.id, attempt, owner, timing);
        self.backend.save_job(unit, Some(found), &step).await?;
        Ok(())
    }
}

/// Saves changed slots, and lets the next job have its turn.
fn keep(unit: &mut UnitOfWork, found: &Versioned<Slots>, next: &Slots) {
    let place = IndexEntry::due(Some(unit.now() + OUTBOX_GRACE));
    unit.put(keys::slots(&next.account), next, Some(found.version), place);
    let account = next.account.clone();
    unit.enqueue(&keys::account_pk(&next.account), Work::Slots { account });
}
