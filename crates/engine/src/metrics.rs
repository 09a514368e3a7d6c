//! Figures for monitoring, from the store alone: every process returns the same.

mod reading;

use std::collections::BTreeMap;

use domain::account::PollCounters;
use domain::ids::AccountName;
use domain::status::Status;
use jiff::SignedDuration;

/// How many of the newest events have their wakes read: each costs a read for every agent.
pub const WAKES_TIMED: usize = 50;

/// Figures of the moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Metrics {
    /// What is going on.
    pub status: Status,
    /// Counters of the polls of each account.
    pub polls: BTreeMap<AccountName, PollCounters>,
    /// How many events were recorded, by name and kind with a space between the two.
    pub events: BTreeMap<String, u64>,
    /// From the observation of an event to its acknowledgement, of the acknowledged wakes of the newest [`WAKES_TIMED`] events, ascending.
    pub wakes: Vec<SignedDuration>,
}
