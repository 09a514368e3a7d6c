//! Reads a session outside its account's polls: at a deadline, for a caller who asks for it, after a push, and before the approval of its
//! plan.

use std::time::Duration;

use domain::account::Health;
use domain::failure::{Failure, FailureClass};
use domain::ids::JobId;
use domain::job::{self, JobPhase, Observation, Snapshot, Watch};
use domain::policy::Source;
use domain::when::plus;
use jiff::{SignedDuration, Timestamp};

use super::Dispatcher;
use crate::backend::{Error, IndexEntry};
use crate::jobs::SEEN_JUST_NOW;
use crate::keys;
use crate::ports::Expect;
use crate::readings::{SessionCheck, reason};
use crate::retention;
use crate::store::Versioned;
use crate::work::Work;

/// Time limit for reading a session before an action: the action is held for [`START_HOLD`](domain::effect::START_HOLD).
const READ_WITHIN: Duration = Duration::from_secs(15);

/// A read this long after a push shows the pushed state: Jules's own answers lag a little.
const PUSH_SHOWN_AFTER: SignedDuration = SignedDuration::from_secs(2);

impl Dispatcher {
    /// A deadline came: the session is read whatever the last poll said.
    pub(super) async fn observe_if_due(
        &self,
        found: Versioned<job::Job>,
        source: &Source,
    ) -> Result<(), Error> {
        let JobPhase::Watching(watch) = &found.value.phase else {
            return Ok(());
        };
        let now = self.backend.now();
        let deadline = job::deadline(&found.value, &source.timing);
        if found.due.is_none() || deadline.is_none_or(|deadline| deadline > now) {
            return Ok(());
        }
        let account = self.backend.store.account(&found.value.account).await?;
        if account.is_none_or(|account| account.value.health != Health::Working) {
            // An account with errors keeps its own pace; its polls will read this session.
            return Ok(());
        }
        match self.sight(&found.value, watch).await {
            // The account's own polls report errors of the account.
            Err(failure) => {
                tracing::debug!(%failure, job.id = %found.value.id, "the session could not be read at its deadline");
                Ok(())
            }
            Ok(sight) => self.save_sight(&found, &sight, source).await.map(drop),
        }
    }

    /// A session was pushed. However often that happens, it is read no more often than for callers who ask.
    pub(super) async fn look_after_push(
        &self,
        id: &JobId,
        pushed_at: Timestamp,
    ) -> Result<(), Error> {
        let now = self.backend.now();
        let last = self
            .backend
            .store
            .read::<SessionCheck>(&keys::session_check(id))
            .await?;
        let last = last.map(|last| last.value.read_at);
        if last.is_some_and(|at| at >= plus(pushed_at, PUSH_SHOWN_AFTER)) {
            return Ok(());
        }
        let wait = last.map(|at| plus(at, SEEN_JUST_NOW).duration_since(now));
        if let Some(wait) = wait.filter(SignedDuration::is_positive) {
            let again = Work::Look {
                id: id.clone(),
                pushed_at: Some(pushed_at),
            };
            return Ok(self.backend.queue.send(&again.to_body(), wait).await?);
        }
        if self.is_polled_as_usual(id).await? {
            self.look(id).await?;
        }
        Ok(())
    }

    /// Whether the account of a job is healthy and within its budgets: then it keeps its own pace, and its polls will
    /// read the session.
    async fn is_polled_as_usual(&self, id: &JobId) -> Result<bool, Error> {
        let Some(found) = self.backend.store.job(id).await? else {
            return Ok(false);
        };
        let account = self.backend.store.account(&found.value.account).await?;
        let now = self.backend.now();
        Ok(account.is_some_and(|account| {
            let account = account.value;
            account.health == Health::Working && !account.budget.is_exhausted(now)
        }))
    }

