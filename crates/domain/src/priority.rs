//! Order of turns: higher priorities go first, and a long wait beats any priority.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// The highest priority.
pub const PRIORITY_MAX: u8 = 9;

/// No entry is skipped for more than this many intervals, as long as so many have room for all.
pub const INTERVALS_MAX: u32 = 3;

/// One interval of the queue for slots: about as long as one session of Jules works.
pub const START_INTERVAL: SignedDuration = SignedDuration::from_mins(20);

/// How much a job matters, from 0 to 9; 9 goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Priority(u8);

impl Priority {
    /// That of jobs which no person asked for.
    pub const BACKGROUND: Self = Self(2);
}

/// A number that is no priority.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a priority is a number from 0 to {PRIORITY_MAX}, and 9 goes first")]
pub struct InvalidPriority;

impl Priority {
    /// It as a number.
    pub fn level(self) -> u8 {
        self.0
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self(5)
    }
}

impl TryFrom<u8> for Priority {
    type Error = InvalidPriority;

    fn try_from(level: u8) -> Result<Self, InvalidPriority> {
        (level <= PRIORITY_MAX)
            .then_some(Self(level))
            .ok_or(InvalidPriority)
    }
}

impl From<Priority> for u8 {
    fn from(priority: Priority) -> Self {
        priority.0
    }
}

impl FromStr for Priority {
    type Err = InvalidPriority;

