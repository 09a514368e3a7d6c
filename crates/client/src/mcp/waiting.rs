//! `jules_wait_event`: an agent that has nothing else to do waits for the next event, for as long as it likes to be gone.

use std::time::Duration;

use tokio::time::{Instant, interval};

use super::answers::{Happened, Waited};
use super::arguments::WaitEvent;
use super::calls::Failed;
use crate::Client;
use crate::client::EventsAsked;
use crate::wire::{EventPage, WAIT_SECONDS_MAX};

/// How long is waited when nothing else is asked for, in seconds: clients give up a call after a minute.
const SECONDS: u32 = 45;

/// How long is waited at most, in seconds.
const SECONDS_MAX: u32 = 600;

/// Most events that are told at once: what they need is in them.
const EVENTS_MAX: u32 = 5;

/// The wait between two looks where the door holds no answer open, as on AWS.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Longest cursor, in bytes: what the door makes is far shorter, and an address has little room.
const CURSOR_BYTES_MAX: usize = 1024;

/// A cursor that can be one of ours.
pub(super) fn cursor(given: Option<String>) -> Result<Option<String>, Failed> {
    if given.as_ref().is_some_and(|it| it.len() > CURSOR_BYTES_MAX) {
        let wrong = "it is longer than any cursor: give the one of the last call, or none";
        return Err(Failed::argument("cursor", wrong));
    }
    Ok(given)
}

/// Waits for events, and tells where to go on whether some came or not. Where nobody `waits` it only looks.
pub(super) async fn wait(door: &Client, wanted: WaitEvent, waits: bool) -> Result<Waited, Failed> {
    let seconds = wanted.seconds.unwrap_or(SECONDS);
    if seconds > SECONDS_MAX {
        let wrong = format!("is {seconds}, but has to be from 0 to {SECONDS_MAX}");
        return Err(Failed::argument("seconds", wrong));
    }
    let seconds = if waits { seconds } else { 0 };
    let until = Instant::now() + Duration::from_secs(seconds.into());
    let mut asked = EventsAsked {
        after: cursor(wanted.cursor)?,
        job: wanted.job_id,
        limit: EVENTS_MAX,
        wait_seconds: 0,
    };
    let mut asked_before = false;
    if asked.after.is_none() && asked.job.is_none() {
        asked.limit = 0;
        asked.after = Some(door.events_after(&asked).await?.cursor);
        asked.limit = EVENTS_MAX;
        asked_before = true;
    }
    let mut again = interval(LOOK_AGAIN);
    again.reset();
    loop {
        let began = Instant::now();
        let left = until.saturating_duration_since(began);
        asked.wait_seconds = seconds_of(left).min(WAIT_SECONDS_MAX);
        let page = match door.events_after(&asked).await {
            Ok(page) => page,
            // Whoever waited must not have to begin anew because of one call.
            Err(_) if asked_before => {
                let cursor = asked.after.unwrap_or_default();
                let events = Vec::new();
                return Ok(Waited { events, cursor });
            }
            Err(error) => return Err(error.into()),
        };
        asked_before = true;
        if !page.events.is_empty() || asked.wait_seconds == 0 {
            return Ok(told(page));
        }
        asked.after = Some(page.cursor);
        if began.elapsed() < LOOK_AGAIN {
            again.tick().await;
        }
    }
}

fn seconds_of(left: Duration) -> u32 {
    u32::try_from(left.as_secs()).unwrap_or(u32::MAX)
}

fn told(page: EventPage) -> Waited {
    Waited {
        events: page.events.into_iter().map(Happened::from).collect(),
        cursor: page.cursor,
    }
}
