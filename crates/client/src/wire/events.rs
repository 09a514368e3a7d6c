//! Events after a cursor.

use domain::wake::ActionableEvent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form;

/// Default number of events in an answer.
pub const EVENTS_LIMIT: u32 = 20;

/// Maximum number of events in an answer.
pub const EVENTS_LIMIT_MAX: u32 = 100;

/// `GET /events?after=&job=&open=&limit=&wait_seconds=`: events after a cursor, or the newest ones, the oldest first.
///
/// Without `after` and with `limit=0` it returns only the present cursor. A cursor is valid for the same `job`, or
/// for all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventPage {
    /// The events, as agents get them.
    #[schemars(with = "Vec<form::ActionableEvent>")]
    pub events: Vec<ActionableEvent>,
    /// The cursor of this answer: `after` of the next request.
    pub cursor: String,
    /// Whether there are more of them now.
    pub more: bool,
}
