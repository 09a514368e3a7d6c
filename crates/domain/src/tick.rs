//! The chain of ticks where no process runs all the time: of several chains exactly one lives, whatever happens to their messages.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// How often the schedule calls. What is due later than that needs no message of its own.
pub const SCHEDULE_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// The shortest wait from one tick to the next.
pub const TICK_EVERY: SignedDuration = SignedDuration::from_secs(10);

/// How long one tick may take; until then no other chain begins.
pub const TICK_WITHIN: SignedDuration = SignedDuration::from_secs(50);

/// A message may come this much late before its chain counts as broken: queues delay to the second, and a function may have to start.
pub const LATE: SignedDuration = SignedDuration::from_secs(15);

/// How long a row waits for a poll that comes anyway: each tick costs as much as handling a row.
pub const PATIENCE: SignedDuration = SignedDuration::from_secs(15);

/// Who may tick next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Counts every tick that was begun; a message names the one that it continues.
    #[serde(rename = "gen")]
    pub generation: u64,
    /// The latest time of the chain's next tick; `None` while only the schedule ticks.
    pub next_at: Option<Timestamp>,
    /// When the last tick was begun; none before the first.
    pub at: Option<Timestamp>,
}

/// Who asks for a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "tick")]
pub enum TickTrigger {
    /// The schedule, which comes whether or not anything is due.
    Schedule,
    /// The message that a tick left for the next one.
    Next {
        /// The tick that left it.
        #[serde(rename = "gen")]
        generation: u64,
        /// The version of the lease's row after it: while it is unchanged no other chain has begun.
        version: u64,
    },
}

/// Whether a chain is broken: its message is late, or a clock that was ahead set it later than any chain continues.
fn is_broken(next_at: Timestamp, now: Timestamp) -> bool {
    now > next_at + LATE || next_at > now + SCHEDULE_EVERY + LATE
}

/// The lease of a schedule that may tick now; `None` while a chain lives.
pub fn begin(lease: &Lease, now: Timestamp) -> Option<Lease> {
    let may = lease.next_at.is_none_or(|at| is_broken(at, now));
    may.then(|| continued(lease.generation, now))
}

/// The lease after this tick, while no other tick has followed.
pub fn continued(generation: u64, now: Timestamp) -> Lease {
    Lease {
        generation: generation.saturating_add(1),
        next_at: Some(now + TICK_WITHIN),
        at: Some(now),
    }
}

/// The chain's next work, as known at the end of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextTick {
    /// The tick passed rows on, and their handlers may make anything due.
    Soon,
    /// The earliest due row; `None` if there is none.
    Due(Option<Timestamp>),
}

/// The next due time, over rows and polls.
pub fn together(row: Option<Timestamp>, poll: Option<Timestamp>) -> Option<Timestamp> {
    match (row, poll) {
        (Some(row), Some(poll)) if poll <= row || poll.duration_since(row) <= PATIENCE => {
            Some(poll)
        }
        (Some(row), _) => Some(row),
        (None, poll) => poll,
    }
}

/// When another tick follows one that passed rows on: their handlers may make anything due, which an imminent tick
/// finds anyway.
pub fn after_passing_on(next: Option<Timestamp>, now: Timestamp) -> NextTick {
    match next {
        Some(next) if next < now + TICK_WITHIN => NextTick::Due(Some(next)),
        Some(_) | None => NextTick::Soon,
    }
}

/// Whether something is due before the next scheduled tick: nothing else needs a tick.
pub fn is_soon(due: Option<Timestamp>, now: Timestamp) -> bool {
    due.is_some_and(|due| due < now + SCHEDULE_EVERY)
}

/// What a tick leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TickEnd {
    /// The lease, if it must be written again: the present one is enough when the chain continues soon.
    pub lease: Option<Lease>,
    /// Delay of the message that continues the chain. `None` when the schedule comes early enough.
    pub wait: Option<SignedDuration>,
}

