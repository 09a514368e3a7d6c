//! Where somebody stands in the list of events, so that they go on from there and nothing is passed over.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};

use super::Event;
use crate::ids::EventId;
use crate::when::plus;

/// How much later than a younger event an older one may come to be listed: several hands write, and an index may lag behind them.
pub const OVERLAP: SignedDuration = SignedDuration::from_mins(2);

/// Most events that are remembered as told, so that those of the overlap are told once. Of a burst of more some are told twice.
const TOLD_MAX: usize = 64;

/// How a cursor begins: another form gets another number.
const FORM: &str = "e1";

/// How many digits of an event's id are remembered.
const DIGITS: usize = 8;

/// Everything up to a moment was told, and of the time just before it these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    at: Timestamp,
    told: VecDeque<String>,
}

/// A text is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not a cursor of ours: leave it out to begin anew")]
pub struct NoCursor;

impl Cursor {
    /// A cursor at a moment before which nothing was told.
    pub fn at(at: Timestamp) -> Self {
        Self {
            at,
            told: VecDeque::new(),
        }
    }

    /// The oldest moment that still has to be looked at.
    pub fn from(&self) -> Timestamp {
        plus(self.at, -OVERLAP)
    }

    /// Whether an event was not told yet.
    pub fn is_new(&self, event: &Event) -> bool {
        event.observed_at >= self.from() && !self.told.contains(&digits(&event.id))
    }

    /// The cursor after these were told, in order of observation.
    pub fn after<'a>(mut self, told: impl IntoIterator<Item = &'a Event>) -> Self {
        for event in told {
            self.at = self.at.max(event.observed_at);
            self.told.push_back(digits(&event.id));
        }
        let many = self.told.len().saturating_sub(TOLD_MAX);
        self.told.drain(..many);
        self
    }
}

fn digits(id: &EventId) -> String {
    let digits = id.as_str().trim_start_matches("evt_").chars();
    digits.take(DIGITS).collect()
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORM}.{}", self.at.as_nanosecond())?;
        self.told.iter().try_for_each(|told| write!(f, ".{told}"))
    }
}

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let mut parts = text.split('.');
        if parts.next() != Some(FORM) {
            return Err(NoCursor);
        }
        let at: i128 = parts
            .next()
            .and_then(|at| at.parse().ok())
            .ok_or(NoCursor)?;
        let at = Timestamp::from_nanosecond(at).map_err(|_| NoCursor)?;
        let is_digits =
            |part: &str| part.len() == DIGITS && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        let told: VecDeque<String> = parts.map(str::to_owned).collect();
        if told.len() > TOLD_MAX || !told.iter().all(|part| is_digits(part)) {
            return Err(NoCursor);
        }
        Ok(Self { at, told })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Audience, Occurrence};
    use crate::facts::fixture::at;

    fn event(n: u32, second: i64) -> Event {
        Event {
            id: EventId::of(&n.to_string()),
            job: None,
            account: "default".parse().unwrap(),
            attempt: 1,
            observed_at: at(second),
            status: String::new(),
            last_activity: None,
            what: Occurrence::Completed { pulls: Vec::new() },
            audience: Audience::Agent,
        }
    }

    #[test]
    fn each_event_is_told_once_also_one_that_comes_late() {
        let cursor = Cursor::at(at(0)).after(&[event(1, 10), event(2, 20)]);
        assert!(!cursor.is_new(&event(1, 10)) && !cursor.is_new(&event(2, 20)));
        // It was seen before the others and written after them.
        assert!(cursor.is_new(&event(3, 15)));
        assert!(cursor.is_new(&event(4, 20 - OVERLAP.as_secs())));
        assert!(!cursor.is_new(&event(5, 19 - OVERLAP.as_secs())));
        let again: Cursor = cursor.to_string().parse().unwrap();
        assert_eq!(again, cursor);
        let next = cursor.after(&[event(3, 15)]);
        assert!(!next.is_new(&event(3, 15)));
        assert_eq!(next.from(), at(20 - OVERLAP.as_secs()));
    }

    #[test]
    fn a_cursor_stays_small() {
        let burst: Vec<Event> = (0..1_000).map(|n| event(n, 1)).collect();
        let cursor = Cursor::at(at(0)).after(&burst);
        assert!(cursor.to_string().len() < 620, "{cursor}");
        assert!(!cursor.is_new(&event(999, 1)) && cursor.is_new(&event(1, 1)));
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        let many = format!("e1.1{}", ".01234567".repeat(65));
        for text in [
            "",
            "e1",
            "e1.",
            "e1.x",
            "e2.1",
            "e1.1.",
            "e1.1.0123456",
            "e1.1.0123456g",
            "e1.1.012345678",
            "e1.99999999999999999999999999999999",
            "E1.1",
            many.as_str(),
        ] {
            assert_eq!(text.parse::<Cursor>(), Err(NoCursor), "{text}");
        }
    }
}
