//! Sessions of Jules: creates them, talks to them, and puts them away.

mod approving;
mod creating;

use domain::account::Health;
use domain::effect::{Action, Effect, EffectFinding, EffectState, JulesAction};
use domain::failure::{Failure, FailureClass};
use domain::ids::{AccountName, PlanId, SessionId};
use domain::job::{self, Job};
use domain::policy::Source;
use domain::session::{ActivityKind, SessionState};
use jiff::Timestamp;

use super::{CLOCK_SLACK, EffectOutcome, Settled, done, seen};
use crate::backend::{Error, UnitOfWork};
use crate::dispatcher::Dispatcher;
use crate::keys;
use crate::store::Versioned;

/// Why nothing is said to a session any more.
const UNWATCHED: &str = "its job no longer watches this session";

impl Dispatcher {
    /// Why an action on a session is obsolete: a create whose job moved on, a message to a session that was replaced or archived, or an
    /// approval of a plan whose place another one took.
    pub(super) async fn not_wanted_on_jules(
        &self,
        action: &JulesAction,
    ) -> Result<Option<String>, Error> {
        match action {
            JulesAction::CreateSession { job, attempt } => self.not_created(job, *attempt).await,
            JulesAction::Say { session, cause, .. } => {
                let watch = self.watching(session).await?;
                Ok(match watch {
                    None => Some(UNWATCHED.to_owned()),
                    Some(watch) if !job::is_wanted(&watch, cause) => {
                        Some("it was answered meanwhile".to_owned())
                    }
                    Some(_) => None,
                })
            }
            JulesAction::ApprovePlan { session, plan } => self.not_approved(session, plan).await,
            JulesAction::Archive { .. } => Ok(None),
        }
    }

    /// Makes the call.
    pub(super) async fn perform_on_jules(
        &self,
        effect: &Effect,
        action: &JulesAction,
        source: &Source,
    ) -> Result<EffectOutcome, Error> {
        let sessions = &self.writers.sessions;
        Ok(match action {
            JulesAction::CreateSession { job, attempt } => {
                if let Some(found) = self.created_before(effect, job, *attempt).await? {
                    return Ok(found);
                }
                self.create(job, source).await?
            }
            JulesAction::Say { session, text, .. } => {
                let account = self.account_of(session, source).await?;
                match sessions.send(&account, session, text).await {
                    Ok(()) => EffectOutcome::Done,
                    Err(failure) => {
                        EffectOutcome::Failed(self.of_its_key(&account, failure).await?)
                    }
                }
            }
            JulesAction::ApprovePlan { session, plan } => {
                self.approve(session, plan, source).await?
            }
            JulesAction::Archive { session } => {
                let account = self.account_of(session, source).await?;
                done(sessions.archive(&account, session).await)
            }
        })
    }

    /// What the world shows of it.
    pub(super) async fn look_on_jules(
        &self,
        effect: &Effect,
        action: &JulesAction,
        source: &Source,
    ) -> Result<(EffectFinding, EffectOutcome), Error> {
        let since = effect.created_at - CLOCK_SLACK;
        Ok(seen(match action {
            JulesAction::CreateSession { job, attempt } => {
                return self.look_for_session(job, *attempt, since).await;
            }
            JulesAction::Say { session, text, .. } => {
                let others = self.said_likewise(effect, session, text).await?;
                // The messages of the others are among those that are counted.
                let others_since = others.iter().map(|at| *at - CLOCK_SLACK).min();
                let since = others_since.map_or(since, |at| at.min(since));
                let account = self.account_of(session, source).await?;
                let times = self.times_said(&account, session, text, since).await;
                times.map(|times| times > others.len())
            }
            JulesAction::ApprovePlan { session, plan } => {
                let account = self.account_of(session, source).await?;
                self.was_approved(&account, session, plan).await
            }
            JulesAction::Archive { session } => {
                let account = self.account_of(session, source).await?;
                self.was_archived(&account, session).await
            }
        }))
    }

