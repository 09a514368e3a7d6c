//! Reads a session outside its account's polls: at a deadline, for a caller who asks for it, and after a push.

use domain::account::Health;
use domain::failure::{Failure, FailureClass};
use domain::ids::JobId;
use domain::job::{self, Phase, Sight, Snapshot, Watch};
use domain::policy::Source;
use domain::when::plus;
use jiff::{SignedDuration, Timestamp};

use super::Dispatcher;
use crate::desk::{Error, Place, ignore_conflict};
use crate::forget;
use crate::jobs::SEEN_JUST_NOW;
use crate::keys;
use crate::ports::Expect;
use crate::readings::{Looked, reason};
use crate::store::Versioned;
use crate::work::Work;

/// A read this long after a push shows the pushed state: Jules's own answers lag a little.
const PUSH_SHOWN_AFTER: SignedDuration = SignedDuration::from_secs(2);

impl Dispatcher {
    /// A deadline came: the session is read whatever the last poll said.
    pub(super) async fn observe_if_due(
        &self,
        found: Versioned<job::Job>,
        source: &Source,
    ) -> Result<(), Error> {
        let Phase::Watching(watch) = &found.value.phase else {
            return Ok(());
        };
        let now = self.desk.now();
        let deadline = job::deadline(&found.value, &source.timing);
        if found.due.is_none() || deadline.is_none_or(|deadline| deadline > now) {
            return Ok(());
        }
        let account = self.desk.store.account(&found.value.account).await?;
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
            Ok(sight) => self.save_sight(&found, &sight, source).await,
        }
    }

    /// A session was pushed. However often that happens, it is read no more often than for callers who ask.
    pub(super) async fn look_after_push(
        &self,
        id: &JobId,
        pushed_at: Timestamp,
    ) -> Result<(), Error> {
        let now = self.desk.now();
        let last = self.desk.store.read::<Looked>(&keys::looked(id)).await?;
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
            return Ok(self.desk.queue.send(&again.to_body(), wait).await?);
        }
        if self.is_polled_as_usual(id).await? {
            self.look(id).await?;
        }
        Ok(())
    }

    /// Whether the account of a job is healthy and within its budgets: then it keeps its own pace, and its polls will
    /// read the session.
    async fn is_polled_as_usual(&self, id: &JobId) -> Result<bool, Error> {
        let Some(found) = self.desk.store.job(id).await? else {
            return Ok(false);
        };
        let account = self.desk.store.account(&found.value.account).await?;
        let now = self.desk.now();
        Ok(account.is_some_and(|account| {
            let account = account.value;
            account.health == Health::Working && !account.budget.is_short(now)
        }))
    }

    /// A caller asks for a job's present state. A job without a session needs no read.
    pub(super) async fn look(&self, id: &JobId) -> Result<(), Error> {
        let read_at = self.desk.now();
        let Some(found) = self.desk.store.job(id).await? else {
            return Ok(());
        };
        let mut failed = None;
        if let Phase::Watching(watch) = &found.value.phase {
            let source = self.source(&found.value.repo).await?;
            match self.sight(&found.value, watch).await {
                Ok(sight) => self.save_sight(&found, &sight, &source).await?,
                Err(failure) => failed = Some(reason(&failure)),
            }
        }
        let looked = Looked {
            read_at,
            failure: failed,
        };
        let mut unit = self.desk.unit();
        let place = Place::until(read_at, forget::ANSWER);
        unit.put_if(keys::looked(id), &looked, Expect::Any, place);
        self.desk.commit(unit).await
    }

    async fn sight(&self, job: &job::Job, watch: &Watch) -> Result<Sight, Failure> {
        let sessions = &self.eyes.sessions;
        let view = match sessions.get(&job.account, &watch.session).await {
            Err(failure) if failure.class == FailureClass::NotFound => return Ok(Sight::NotFound),
            view => view?,
        };
        let activities = sessions
            .activities(&job.account, &watch.session, watch.talk.through)
            .await
            .ok();
        Ok(Sight::Seen(Box::new(Snapshot { view, activities })))
    }

    async fn save_sight(
        &self,
        found: &Versioned<job::Job>,
        sight: &Sight,
        source: &Source,
    ) -> Result<(), Error> {
        let policy = self.desk.policy_for(&found.value, source).await?;
        let now = self.desk.now();
        let step = job::observe(&found.value, sight, now, &policy, &source.timing);
        let mut unit = self.desk.unit();
        self.desk.save_job(&mut unit, Some(found), &step).await?;
        ignore_conflict(self.desk.commit(unit).await)
    }
}
