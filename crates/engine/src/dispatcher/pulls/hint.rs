//! Webhooks about one of our pull requests: recorded while nothing can be decided, so that not each of them causes a
//! reading.

use domain::ids::{CommitSha, JobId, PullRef};
use domain::policy::Timing;
use domain::pull::{self, DeliveryHint, HintDecision, HintState, Pull};
use jiff::Timestamp;

use crate::backend::{Error, IndexEntry};
use crate::dispatcher::Dispatcher;
use crate::keys;
use crate::settings::TrackedPull;
use crate::store::Versioned;

/// A request to read a pull request.
#[derive(Clone, Copy)]
pub(in crate::dispatcher) struct PullWakeup<'a> {
    /// Which.
    pub(in crate::dispatcher) pull: &'a PullRef,
    /// The job that says it is its own.
    pub(in crate::dispatcher) hint: Option<&'a JobId>,
    /// When a wake-up came in; `None` for our own requests.
    pub(in crate::dispatcher) received_at: Option<Timestamp>,
    /// What the wake-up said.
    pub(in crate::dispatcher) news: DeliveryHint,
    /// Of which commit, if it named one.
    pub(in crate::dispatcher) sha: Option<&'a CommitSha>,
}

impl Dispatcher {
    /// Whether a request can be left to the due reading, since nothing can be decided before that.
    pub(super) async fn can_wait(
        &self,
        found: &Versioned<TrackedPull>,
        wakeup: &PullWakeup<'_>,
        timing: &Timing,
    ) -> Result<bool, Error> {
        let pull = &found.value.pull;
        if wakeup.received_at.is_none() {
            return Ok(wakeup.hint == Some(&pull.job) && pull::is_only_seen(pull));
        }
        match pull::weigh_hint(pull, wakeup.news, wakeup.sha, self.backend.now()) {
            HintDecision::Look => Ok(false),
            HintDecision::Wait(hearsay) if hearsay == pull.hints => Ok(true),
            HintDecision::Wait(hearsay) => self.remember(found, hearsay, timing).await,
        }
    }

    /// Returns whether it was saved: another writer may have changed its basis.
    async fn remember(
        &self,
        found: &Versioned<TrackedPull>,
        hearsay: HintState,
        timing: &Timing,
    ) -> Result<bool, Error> {
        let TrackedPull {
            pull,
            read_at,
            unread,
        } = found.value.clone();
        let key = keys::pull(&pull.pull);
        let record = self.backend.store.records().get(&key).await?;
        let Some((record, due)) = record.and_then(|it| it.due.map(|due| (it, due))) else {
            return Ok(false);
        };
        let due = read_at.map_or(due, |read_at| pull::unhurried(due, read_at, timing));
        let place = IndexEntry {
            due: Some(due),
            list: record.list,
            forget: None,
        };
        let told = TrackedPull {
            pull: Pull {
                hints: hearsay,
                ..pull
            },
            read_at,
            unread,
        };
        let mut unit = self.backend.unit();
        unit.put(key, &told, Some(found.version), place);
        self.backend.try_commit(unit).await
    }
}
