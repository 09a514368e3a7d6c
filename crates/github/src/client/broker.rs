//! Tracks each credential's remaining GitHub budget, and decides which calls may still use it.
//!
//! Nothing waits here: a call that may not go on now gets the time at which it may, and the work is rescheduled.
//! Reads stop first, readings that a merge depends on later, and writes last.

mod account;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use domain::github_access::GitHubBudget;
use http::{HeaderMap, StatusCode};
use jiff::{SignedDuration, Timestamp};

use super::refusal::is_limit;
use account::CredentialBudgets;

/// Limit: more installations than any App has.
const PURSES_MAX: usize = 1_000;

/// The owner of a budget: GitHub counts every installation of an App, and every token, separately.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BudgetOwner {
    /// The App itself, which only asks for installations and their tokens.
    App,
    /// One installation of the App, with any of its tokens.
    Installation(u64),
    /// A token, by its fingerprint.
    Token(String),
}

impl BudgetOwner {
    /// Whose it is, for people; a fingerprint stays here.
    fn owner(&self) -> String {
        match self {
            Self::App => "app".to_owned(),
            Self::Installation(id) => format!("installation {id}"),
            Self::Token(_) => "token".to_owned(),
        }
    }
}

/// What a call spends, in the order in which it has to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spending {
    /// A read that can wait.
    Read,
    /// A read that a merge depends on.
    KeptRead,
    /// A write.
    Write,
    /// A write that goes on with what an earlier one began: it is counted and waits for no turn.
    FollowUp,
}

/// Why a call may not be made now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BudgetExhausted {
    /// From when on it may.
    pub(crate) until: Timestamp,
    /// Why, for people.
    pub(crate) why: &'static str,
}

/// All budgets.
#[derive(Debug)]
pub(crate) struct Broker {
    known: Mutex<BTreeMap<BudgetOwner, CredentialBudgets>>,
    between_writes: SignedDuration,
}

impl Broker {
    /// No budget is known. Writes are this far apart.
    pub(crate) fn new(between_writes: SignedDuration) -> Self {
        Self {
            known: Mutex::default(),
            between_writes,
        }
    }

    /// Spends the price of one call, or returns when it can be paid. `what` is what the call does.
    pub(crate) fn spend(
        &self,
        purse: &BudgetOwner,
        (resource, what, spend): (&str, &str, Spending),
        now: Timestamp,
    ) -> Result<(), BudgetExhausted> {
        self.with(purse, |account| account.spend(resource, what, spend, now))
    }

    /// Records the limits in an answer. When the answer is a refusal by a limit, returns how long to wait.
    pub(crate) fn note(
        &self,
        purse: &BudgetOwner,
        (status, headers, said): (StatusCode, &HeaderMap, &str),
        now: Timestamp,
    ) -> Option<SignedDuration> {
        self.with(purse, |account| {
            account.see(headers);
            if is_limit(status, headers, said) {
                return Some(account.refused(headers, now));
            }
            if status.is_success() {
                account.answered(now);
            }
            None
        })
    }

    /// All known budgets, for people.
    pub(crate) fn all(&self) -> Vec<GitHubBudget> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let budgets = known
            .iter()
            .flat_map(|(purse, account)| account.budgets(&purse.owner()));
        budgets.collect()
    }

    fn with<R>(&self, purse: &BudgetOwner, act: impl FnOnce(&mut CredentialBudgets) -> R) -> R {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains_key(purse) {
            if matches!(purse, BudgetOwner::Token(_)) {
                // There is one token at a time: the one before was replaced.
                known.retain(|other, _| !matches!(other, BudgetOwner::Token(_)));
            }
            if known.len() >= PURSES_MAX {
                known.clear();
            }
        }
        let new = || CredentialBudgets::new(self.between_writes);
        act(known.entry(purse.clone()).or_insert_with(new))
    }
}