    fn from_str(text: &str) -> Result<Self, InvalidPriority> {
        text.parse::<u8>().map_err(|_| InvalidPriority)?.try_into()
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A job's place in the queue for a slot: the lowest place goes first.
///
/// A job rises by a third of the whole scale with each interval, so after [`INTERVALS_MAX`] no later job goes before
/// it.
/// One whose turn had come when Jules said "later" keeps its turn: `refused`.
pub fn start_place(
    priority: Priority,
    refused: bool,
    since: Timestamp,
    now: Timestamp,
) -> (Reverse<u32>, Timestamp) {
    let highest = u32::from(PRIORITY_MAX);
    let waited = now.duration_since(since).as_secs().max(0) / START_INTERVAL.as_secs();
    let intervals = u32::try_from(waited)
        .unwrap_or(INTERVALS_MAX)
        .min(INTERVALS_MAX);
    let risen = u32::from(priority.0) + intervals * highest / INTERVALS_MAX;
    let rank = if refused { highest } else { risen.min(highest) };
    (Reverse(rank), since)
}

/// One entry that asks for a read in this interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadCandidate {
    /// How much it matters.
    pub priority: Priority,
    /// How many intervals in a row it was skipped.
    pub passed_over: u32,
}

/// Which entries to read in this interval, as indexes into `waiting`, in the order to read them.
///
/// The room goes to the highest priorities, except for as much of it as keeps every wait within [`INTERVALS_MAX`].
/// When there is not enough room for that, the longest waits go first.
pub fn reads(waiting: &[ReadCandidate], room: usize) -> Vec<usize> {
    let mut longest: Vec<usize> = (0..waiting.len()).collect();
    longest.sort_by_key(|at| {
        (
            Reverse(waiting[*at].passed_over),
            Reverse(waiting[*at].priority),
        )
    });
    let must: BTreeSet<usize> = longest.into_iter().take(owed(waiting, room)).collect();
    let mut order: Vec<usize> = (0..waiting.len()).collect();
    order.sort_by_key(|at| {
        let ReadCandidate {
            priority,
            passed_over,
        } = waiting[*at];
        // Among those that must be read the longest wait goes first: there may be no room for all of them.
        let (first, second) = if must.contains(at) {
            (passed_over, u32::from(priority.0))
        } else {
            (u32::from(priority.0), passed_over)
        };
        (!must.contains(at), Reverse(first), Reverse(second))
    });
    order.truncate(room);
    order
}

/// How many must be read now: of those whose time runs out in so many intervals, as many as find no room in the later
/// ones.
fn owed(waiting: &[ReadCandidate], room: usize) -> usize {
    let owed = (0..INTERVALS_MAX).map(|later| {
        let up = |one: &&ReadCandidate| one.passed_over + later + 1 >= INTERVALS_MAX;
        let wanting = waiting.iter().filter(up).count();
        wanting.saturating_sub(room * later as usize)
    });
    owed.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::fixture::at;

    fn priority(level: u8) -> Priority {
        level.try_into().unwrap()
    }

    fn waiting(priorities: &[u8]) -> Vec<ReadCandidate> {
        let one = |level: &u8| ReadCandidate {
            priority: priority(*level),
            passed_over: 0,
        };
        priorities.iter().map(one).collect()
    }

    /// One interval: who was read is passed over no more.
    fn interval(all: &mut [ReadCandidate], room: usize) -> Vec<usize> {
        let read = reads(all, room);
        for (at, one) in all.iter_mut().enumerate() {
            one.passed_over = if read.contains(&at) {
                0
            } else {
                one.passed_over + 1
            };
        }
        read
    }

    #[test]
    fn a_priority_is_a_number_up_to_nine() {
        assert_eq!("9".parse(), Ok(priority(9)));
        for wrong in ["10", "-1", "", "high", "300"] {
            assert_eq!(wrong.parse::<Priority>(), Err(InvalidPriority), "{wrong}");
        }
        assert!(serde_json::from_str::<Priority>("10").is_err());
        assert_eq!(serde_json::to_string(&Priority::default()).unwrap(), "5");
    }

    #[test]
    fn higher_priorities_start_first_until_somebody_has_waited() {
        let now = at(10_000);
        let place = |level, waited| start_place(priority(level), false, at(10_000 - waited), now);
        let minutes = |count: i64| count * 60;
        assert!(place(9, 0) < place(5, 0));
        assert!(place(5, 10) < place(5, 0), "of equals the older");
        assert!(
            place(5, minutes(20)) < place(7, 0),
            "three levels an interval"
        );
        assert!(place(9, 0) < place(0, minutes(59)));
        assert!(place(0, minutes(60)) < place(9, 0));
        assert!(place(0, minutes(600)) < place(9, minutes(300)));
        let refused = start_place(priority(0), true, at(10_000), now);
        assert!(refused < place(8, 0));
        // Clocks of two machines differ.
        assert!(place(9, -100) < place(8, 0));
    }

    #[test]
    fn the_room_goes_to_the_highest_while_nobody_is_late() {
        let mut all = waiting(&[1, 9, 5, 9, 0, 5]);
        assert_eq!(interval(&mut all, 3), [1, 3, 2]);
        assert_eq!(interval(&mut all, 3), [1, 3, 5]);
        assert_eq!(interval(&mut all, 3), [0, 4, 1], "their third interval");
    }

    #[test]
    fn with_room_for_all_everybody_is_read() {
        let mut all = waiting(&[1, 9, 5]);
        assert_eq!(interval(&mut all, 3), [1, 2, 0]);
        assert_eq!(reads(&[], 3), [0_usize; 0]);
        assert_eq!(reads(&all, 0), [0_usize; 0]);
    }

    #[test]
    fn with_too_little_room_the_turns_go_round() {
        let mut all = waiting(&[9, 9, 9, 0, 0, 0, 0, 0]);
        let read: BTreeSet<usize> = (0..8).flat_map(|_| interval(&mut all, 1)).collect();
        assert_eq!(read.len(), 8);
    }

    proptest! {
        #[test]
        fn nobody_waits_longer_than_three_intervals(
            levels in proptest::collection::vec(0_u8..=9, 1..40),
            spare in 0_usize..4,
            intervals in 1_usize..30,
        ) {
            let room = levels.len().div_ceil(INTERVALS_MAX as usize) + spare;
            let mut all = waiting(&levels);
            for _ in 0..intervals {
                interval(&mut all, room);
                prop_assert!(all.iter().all(|one| one.passed_over < INTERVALS_MAX), "{all:?}");
            }
        }

        #[test]
        fn nobody_who_came_later_goes_before_one_who_waited_three_intervals(
            low in 0_u8..=9, high in 0_u8..=9, waited in 3_600_i64..100_000, later in 1_i64..100_000,
        ) {
            let now = at(200_000);
            let since = at(200_000 - waited);
            let low = start_place(priority(low), false, since, now);
            let high = start_place(priority(high), false, at(200_000 - waited + later), now);
            prop_assert!(low < high);
        }
    }
}
