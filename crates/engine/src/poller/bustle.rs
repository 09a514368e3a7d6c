//! What an account's jobs do: how soon it is polled again hangs on that.

use domain::account::{Account, Bustle};
use domain::ids::AccountName;
use domain::job::{Job, Phase};
use domain::session::SessionState;
use jiff::SignedDuration;

use super::Poller;
use crate::desk::Error;
use crate::store::Versioned;

impl Poller {
    /// What the jobs of an account do now.
    pub(super) async fn bustle(&self, name: &AccountName) -> Result<Bustle, Error> {
        // In this order: a job that leaves the queue meanwhile is watched.
        let is_queued = self.desk.store.is_anybody_queued(name).await?;
        let watched = self.desk.store.watched(name).await?;
        Ok(if !is_queued && watched.is_empty() {
            Bustle::Nothing
        } else {
            of(&watched)
        })
    }
}

/// What jobs do of which there is one at least.
pub(super) fn of(watched: &[Versioned<Job>]) -> Bustle {
    if watched.iter().any(is_active) {
        Bustle::Active
    } else {
        Bustle::Resting
    }
}

/// How long it is from one poll of an account to the next, at the most, while all is well and some of its jobs are watched.
pub(super) fn gap(account: &Account, watched: &[Versioned<Job>]) -> SignedDuration {
    match of(watched) {
        Bustle::Active => account.pace.tick,
        Bustle::Resting | Bustle::Nothing => account.pace.idle,
    }
}

/// Whether a session may still change by itself.
pub(super) fn is_active(found: &Versioned<Job>) -> bool {
    match &found.value.phase {
        Phase::Watching(watch) => watch.state != SessionState::Completed || watch.pull.is_some(),
        Phase::Queued { .. } | Phase::Creating { .. } | Phase::Ended(_) => false,
    }
}
