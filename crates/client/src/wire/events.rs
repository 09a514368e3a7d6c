//! Events, from where the asker stands.

use domain::wake::ActionableEvent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form;

/// How many events are told when nothing else is asked for.
pub const EVENTS_LIMIT: u32 = 20;

/// How many events are told at most.
pub const EVENTS_LIMIT_MAX: u32 = 100;

/// `GET /events?after=&job=&open=&limit=&wait_seconds=`: events after a cursor, or the newest ones, the oldest first.
///
/// Without `after` and with `limit=0` only where one stands now. A cursor is for the same `job`, or for all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventPage {
    /// The events, as agents get them.
    #[schemars(with = "Vec<form::ActionableEvent>")]
    pub events: Vec<ActionableEvent>,
    /// Where the asker stands now: goes into `after` of the next request.
    pub cursor: String,
    /// Whether there are more of them now.
    pub more: bool,
}