/// How a tick ends that was begun with this lease.
pub fn end(begun: &Lease, next: NextTick, now: Timestamp) -> TickEnd {
    let due = match next {
        NextTick::Soon => Some(now),
        NextTick::Due(at) => at,
    };
    let wait = due
        .filter(|due| is_soon(Some(*due), now))
        .map(|due| due.duration_since(now).max(TICK_EVERY));
    let next_at = wait.map(|wait| now + wait);
    let is_covered = begun
        .next_at
        .zip(next_at)
        .is_some_and(|(at, next)| next <= at);
    let lease = Lease {
        generation: begun.generation,
        next_at,
        at: begun.at,
    };
    TickEnd {
        lease: (!is_covered).then_some(lease),
        wait,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::fixture::at;

    /// A chain whose last tick ended at second 0, with something due at second 5.
    fn chain() -> Lease {
        let begun = begin(&Lease::default(), at(0)).unwrap();
        let left = end(&begun, NextTick::Due(Some(at(5))), at(0));
        assert_eq!(left.wait, Some(TICK_EVERY));
        // The second 10 need not be written: until second 50 no other chain begins.
        assert_eq!(left.lease, None);
        begun
    }

    #[test]
    fn the_schedule_leaves_a_living_chain_alone_and_replaces_a_broken_one() {
        let lease = chain();
        // Nor does the schedule interrupt a tick that takes long.
        assert_eq!(begin(&lease, at(50 + 15)), None);
        let replaced = begin(&lease, at(50 + 16)).unwrap();
        assert_eq!(replaced.generation, lease.generation + 1);
        // A clock that was an hour ahead began the chain.
        let ahead = continued(0, at(3600));
        assert!(begin(&ahead, at(0)).is_some());
    }

    #[test]
    fn what_is_due_later_is_left_to_the_schedule() {
        let lease = chain();
        let wait = |due: Option<i64>| end(&lease, NextTick::Due(due.map(at)), at(100)).wait;
        assert_eq!(wait(None), None);
        assert_eq!(wait(Some(160)), None);
        assert_eq!(wait(Some(159)), Some(SignedDuration::from_secs(59)));
        assert_eq!(wait(Some(50)), Some(TICK_EVERY));
        let rests = end(&lease, NextTick::Due(None), at(100)).lease.unwrap();
        assert_eq!(rests.next_at, None);
        assert!(begin(&rests, at(101)).is_some());
        assert!(is_soon(Some(at(159)), at(100)) && is_soon(Some(at(50)), at(100)));
        assert!(!is_soon(Some(at(160)), at(100)) && !is_soon(None, at(100)));
    }

    #[test]
    fn a_long_wait_is_written_down() {
        let begun = begin(&Lease::default(), at(0)).unwrap();
        let left = end(&begun, NextTick::Due(Some(at(50))), at(2));
        assert_eq!(
            (left.lease, left.wait),
            (None, Some(SignedDuration::from_secs(48)))
        );
        let left = end(&begun, NextTick::Due(Some(at(51))), at(2));
        let lease = left.lease.unwrap();
        assert_eq!(
            (lease.generation, lease.next_at),
            (begun.generation, Some(at(51)))
        );
    }

    #[test]
    fn a_row_waits_a_moment_for_a_poll() {
        let next = |row: Option<i64>, poll: Option<i64>| together(row.map(at), poll.map(at));
        assert_eq!(next(Some(5), Some(20)), Some(at(20)));
        assert_eq!(next(Some(4), Some(20)), Some(at(4)));
        assert_eq!(next(Some(30), Some(20)), Some(at(20)));
        assert_eq!(
            (next(Some(5), None), next(None, Some(7))),
            (Some(at(5)), Some(at(7)))
        );
        assert_eq!(next(None, None), None);
    }

    #[test]
    fn what_was_passed_on_is_followed_by_another_tick() {
        for (next, expected) in [
            (None, NextTick::Soon),
            (Some(at(50)), NextTick::Soon),
            (Some(at(49)), NextTick::Due(Some(at(49)))),
        ] {
            assert_eq!(after_passing_on(next, at(0)), expected);
        }
        let left = end(&chain(), NextTick::Soon, at(30));
        assert_eq!((left.lease, left.wait), (None, Some(TICK_EVERY)));
    }

    #[test]
    fn a_call_is_written_as_its_message_is() {
        let written = r#"{"tick":"next","gen":7,"version":9}"#;
        let call = TickTrigger::Next {
            generation: 7,
            version: 9,
        };
        assert_eq!(serde_json::to_string(&call).unwrap(), written);
        assert_eq!(serde_json::from_str::<TickTrigger>(written).unwrap(), call);
    }
}