    /// What its outcome means for its job.
    pub(super) async fn apply_on_jules(
        &self,
        unit: &mut UnitOfWork,
        action: &JulesAction,
        settled: Settled<'_>,
    ) -> Result<(), Error> {
        match action {
            JulesAction::CreateSession { job, attempt } => {
                self.apply_create(unit, job, *attempt, settled).await
            }
            JulesAction::Say { session, cause, .. } => {
                self.apply_said(unit, session, cause, settled).await
            }
            JulesAction::ApprovePlan { session, .. } => {
                self.apply_approved(unit, session, settled).await
            }
            JulesAction::Archive { .. } => Ok(()),
        }
    }

    /// What it means that the process which began it died.
    pub(super) async fn expire_on_jules(
        &self,
        unit: &mut UnitOfWork,
        action: &JulesAction,
        settled: Settled<'_>,
    ) -> Result<(), Error> {
        match action {
            JulesAction::Say { session, cause, .. } => {
                self.apply_said(unit, session, cause, settled).await
            }
            JulesAction::CreateSession { .. }
            | JulesAction::ApprovePlan { .. }
            | JulesAction::Archive { .. } => Ok(()),
        }
    }

    /// The job that a session belongs to.
    async fn job_with(&self, session: &SessionId) -> Result<Option<Versioned<Job>>, Error> {
        match self.backend.store.job_of(session).await? {
            Some(id) => Ok(self.backend.store.job(&id).await?),
            None => Ok(None),
        }
    }

    /// The watch of a session, while its job watches it.
    async fn watching(&self, session: &SessionId) -> Result<Option<Box<job::Watch>>, Error> {
        let found = self.job_with(session).await?;
        Ok(found.and_then(|found| match found.value.phase {
            job::JobPhase::Watching(watch) if watch.session == *session => Some(watch),
            job::JobPhase::Watching(_)
            | job::JobPhase::Queued { .. }
            | job::JobPhase::Creating { .. }
            | job::JobPhase::Proposed { .. }
            | job::JobPhase::Ended(_) => None,
        }))
    }

    /// The account that a session's job works on; sessions without a job belong to the source's account.
    async fn account_of(&self, session: &SessionId, source: &Source) -> Result<AccountName, Error> {
        let job = self.job_with(session).await?;
        Ok(job.map_or_else(|| source.account.clone(), |job| job.value.account))
    }

    /// While Jules refuses the key of an account, it refuses nothing for another reason: that passes with a key that works.
    async fn of_its_key(&self, account: &AccountName, failure: Failure) -> Result<Failure, Error> {
        if failure.class != FailureClass::Forbidden {
            return Ok(failure);
        }
        let found = self.backend.store.account(account).await?;
        let is_refused =
            found.is_some_and(|found| matches!(found.value.health, Health::Unauthorized { .. }));
        Ok(match is_refused {
            true => Failure {
                class: FailureClass::Unauthorized,
                ..failure
            },
            false => failure,
        })
    }

    /// When other effects sent the very same text to the session: their messages prove nothing about this one.
    async fn said_likewise(
        &self,
        effect: &Effect,
        session: &SessionId,
        text: &str,
    ) -> Result<Vec<Timestamp>, Error> {
        let Some(id) = self.backend.store.job_of(session).await? else {
            return Ok(Vec::new());
        };
        let mut effects = self.backend.store.effects(&keys::job_pk(&id)).await?;
        let job = self.backend.store.job(&id).await?;
        // Repair messages are effects of the pull request, not of the job.
        if let Some(pull) = job.as_ref().and_then(|job| job.value.pull()) {
            effects.extend(self.backend.store.effects(&keys::pull_pk(pull)).await?);
        }
        let likewise = |other: &Effect| {
            let done = matches!(other.state, EffectState::Done { .. });
            let same = matches!(&other.action, Action::Jules(JulesAction::Say { session: to, text: said, .. }) if to == session && said.trim() == text.trim());
            other.id != effect.id && done && same
        };
        let others = effects.into_iter().map(|other| other.value);
        Ok(others
            .filter(likewise)
            .map(|other| other.created_at)
            .collect())
    }

