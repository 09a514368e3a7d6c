//! A reader's position in the list of events, so that it continues without gaps.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};

use super::Event;
use crate::when::plus;

/// How much later than a younger event an older one may appear in the list: several processes write, and an index may lag behind them.
pub const OVERLAP: SignedDuration = SignedDuration::from_mins(2);

/// Maximum number of delivered events that the cursor lists. In a larger burst within the overlap, late events are
/// skipped.
const SEEN_EVENTS_MAX: usize = 64;

/// How a cursor begins: another form gets another number.
const FORM: &str = "e1";

/// How many digits of an event's id the cursor keeps.
const DIGITS: usize = 8;

/// The reader has everything up to a moment, and these events of the time just before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventCursor {
    at: Timestamp,
    /// Everything up to here counts as delivered, even what arrives late.
    floor: Option<EventPosition>,
    told: BTreeSet<EventPosition>,
}

/// An event's place among the others: its time, and the beginning of its id.
type EventPosition = (Timestamp, String);

/// A text is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not a cursor of ours: leave it out to begin anew")]
pub struct InvalidEventCursor;

impl EventCursor {
    /// A cursor at a moment before which nothing was delivered.
    pub fn at(at: Timestamp) -> Self {
        Self {
            at,
            floor: None,
            told: BTreeSet::new(),
        }
    }

    /// The oldest moment that the reader still has to query.
    pub fn from(&self) -> Timestamp {
        let from = plus(self.at, -OVERLAP);
        self.floor
            .as_ref()
            .map_or(from, |(floor, _)| from.max(*floor))
    }

    /// Whether the event was not delivered yet.
    pub fn is_new(&self, event: &Event) -> bool {
        let place = place(event);
        let is_above = self.floor.as_ref().is_none_or(|floor| place > *floor);
        is_above && event.observed_at >= self.from() && !self.told.contains(&place)
    }

    /// The cursor after a page. It never passes the present, whatever the clocks of the recorders said.
    pub fn after<'a>(mut self, told: impl IntoIterator<Item = &'a Event>, now: Timestamp) -> Self {
        for event in told {
            self.at = self.at.max(event.observed_at.min(now));
            self.told.insert(place(event));
        }
        let from = self.from();
        self.told.retain(|(at, _)| *at >= from);
        while self.told.len() > SEEN_EVENTS_MAX {
            let dropped = self.told.pop_first();
            self.floor = dropped.max(self.floor);
        }
        self
    }
}

fn place(event: &Event) -> EventPosition {
    let digits = event.id.as_str().trim_start_matches("evt_").chars();
    (event.observed_at, digits.take(DIGITS).collect())
}

/// A place as text: how its id begins, and how far it is from a moment, in nanoseconds.
fn written((at, digits): &EventPosition, from: Timestamp) -> String {
    let offset = at.as_nanosecond() - from.as_nanosecond();
    format!("{digits}_{offset}")
}

fn read(text: &str, from: Timestamp) -> Option<EventPosition> {
    let (digits, offset) = text.split_once('_')?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let offset: i64 = offset.parse().ok()?;
    let at = from.as_nanosecond() + i128::from(offset);
    let at = Timestamp::from_nanosecond(at).ok()?;
    (is_hex && digits.len() == DIGITS).then(|| (at, digits.to_owned()))
}

impl fmt::Display for EventCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORM}.{}", self.at.as_nanosecond())?;
        let floor = self.floor.as_ref().map(|floor| written(floor, self.at));
        write!(f, ".{}", floor.unwrap_or_default())?;
        let mut told = self.told.iter();
        told.try_for_each(|told| write!(f, ".{}", written(told, self.at)))
    }
}

impl FromStr for EventCursor {
    type Err = InvalidEventCursor;

