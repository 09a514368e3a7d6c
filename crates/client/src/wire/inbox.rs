//! What an agent does with its inbox.

use domain::ids::{AgentName, EventId};
use domain::wake::ActionableEvent;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form;

/// How many wakes are taken at once when nothing else is asked for.
pub const TAKE_LIMIT: u32 = 1;

/// How many wakes are taken at once at most.
pub const TAKE_LIMIT_MAX: u32 = 10;

/// How long an empty answer is held open at most, in seconds, where it is held open at all.
pub const WAIT_SECONDS_MAX: u32 = 20;

/// Longest wait that may be asked for when a wake is given back, in seconds: a day.
pub const RETRY_AFTER_SECONDS_MAX: u32 = 24 * 60 * 60;

/// Longest reason for giving a wake back, in bytes.
pub const WHY_BYTES_MAX: usize = 4_096;

/// `POST /agents/{agent}/take`: wakes out of an agent's inbox.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TakeRequest {
    /// How many at most, 1 to [`TAKE_LIMIT_MAX`]; [`TAKE_LIMIT`] without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = TAKE_LIMIT_MAX))]
    pub limit: Option<u32>,
    /// How long to wait for the first, in seconds, at most [`WAIT_SECONDS_MAX`]; not at all without it. On Lambda nothing is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = WAIT_SECONDS_MAX))]
    pub wait_seconds: Option<u32>,
}

/// 200 of `POST /agents/{agent}/take`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Taken {
    /// The wakes, of each job at most one; none when there is nothing.
    pub wakes: Vec<TakenWake>,
}

/// A wake on a lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TakenWake {
    /// The event, with everything that an answer needs.
    #[schemars(with = "form::ActionableEvent")]
    pub event: ActionableEvent,
    /// At which try it was taken: names the lease.
    pub attempt: u32,
    /// The end of its lease: until then it must be acknowledged, extended or given back, or it is handed out again.
    #[schemars(with = "form::Moment")]
    pub until: Timestamp,
}

/// `POST /events/{event_id}/extend`: the taker of a wake needs more time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extend {
    /// Which agent.
    pub agent: AgentName,
    /// At which try it was taken.
    pub attempt: u32,
}

/// 200 of `POST /events/{event_id}/extend`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Extended {
    /// The event.
    pub event_id: EventId,
    /// The agent.
    pub agent: AgentName,
    /// Until when it is held now.
    #[schemars(with = "form::Moment")]
    pub until: Timestamp,
}

/// `POST /events/{event_id}/return`: the taker of a wake could not handle it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GiveBack {
    /// Which agent.
    pub agent: AgentName,
    /// At which try it was taken.
    pub attempt: u32,
    /// Why, for people; at most [`WHY_BYTES_MAX`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = WHY_BYTES_MAX))]
    pub why: Option<String>,
    /// After how long it comes again, in seconds, at most [`RETRY_AFTER_SECONDS_MAX`]; as its schedule says without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = RETRY_AFTER_SECONDS_MAX))]
    pub retry_after_seconds: Option<u32>,
    /// Nothing was tried: it can be had again at once, and no try is counted.
    #[serde(default)]
    pub untried: bool,
}

/// 200 of `POST /events/{event_id}/return`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GivenBack {
    /// The event.
    pub event_id: EventId,
    /// The agent.
    pub agent: AgentName,
    /// When it comes again; none when that was the last try, and a person has to see it.
    #[schemars(with = "Option<form::Moment>")]
    pub comes_again: Option<Timestamp>,
}
