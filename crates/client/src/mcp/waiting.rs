//! `jules_wait_event`: an idle agent waits for the next event.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use super::answers::{EventSummary, WaitResult, to_value};
use super::arguments::{WaitEvent, read};
use super::tool_error::ToolError;
use crate::Client;
use crate::client::EventQuery;
use crate::wire::{EventPage, WAIT_SECONDS_MAX};

/// How long is waited at most, and when nothing else is asked for, in seconds: clients give up a call after a minute.
const SECONDS_MAX: u32 = 45;

/// How long is waited at least, in seconds.
const SECONDS_MIN: u32 = 1;

/// Maximum number of events in one answer: each contains all that its receiver needs.
const EVENTS_MAX: u32 = 5;

/// Interval of checks where the API does not long-poll, as on AWS.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Longest cursor, in bytes: the API's own are far shorter, and an address has little room.
const CURSOR_BYTES_MAX: usize = 1024;

/// A cursor that can be one of ours.
pub(super) fn cursor(given: Option<String>) -> Result<Option<String>, ToolError> {
    short("cursor", given)
}

/// The same under another name.
pub(super) fn short(field: &str, given: Option<String>) -> Result<Option<String>, ToolError> {
    if given.as_ref().is_some_and(|it| it.len() > CURSOR_BYTES_MAX) {
        let wrong = "it is longer than any cursor: give the one of the last call, or none";
        return Err(ToolError::argument(field, wrong));
    }
    Ok(given)
}

/// Waits for open events, and returns the next cursor whether any came or not. A caller that does not `wait` gets an
/// answer at once.
pub(super) async fn wait(client: &Client, given: Value, waits: bool) -> Result<Value, ToolError> {
    let wanted: WaitEvent = read(given)?;
    let seconds = wanted.seconds.unwrap_or(SECONDS_MAX);
    if !(SECONDS_MIN..=SECONDS_MAX).contains(&seconds) {
        let wrong = format!("is {seconds}, but has to be from {SECONDS_MIN} to {SECONDS_MAX}");
        return Err(ToolError::argument("seconds", wrong));
    }
    let seconds = if waits { seconds } else { 0 };
    let until = Instant::now() + Duration::from_secs(seconds.into());
    let mut asked = EventQuery {
        after: cursor(wanted.cursor)?,
        job: wanted.job_id,
        open: true,
        limit: EVENTS_MAX,
        wait_seconds: 0,
    };
    let mut asked_before = false;
    loop {
        let began = Instant::now();
        asked.wait_seconds =
            seconds_of(until.saturating_duration_since(began)).min(WAIT_SECONDS_MAX);
        let page = match client.events_after(&asked).await {
            Ok(page) => page,
            // One failed call must not make a waiting client begin anew.
            Err(_) if asked_before => {
                let cursor = asked.after.unwrap_or_default();
                let events = Vec::new();
                return to_value(WaitResult { events, cursor });
            }
            Err(error) => return Err(error.into()),
        };
        asked_before = true;
        if !page.events.is_empty() || Instant::now() >= until {
            return to_value(wait_result(page));
        }
        asked.after = Some(page.cursor);
        // An API without long polling is asked now and then.
        if began.elapsed() < Duration::from_secs(asked.wait_seconds.into())
            || asked.wait_seconds == 0
        {
            sleep_until(until.min(began + LOOK_AGAIN)).await;
        }
    }
}

/// The nearest whole second: what is left of one is slept through.
fn seconds_of(left: Duration) -> u32 {
    u32::try_from((left + Duration::from_millis(500)).as_secs()).unwrap_or(u32::MAX)
}

fn wait_result(page: EventPage) -> WaitResult {
    WaitResult {
        events: page.events.into_iter().map(EventSummary::from).collect(),
        cursor: page.cursor,
    }
}