    fn from_str(text: &str) -> Result<Self, InvalidEventCursor> {
        let mut parts = text.split('.');
        if parts.next() != Some(FORM) {
            return Err(InvalidEventCursor);
        }
        let at: i128 = parts
            .next()
            .and_then(|at| at.parse().ok())
            .ok_or(InvalidEventCursor)?;
        let at = Timestamp::from_nanosecond(at).map_err(|_| InvalidEventCursor)?;
        let floor = match parts.next() {
            None => return Err(InvalidEventCursor),
            Some("") => None,
            Some(floor) => Some(read(floor, at).ok_or(InvalidEventCursor)?),
        };
        let told: Option<BTreeSet<EventPosition>> = parts.map(|part| read(part, at)).collect();
        let told = told
            .filter(|told| told.len() <= SEEN_EVENTS_MAX)
            .ok_or(InvalidEventCursor)?;
        Ok(Self { at, floor, told })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Occurrence;
    use crate::facts::fixture::at;
    use crate::ids::EventId;

    fn event(n: u32, second: i64) -> Event {
        Event {
            attempt: 1,
            ..Event::new(
                EventId::from_name(&n.to_string()),
                "default".parse().unwrap(),
                at(second),
                Occurrence::Completed { pulls: Vec::new() },
            )
        }
    }

    #[test]
    fn each_event_is_told_once_also_one_that_comes_late() {
        let now = at(1_000);
        let cursor = EventCursor::at(at(0)).after(&[event(1, 10), event(2, 20)], now);
        assert!(!cursor.is_new(&event(1, 10)) && !cursor.is_new(&event(2, 20)));
        // It was seen before the others and written after them.
        assert!(cursor.is_new(&event(3, 15)));
        assert!(cursor.is_new(&event(4, 20 - OVERLAP.as_secs())));
        assert!(!cursor.is_new(&event(5, 19 - OVERLAP.as_secs())));
        let again: EventCursor = cursor.to_string().parse().unwrap();
        assert_eq!(again, cursor);
        let next = cursor.after(&[event(3, 15)], now);
        assert!(!next.is_new(&event(3, 15)));
        assert_eq!(next.from(), at(20 - OVERLAP.as_secs()));
        // What is long over is not carried along.
        let later = next.after(&[event(6, 500)], now).to_string();
        assert_eq!(later.matches('_').count(), 1, "{later}");
    }

    #[test]
    fn a_burst_is_told_to_its_end_and_the_cursor_stays_small() {
        let mut burst: Vec<Event> = (0..500).map(|n| event(n, i64::from(n) / 100)).collect();
        burst.sort_by(|a, b| (a.observed_at, &a.id).cmp(&(b.observed_at, &b.id)));
        for limit in [1, 5, 20, 100] {
            let (mut cursor, mut told) = (EventCursor::at(at(0)), Vec::new());
            loop {
                let new = burst.iter().filter(|event| cursor.is_new(event));
                let page: Vec<Event> = new.take(limit).cloned().collect();
                if page.is_empty() {
                    break;
                }
                cursor = cursor.after(&page, at(1_000));
                cursor = cursor.to_string().parse().unwrap();
                assert!(cursor.to_string().len() < 1_500, "{cursor}");
                told.extend(page);
            }
            assert_eq!(told, burst, "{limit}");
        }
    }

    #[test]
    fn a_clock_that_is_ahead_hides_nothing() {
        let cursor = EventCursor::at(at(0)).after(&[event(1, 9_000)], at(10));
        assert!(!cursor.is_new(&event(1, 9_000)));
        assert!(cursor.is_new(&event(2, 11)));
        let again: EventCursor = cursor.to_string().parse().unwrap();
        assert_eq!(again, cursor);
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        let wrong = [
            "",
            "e1",
            "e1.",
            "e1.1",
            "e1.x.",
            "e2.1.",
            "e1.1..",
            "e1.1..0123456_1",
            "e1.1..0123456g_1",
            "e1.1..01234567",
            "e1.1..01234567_x",
            "e1.1.x",
            "e1.99999999999999999999999999999999.",
            "E1.1.",
        ];
        for text in wrong {
            assert_eq!(
                text.parse::<EventCursor>(),
                Err(InvalidEventCursor),
                "{text}"
            );
        }
        let places: Vec<String> = (0..65).map(|n| format!(".01234567_{n}")).collect();
        let many = format!("e1.1.{}", places.concat());
        assert_eq!(many.parse::<EventCursor>(), Err(InvalidEventCursor));
    }
}
