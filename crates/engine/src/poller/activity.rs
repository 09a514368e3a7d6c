//! What an account's jobs do: how soon it is polled again hangs on that.

use domain::account::{Account, AccountActivity};
use domain::ids::AccountName;
use domain::job::Job;
use domain::session::SessionState;
use jiff::SignedDuration;

use super::Poller;
use crate::backend::Error;
use crate::store::Versioned;

impl Poller {
    /// What the jobs of an account do now.
    pub(super) async fn activity(&self, name: &AccountName) -> Result<AccountActivity, Error> {
        // In this order: a job that leaves the queue meanwhile is watched.
        let is_queued = self.backend.store.is_anybody_queued(name).await?;
        let watched = self.backend.store.watched(name).await?;
        Ok(if !is_queued && watched.is_empty() {
            AccountActivity::NoJobs
        } else {
            activity_of(&watched)
        })
    }
}

/// What jobs do of which there is one at least.
pub(super) fn activity_of(watched: &[Versioned<Job>]) -> AccountActivity {
    if watched.iter().any(is_active) {
        AccountActivity::Active
    } else {
        AccountActivity::Resting
    }
}

/// How long it is from one poll of an account to the next, at the most, while all is well and some of its jobs are watched.
pub(super) fn gap(account: &Account, watched: &[Versioned<Job>]) -> SignedDuration {
    match activity_of(watched) {
        AccountActivity::Active => account.pace.tick,
        AccountActivity::Resting | AccountActivity::NoJobs => account.pace.idle,
    }
}

/// Whether a session may still change by itself.
pub(super) fn is_active(found: &Versioned<Job>) -> bool {
    let watch = found.value.watched();
    watch.is_some_and(|it| it.state != SessionState::Completed || it.pull.is_some())
}
