//! What polls learned of accounts and did not write: a quiet poll of a busy account changes nothing that anybody else needs within the minute.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use domain::account::{Account, LEFT_OVERDUE, Poll};
use domain::ids::AccountName;
use domain::step::Step;
use domain::tick::TICK_EVERY;
use jiff::Timestamp;

use crate::store::Versioned;

/// The accounts as their last polls left them. Whoever starts anew begins with their rows, and reads some logs once more than it had to.
#[derive(Default)]
pub(super) struct Learned(Mutex<BTreeMap<AccountName, Kept>>);

struct Kept {
    /// The version of the row that it goes beyond.
    version: u64,
    /// The account as it would have been written.
    account: Account,
}

impl Learned {
    /// The account with what was learned of it since its row was written.
    pub(super) fn recalled(&self, found: &Versioned<Account>) -> Account {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get(&found.value.name) {
            Some(kept) if kept.version == found.version => kept.account.clone(),
            Some(_) | None => found.value.clone(),
        }
    }

    /// Keeps what a poll learned, if it need not be written: the row stays due, so that the next tick polls again.
    pub(super) fn keeps(
        &self,
        row: &Versioned<Account>,
        step: &Step<Account>,
        (outcome, now): (&Poll, Timestamp),
    ) -> bool {
        let account = &step.aggregate;
        let is_quiet = step.events.is_empty()
            && matches!(outcome, Poll::Answered { .. })
            && row.value.health == account.health
            && row.value.next_poll <= now
            && account.next_poll.duration_since(now) <= TICK_EVERY;
        let written = row.value.tally.last;
        let is_fresh = written.is_some_and(|at| now.duration_since(at) < LEFT_OVERDUE);
        if !(is_quiet && is_fresh) {
            return false;
        }
        let kept = Kept {
            version: row.version,
            account: account.clone(),
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(account.name.clone(), kept);
        true
    }
}
