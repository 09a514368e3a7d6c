//! The toolset `inbox`: an agent without an address of its own takes its wakes on a lease, holds them, and gives them back.

use domain::ids::{AgentName, EventId};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answers::{AcknowledgedAnswer, EventSummary, to_value};
use super::arguments::{AckEvent, read};
use super::tool_error::ToolError;
use crate::Client;
use crate::wire::{self, GiveBack, TakeRequest, TakenWake, WAIT_SECONDS_MAX};

/// `jules_take_wakes`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Take {
    /// Whose inbox.
    agent: AgentName,
    /// 1 to 10; 1 without it.
    #[serde(default)]
    limit: Option<u32>,
    /// How long to wait for the first, 20 at most; not at all without it.
    #[serde(default)]
    seconds: Option<u32>,
}

/// `jules_extend_wake`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExtendArgs {
    event_id: EventId,
    agent: AgentName,
    /// As it was taken.
    attempt: u32,
}

/// `jules_return_wake`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Return {
    event_id: EventId,
    agent: AgentName,
    /// As it was taken.
    attempt: u32,
    /// Why, for people.
    #[serde(default)]
    why: Option<String>,
    /// When it comes again; by its schedule without it.
    #[serde(default)]
    retry_after_seconds: Option<u32>,
}

/// Wakes that were taken.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TakenAnswer {
    wakes: Vec<Wake>,
}

/// A wake on a lease.
#[derive(Debug, Serialize, JsonSchema)]
struct Wake {
    #[serde(flatten)]
    happened: EventSummary,
    attempt: u32,
    /// Until when it has to be acknowledged, extended or returned.
    #[schemars(with = "String")]
    until: Timestamp,
}

/// A lease that was made longer.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExtendedLease {
    event_id: String,
    #[schemars(with = "String")]
    until: Timestamp,
}

/// A wake that was given back.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Returned {
    event_id: String,
    /// None when that was the last try, and a person has to see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    comes_again: Option<Timestamp>,
}

/// `jules_ack_event`.
pub(super) async fn acknowledge(client: &Client, given: Value) -> Result<Value, ToolError> {
    let AckEvent { event_id, agent } = read(given)?;
    let done = client.acknowledge(&agent, &event_id).await?;
    to_value(AcknowledgedAnswer {
        event_id: done.event_id.to_string(),
    })
}

/// `jules_take_wakes`.
pub(super) async fn take(client: &Client, given: Value, waits: bool) -> Result<Value, ToolError> {
    let wanted: Take = read(given)?;
    let seconds = wanted.seconds.unwrap_or(0);
    if seconds > WAIT_SECONDS_MAX {
        let wrong = format!("is {seconds}, but has to be from 0 to {WAIT_SECONDS_MAX}");
        return Err(ToolError::argument("seconds", wrong));
    }
    let take = TakeRequest {
        limit: wanted.limit,
        wait_seconds: Some(seconds).filter(|_| waits),
    };
    let taken = client.take(&wanted.agent, &take).await?;
    to_value(TakenAnswer {
        wakes: taken.wakes.into_iter().map(Wake::from).collect(),
    })
}

/// `jules_extend_wake`.
pub(super) async fn extend(client: &Client, given: Value) -> Result<Value, ToolError> {
    let wanted: ExtendArgs = read(given)?;
    let extend = wire::Extend {
        agent: wanted.agent,
        attempt: wanted.attempt,
    };
    let held = client.extend(&wanted.event_id, &extend).await?;
    to_value(ExtendedLease {
        event_id: held.event_id.to_string(),
        until: held.until,
    })
}

/// `jules_return_wake`.
pub(super) async fn give_back(client: &Client, given: Value) -> Result<Value, ToolError> {
    let wanted: Return = read(given)?;
    let back = GiveBack {
        agent: wanted.agent,
        attempt: wanted.attempt,
        why: wanted.why,
        retry_after_seconds: wanted.retry_after_seconds,
        untried: false,
    };
    let given = client.give_back(&wanted.event_id, &back).await?;
    to_value(Returned {
        event_id: given.event_id.to_string(),
        comes_again: given.comes_again,
    })
}

impl From<TakenWake> for Wake {
    fn from(taken: TakenWake) -> Self {
        Self {
            happened: taken.event.into(),
            attempt: taken.attempt,
            until: taken.until,
        }
    }
}
