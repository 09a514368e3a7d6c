//! A cache of accounts with unwritten poll results: a quiet poll of a busy account changes nothing that another
//! process needs within the minute.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use domain::account::{Account, LEFT_OVERDUE, Poll};
use domain::ids::AccountName;
use domain::step::Step;
use domain::tick;
use domain::when::is_within;
use jiff::Timestamp;

use crate::store::Versioned;

/// The accounts after their last polls. A new process begins with their rows, and reads some logs more often than
/// necessary.
#[derive(Default)]
pub(super) struct AccountCache {
    accounts: Mutex<BTreeMap<AccountName, CachedAccount>>,
}

struct CachedAccount {
    /// The version of the row that it goes beyond.
    version: u64,
    /// The account as it would have been written.
    account: Account,
}

impl AccountCache {
    /// The account with the poll results since its row was written.
    pub(super) fn get(&self, found: &Versioned<Account>) -> Account {
        let all = self.accounts.lock();
        let all = all.unwrap_or_else(PoisonError::into_inner);
        match all.get(&found.value.name) {
            Some(kept) if kept.version == found.version => kept.account.clone(),
            // Another process wrote it, without the budget that was spent since.
            Some(kept) => found.value.with_spent(&kept.account),
            None => found.value.clone(),
        }
    }

    /// Caches a poll's result if it need not be written: the row stays due, so that a process without this cache
    /// polls at once.
    pub(super) fn keep(
        &self,
        row: &Versioned<Account>,
        step: &Step<Account>,
        outcome: &Poll,
        now: Timestamp,
    ) -> bool {
        let account = &step.aggregate;
        let is_quiet = step.events.is_empty()
            && matches!(outcome, Poll::Answered { .. })
            && row.value.health == account.health
            // Others go by the row when they want the account polled soon.
            && row.value.is_busy(now) == account.is_busy(now)
            && row.value.next_poll <= now
            && tick::is_soon(Some(account.next_poll), now);
        let written = row.value.counters.last;
        let is_fresh = written.is_some_and(|at| is_within(at, now, LEFT_OVERDUE));
        if !(is_quiet && is_fresh) {
            return false;
        }
        let kept = CachedAccount {
            version: row.version,
            account: account.clone(),
        };
        let all = self.accounts.lock();
        let mut all = all.unwrap_or_else(PoisonError::into_inner);
        all.insert(account.name.clone(), kept);
        true
    }
}
