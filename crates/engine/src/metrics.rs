//! Figures for monitoring, from the store alone: every process returns the same.

mod reading;

use std::collections::BTreeMap;

use jiff::SignedDuration;

use crate::status::Status;

/// How many of the newest events have their wakes read: each costs a read for every agent.
pub const WAKES_TIMED: usize = 50;

/// Figures of the moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Metrics {
    /// What is going on.
    pub status: Status,
    /// How many events were recorded, by name and kind with a space between the two.
    pub events: BTreeMap<String, u64>,
    /// From the observation of an event to its acknowledgement, of the acknowledged wakes of the newest [`WAKES_TIMED`] events, ascending.
    pub wakes: Vec<SignedDuration>,
}
