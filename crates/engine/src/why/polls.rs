//! When the sessions of an account are read next.

use domain::account::Account;
use jiff::Timestamp;

use super::WhySubject;
use crate::poller::held_until;
use crate::store::Versioned;

/// The next poll, which says nothing about one session.
const ASKED: &str = "Jules is asked how its sessions are.";

/// The same while a poll goes on, whose process may have died.
const ASKED_AGAIN: &str =
    "Jules is asked again how its sessions are, if the poll that has begun does not end before.";

/// What is planned for every job of an account.
pub(super) const POLLS: [&str; 2] = [ASKED, ASKED_AGAIN];

/// Plans the next poll of an account.
pub(super) fn polled(found: &mut WhySubject, account: &Versioned<Account>, now: Timestamp) {
    match held_until(account, now) {
        Some(until) => found.then(until, ASKED_AGAIN),
        // One that is due is polled with the next tick.
        None => found.then(account.value.next_poll.max(now), ASKED),
    }
}