    /// How often a text was sent to a session since a time.
    async fn times_said(
        &self,
        account: &AccountName,
        session: &SessionId,
        text: &str,
        since: Timestamp,
    ) -> Result<usize, Failure> {
        let activities = self
            .readers
            .sessions
            .activities(account, session, Some(since))
            .await?;
        let said = activities.iter().filter(|activity| matches!(&activity.kind, ActivityKind::UserMessaged { text: said } if said.trim() == text.trim()));
        Ok(said.count())
    }

    async fn was_approved(
        &self,
        account: &AccountName,
        session: &SessionId,
        plan: &PlanId,
    ) -> Result<bool, Failure> {
        let activities = self
            .readers
            .sessions
            .activities(account, session, None)
            .await?;
        let named = activities.iter().any(|activity| matches!(&activity.kind, ActivityKind::PlanApproved { plan: approved } if approved.as_ref().is_none_or(|id| id == plan)));
        if named {
            return Ok(true);
        }
        let view = self.readers.sessions.get(account, session).await?;
        Ok(view.state != SessionState::AwaitingPlanApproval)
    }

    async fn was_archived(
        &self,
        account: &AccountName,
        session: &SessionId,
    ) -> Result<bool, Failure> {
        match self.readers.sessions.get(account, session).await {
            Err(failure) if failure.class == FailureClass::NotFound => Ok(true),
            found => Ok(found?.archived),
        }
    }

    async fn apply_approved(
        &self,
        unit: &mut UnitOfWork,
        session: &SessionId,
        Settled {
            effect,
            outcome,
            source,
            ..
        }: Settled<'_>,
    ) -> Result<(), Error> {
        match outcome {
            EffectOutcome::Failed(_) => self.apply_gave_up(unit, session, effect).await,
            EffectOutcome::Done
            | EffectOutcome::Created(_)
            | EffectOutcome::Proposed(_)
            | EffectOutcome::Woven(_)
            | EffectOutcome::Merged(_) => self.apply_approval_taken(unit, session, source).await,
        }
    }

    /// An approval that was refused before was taken.
    async fn apply_approval_taken(
        &self,
        unit: &mut UnitOfWork,
        session: &SessionId,
        source: &Source,
    ) -> Result<(), Error> {
        let found = self.job_with(session).await?;
        let was_refused = |found: &Versioned<Job>| found.value.approval_refused.is_some();
        let Some(found) = found.filter(was_refused) else {
            return Ok(());
        };
        let step = job::approved(&found.value, &source.timing);
        self.backend.save_job(unit, Some(&found), &step).await?;
        Ok(())
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
        let Some(found) = self.job_with(session).await? else {
            return Ok(());
        };
        let step = job::order_failed(&found.value, effect, failure, self.backend.now());
        self.backend.save_job(unit, Some(&found), &step).await?;
        Ok(())
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
            by_reading,
            source,
        } = settled;
        // A message that may have arrived wakes the session like one that did: its next message must be seen before
        // its job is over.
        let maybe = matches!(effect.state, EffectState::Unknown { .. });
        if *outcome != EffectOutcome::Done && !maybe {
            return self.apply_gave_up(unit, session, effect).await;
        }
        let Some(found) = self.job_with(session).await? else {
            return Ok(());
        };
        // What a reading shows was awaited since its attempt, and its echo may be known by now.
        let at = (!by_reading).then(|| self.backend.now());
        let mut step = job::said(&found.value, session, at, &source.timing);
        if !maybe {
            job::note_sent(&mut step.aggregate, cause);
        }
        self.wake_up(unit, &found.value.id, &found.value.account)
            .await?;
        self.backend.save_job(unit, Some(&found), &step).await?;
        Ok(())
    }
}
