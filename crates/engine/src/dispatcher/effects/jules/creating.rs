//! Creates the session of a job, looks for one that may have been created, and what the outcome means for the job and for the slots of
//! its account.

use std::time::Duration;

use domain::effect::{Effect, EffectFinding};
use domain::failure::{CallEffect, Failure, FailureClass};
use domain::governor::Slots;
use domain::ids::JobId;
use domain::job::{self, Job, JobPhase};
use domain::outgoing_text;
use domain::policy::{PlanApproval, Source};
use jiff::Timestamp;

use super::{CLOCK_SLACK, EffectOutcome, Settled};
use crate::backend::{Error, IndexEntry, OUTBOX_GRACE, UnitOfWork};
use crate::dispatcher::Dispatcher;
use crate::keys;
use crate::ports::NewSession;
use crate::store::Versioned;
use crate::work::Work;

/// Time limit for reading an earlier session's changes: the create that waits for it is held for
/// [`START_HOLD`](domain::effect::START_HOLD).
const EARLIER_WITHIN: Duration = Duration::from_secs(15);

impl Dispatcher {
    /// Why a session is not created any more: its job moved on.
    pub(super) async fn not_created(
        &self,
        job: &JobId,
        attempt: u32,
    ) -> Result<Option<String>, Error> {
        let found = self.backend.store.job(job).await?;
        let wanted = found.is_some_and(|found| {
            found.value.attempt == attempt && matches!(found.value.phase, JobPhase::Creating { .. })
        });
        Ok((!wanted).then(|| "the job no longer waits for this session".to_owned()))
    }

    /// Before another attempt, the account is searched for a session that an earlier attempt made after all.
    pub(super) async fn created_before(
        &self,
        effect: &Effect,
        job: &JobId,
        attempt: u32,
    ) -> Result<Option<EffectOutcome>, Error> {
        if effect.attempt() <= 1 {
            return Ok(None);
        }
        let since = effect.created_at - CLOCK_SLACK;
        let (finding, outcome) = self.look_for_session(job, attempt, since).await?;
        Ok(match finding {
            EffectFinding::Happened => Some(outcome),
            EffectFinding::NoTrace => None,
            EffectFinding::CannotTell => {
                let doing = "looking for a session of an earlier try before creating another";
                let failure = Failure::new(FailureClass::Unavailable, doing).never_sent();
                Some(EffectOutcome::Failed(failure))
            }
        })
    }

    pub(super) async fn create(&self, id: &JobId, source: &Source) -> Result<EffectOutcome, Error> {
        let found = self
            .backend
            .store
            .job(id)
            .await?
            .ok_or_else(|| Error::NoSuch {
                what: "job",
                name: id.to_string(),
            })?;
        let job = found.value;
        let session = NewSession {
            prompt: self.prompt(&job).await,
            title: outgoing_text::session_title(&job),
            repo: job.repo.clone(),
            branch: job.branch.clone(),
            require_plan_approval: match job.plan_approver(source.policy.plan_approval) {
                PlanApproval::Auto => false,
                PlanApproval::Agent | PlanApproval::Human | PlanApproval::Delivery => true,
            },
            automation: job.terms.automation,
        };
        Ok(
            match self.writers.sessions.create(&job.account, &session).await {
                Ok(view) => EffectOutcome::Created(Box::new(view)),
                Err(failure) => EffectOutcome::Failed(failure),
            },
        )
    }

    /// The task, and for another session the result of the previous one. Unreadable parts are omitted: the work does not wait for them.
    async fn prompt(&self, job: &Job) -> String {
        let patch = match job.earlier.last() {
            None => None,
            Some(session) => {
                let reading = self.readers.sessions.artifacts(&job.account, session);
                let read = tokio::time::timeout(EARLIER_WITHIN, reading).await;
                read.ok().and_then(Result::ok).and_then(|read| read.patch)
            }
        };
        outgoing_text::another_session(job, patch.as_deref())
    }

    /// Finds the job's session: the oldest one with the marker. Younger ones are duplicates, which the poller
    /// archives.
    pub(super) async fn look_for_session(
        &self,
        id: &JobId,
        attempt: u32,
        since: Timestamp,
    ) -> Result<(EffectFinding, EffectOutcome), Error> {
        let nothing = |finding| (finding, EffectOutcome::Done);
        if cfg!(without_guard = "marker_search") {
            return Ok(nothing(EffectFinding::NoTrace));
        }
        let Some(job) = self.backend.store.job(id).await? else {
            return Ok(nothing(EffectFinding::NoTrace));
        };
        let mut marker = job.value.marker();
        marker.attempt = attempt;
        Ok(
            match self
                .readers
                .sessions
                .find(&job.value.account, &marker, since)
                .await
            {
                // Only a list that was read proves that nothing was created.
                Err(_) => nothing(EffectFinding::CannotTell),
                Ok(mut views) => {
                    // Two creates may both have happened: every process must choose the same session.
                    views.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
                    match views.into_iter().next() {
                        Some(view) => (
                            EffectFinding::Happened,
                            EffectOutcome::Created(Box::new(view)),
                        ),
                        None => nothing(EffectFinding::NoTrace),
                    }
                }
            },
        )
    }

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
