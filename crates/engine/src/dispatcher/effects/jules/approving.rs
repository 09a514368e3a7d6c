//! Approves the plan of a session. Jules's call names no plan, so the session is read before each call.

use domain::failure::{Failure, FailureClass};
use domain::ids::{PlanId, SessionId};
use domain::job::{self, Watch};
use domain::policy::Source;

use super::{EffectOutcome, UNWATCHED};
use crate::backend::Error;
use crate::dispatcher::Dispatcher;

impl Dispatcher {
    /// Why a plan is not approved any more, as far as the stored job shows.
    pub(super) async fn not_approved(
        &self,
        session: &SessionId,
        plan: &PlanId,
    ) -> Result<Option<String>, Error> {
        let watch = self.watching(session).await?;
        Ok(obsolete(watch.as_deref(), plan).map(str::to_owned))
    }

    /// Approves the plan of an order, or of the policy. The stored job may be as old as the last reading of the log, and an approval may
    /// have waited for its retry, so the session is read first; without that reading nothing is approved.
    ///
    /// One window remains, since the call names no plan: Jules takes it for a plan that it writes after that reading, or that its log did
    /// not show yet. An approval that was given before its plan had an id is compared with nothing.
    pub(super) async fn approve(
        &self,
        session: &SessionId,
        plan: &PlanId,
        source: &Source,
    ) -> Result<EffectOutcome, Error> {
        let account = self.account_of(session, source).await?;
        let mut failed = Box::pin(self.read_first(session, source)).await?;
        if failed.is_none() {
            let watch = self.watching(session).await?;
            if let Some(reason) = obsolete(watch.as_deref(), plan) {
                let obsolete = Failure::new(FailureClass::Conflict, reason);
                return Ok(EffectOutcome::Failed(obsolete));
            }
            if watch.is_some_and(|watch| job::is_worked_on(&watch, plan)) {
                // Nothing waits for it any more: it was approved after the fact.
                return Ok(EffectOutcome::Done);
            }
            failed = self.writers.sessions.approve(&account, session).await.err();
        }
        Ok(match failed {
            None => EffectOutcome::Done,
            Some(failure) => EffectOutcome::Failed(self.of_its_key(&account, failure).await?),
        })
    }

    /// Reads a session and stores what it shows; returns what prevented that.
    async fn read_first(
        &self,
        session: &SessionId,
        source: &Source,
    ) -> Result<Option<Failure>, Error> {
        match self.job_with(session).await? {
            Some(found) => self.read_now(&found, source).await,
            None => Ok(None),
        }
    }
}

fn obsolete(watch: Option<&Watch>, plan: &PlanId) -> Option<&'static str> {
    match watch {
        None => Some(UNWATCHED),
        Some(watch) => job::is_plan_replaced(watch, plan).then_some("another plan waits by now"),
    }
}