    /// A caller asks for a job's present state. A job without a session needs no read.
    pub(super) async fn look(&self, id: &JobId) -> Result<(), Error> {
        let read_at = self.backend.now();
        let Some(found) = self.backend.store.job(id).await? else {
            return Ok(());
        };
        let mut failed = None;
        if let JobPhase::Watching(watch) = &found.value.phase {
            let source = self.source(&found.value.repo).await?;
            match self.sight(&found.value, watch).await {
                // What another save kept from being stored was not read.
                Ok(sight) if !self.save_sight(&found, &sight, &source).await? => return Ok(()),
                Ok(_) => {}
                Err(failure) => failed = Some(reason(&failure)),
            }
        }
        let looked = SessionCheck {
            read_at,
            failure: failed,
        };
        let mut unit = self.backend.unit();
        let place = IndexEntry::until(read_at, retention::ANSWER);
        unit.put_if(keys::session_check(id), &looked, Expect::Any, place);
        self.backend.commit(unit).await
    }

    /// When the last reading of a job's session began that was no poll; none if it failed.
    pub(super) async fn session_read_at(&self, id: &JobId) -> Result<Option<Timestamp>, Error> {
        let key = keys::session_check(id);
        let last = self.backend.store.read::<SessionCheck>(&key).await?;
        let read = last.map(|last| last.value);
        Ok(read.filter(|it| it.failure.is_none()).map(|it| it.read_at))
    }

    /// Reads the session of a job before an action that depends on it, and stores what it shows; returns what prevented that, as a failure
    /// of the action that was not sent.
    pub(super) async fn read_now(
        &self,
        found: &Versioned<job::Job>,
        source: &Source,
    ) -> Result<Option<Failure>, Error> {
        let JobPhase::Watching(watch) = &found.value.phase else {
            return Ok(None);
        };
        let not_now =
            |reason: &str| Some(Failure::new(FailureClass::Unavailable, reason).never_sent());
        let reading = self.whole_sight(&found.value, watch);
        let sight = match tokio::time::timeout(READ_WITHIN, reading).await {
            Err(_) => return Ok(not_now("the session could not be read in time before it")),
            Ok(Err(failure)) => return Ok(Some(unread(failure))),
            Ok(Ok(sight)) => sight,
        };
        if self.save_sight(found, &sight, source).await? {
            return Ok(None);
        }
        Ok(not_now(
            "the job changed while its session was read before it",
        ))
    }

    /// A session with its log; unlike [`Self::sight`], a session or a log that is not there is a failure.
    async fn whole_sight(&self, job: &job::Job, watch: &Watch) -> Result<Observation, Failure> {
        let sessions = &self.readers.sessions;
        let view = sessions.get(&job.account, &watch.session).await?;
        let log = sessions.activities(&job.account, &watch.session, watch.log.through);
        let activities = Some(log.await?);
        Ok(Observation::Seen(Box::new(Snapshot { view, activities })))
    }

    async fn sight(&self, job: &job::Job, watch: &Watch) -> Result<Observation, Failure> {
        let sessions = &self.readers.sessions;
        let view = match sessions.get(&job.account, &watch.session).await {
            Err(failure) if failure.class == FailureClass::NotFound => {
                return Ok(Observation::NotFound);
            }
            view => view?,
        };
        let activities = sessions
            .activities(&job.account, &watch.session, watch.log.through)
            .await
            .ok();
        Ok(Observation::Seen(Box::new(Snapshot { view, activities })))
    }

    /// Whether what was seen is stored.
    async fn save_sight(
        &self,
        found: &Versioned<job::Job>,
        sight: &Observation,
        source: &Source,
    ) -> Result<bool, Error> {
        let policy = self.backend.policy_for(&found.value, source).await?;
        let now = self.backend.now();
        let step = job::observe(&found.value, sight, now, &policy, &source.timing);
        let mut unit = self.backend.unit();
        self.backend.save_job(&mut unit, Some(found), &step).await?;
        let answered = job::answered_since(&found.value, &step.aggregate);
        let over = Box::pin(self.backend.withdraw(&mut unit, &answered)).await?;
        if !self.backend.try_commit(unit).await? {
            return Ok(false);
        }
        Box::pin(self.backend.nudge_after(&over)).await?;
        Ok(true)
    }
}

/// The failure of an action before which its session could not be read. A refused reading is no refusal of the action, so it counts as an
/// answer that could not be read.
fn unread(failure: Failure) -> Failure {
    let says_when = failure.class.may_pass() || failure.class == FailureClass::NotFound;
    let class = match says_when {
        true => failure.class,
        false => FailureClass::Garbled,
    };
    Failure { class, ..failure }.never_sent()
}
