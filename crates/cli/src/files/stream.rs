//! Events from a cursor to the newest, however many there are.

use anyhow::{Context, Result};
use domain::event::{Event, EventCursor};
use domain::wake::{ActionableEvent, message};
use engine::backend::{Backend, Error as BackendError};
use engine::events::{EVENTS_MAX, EventList, EventQuery};
use engine::ports::PageToken;
use jiff::Timestamp;

/// Events as agents get them, and the cursor after them.
pub(super) struct EventBatch {
    /// The events, the oldest first.
    pub(super) events: Vec<ActionableEvent>,
    /// The cursor after them.
    pub(super) cursor: EventCursor,
    /// Whether there may be more of them now.
    pub(super) more: bool,
}

/// A reader with its cursor.
pub(super) struct Stream<'a> {
    backend: &'a Backend,
    cursor: Option<EventCursor>,
    /// The state of a pass over everything from the first event on.
    walk: Walk,
}

enum Walk {
    /// The pass has not begun.
    Whole,
    /// From here on.
    On(PageToken),
    /// What is new is asked for.
    Over,
}

impl<'a> Stream<'a> {
    /// From a place on; without one from the first event on.
    pub(super) fn from(backend: &'a Backend, cursor: Option<EventCursor>) -> Self {
        let walk = match cursor {
            Some(_) => Walk::Over,
            None => Walk::Whole,
        };
        Self {
            backend,
            cursor,
            walk,
        }
    }

    /// The next page.
    pub(super) async fn next(&mut self) -> Result<EventBatch> {
        let doing = "reading the events";
        if matches!(self.walk, Walk::Over) {
            let asked = EventQuery {
                after: self.cursor.clone(),
                open: false,
                job: None,
                delivery: None,
                persona: None,
                limit: EVENTS_MAX,
            };
            match self.backend.events_after(&asked).await {
                Ok(listed) => return Ok(self.batch(listed)),
                // A reader that was away for so long goes through all of them once.
                Err(BackendError::NotNow(not_now)) if not_now.code == "cursor_too_old" => {
                    self.walk = Walk::Whole;
                }
                Err(error) => return Err(error).context(doing),
            }
        }
        let after = match std::mem::replace(&mut self.walk, Walk::Over) {
            Walk::On(after) => Some(after),
            Walk::Whole | Walk::Over => None,
        };
        let (events, next) = self.backend.all_events(after).await.context(doing)?;
        let before = self.cursor.clone();
        let is_new = |(event, _): &(Event, Option<String>)| {
            before.as_ref().is_none_or(|cursor| cursor.is_new(event))
        };
        let events: Vec<_> = events.into_iter().filter(is_new).collect();
        let more = next.is_some();
        self.walk = next.map_or(Walk::Over, Walk::On);
        let start = before.unwrap_or_else(|| EventCursor::at(Timestamp::MIN));
        let seen = events.iter().map(|(event, _)| event);
        let cursor = start.after(seen, self.backend.now());
        Ok(self.batch(EventList {
            events,
            cursor,
            more,
        }))
    }

    fn batch(&mut self, listed: EventList) -> EventBatch {
        self.cursor = Some(listed.cursor.clone());
        let events = listed.events.iter();
        EventBatch {
            events: events
                .map(|(event, repo)| message(event, repo.as_deref()))
                .collect(),
            cursor: listed.cursor,
            more: listed.more,
        }
    }
}
