//! The queue of pull requests that are ready to merge into one branch: one has its turn, the others wait unread.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::clock_rollback;
use crate::ids::PullRef;
use crate::when::plus;

/// Maximum length of a turn, so that a pull request that cannot be merged after all does not hold up the others.
pub const LANE_HOLD: SignedDuration = SignedDuration::from_secs(120);

/// Maximum length of the queue: further pull requests check by themselves whether the lane is free.
const WAITING_MAX: usize = 500;

/// Whose turn it is to merge into one branch, and who comes next. It keeps order; safety is the judgement and the SHA.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    /// Whose turn it is.
    pub holder: PullRef,
    /// When the turn ends, should the holder never give it back.
    pub until: Timestamp,
    /// Who waits, first come first served.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<PullRef>,
}

impl Lane {
    /// The lane once a pull request asks for its turn: it gets it if the lane is free, its own, or held too long; else it queues.
    pub fn enter(lane: Option<&Self>, pull: &PullRef, now: Timestamp) -> Self {
        let mut waiting = lane.map(|lane| lane.waiting.clone()).unwrap_or_default();
        let held = lane.filter(|lane| !lane.is_open_to(pull, now));
        let Some(held) = held else {
            waiting.retain(|other| other != pull);
            return Self {
                holder: pull.clone(),
                until: plus(now, LANE_HOLD),
                waiting,
            };
        };
        if !waiting.contains(pull) && waiting.len() < WAITING_MAX {
            waiting.push(pull.clone());
        }
        Self {
            waiting,
            ..held.clone()
        }
    }

    /// The lane once a pull request has left it: the next one has its turn. `None` when none waits.
    pub fn leave(&self, pull: &PullRef, now: Timestamp) -> Option<Self> {
        let mut waiting = self.waiting.clone();
        waiting.retain(|other| other != pull);
        if self.holder != *pull {
            return Some(Self {
                waiting,
                ..self.clone()
            });
        }
        if waiting.is_empty() {
            return None;
        }
        let holder = waiting.remove(0);
        Some(Self {
            holder,
            until: plus(now, LANE_HOLD),
            waiting,
        })
    }

    /// Whether it is, or may become, the turn of a pull request.
    pub fn is_open_to(&self, pull: &PullRef, now: Timestamp) -> bool {
        // A turn that ends later than any begun now was taken by a clock that ran ahead; the clocks of two machines may differ a little.
        self.holder == *pull
            || now >= self.until
            || plus(now, LANE_HOLD + clock_rollback::TOLERANCE) < self.until
    }

    /// How many are merged before a pull request; `None` when it does not queue.
    pub fn ahead_of(&self, pull: &PullRef) -> Option<usize> {
        self.waiting
            .iter()
            .position(|other| other == pull)
            .map(|place| place + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::fixture::at;

    fn pull(number: u64) -> PullRef {
        format!("acme/shop#{number}").parse().unwrap()
    }

    fn filled() -> Lane {
        let mut lane = Lane::enter(None, &pull(1), at(0));
        for number in [2, 3, 2] {
            lane = Lane::enter(Some(&lane), &pull(number), at(1));
        }
        lane
    }

    #[test]
    fn turns_go_to_those_who_wait_in_their_order() {
        let lane = filled();
        assert_eq!(
            (&lane.holder, &lane.waiting),
            (&pull(1), &vec![pull(2), pull(3)])
        );
        assert_eq!(
            (lane.ahead_of(&pull(1)), lane.ahead_of(&pull(3))),
            (None, Some(2))
        );
        let next = lane.leave(&pull(1), at(5)).unwrap();
        assert_eq!((&next.holder, next.until), (&pull(2), at(125)));
        let last = next.leave(&pull(2), at(6)).unwrap();
        assert_eq!(
            (&last.holder, last.leave(&pull(3), at(7))),
            (&pull(3), None)
        );
    }

    #[test]
    fn who_leaves_the_line_changes_nobody_elses_turn() {
        let lane = filled();
        let left = lane.leave(&pull(2), at(5)).unwrap();
        assert_eq!(
            (left.holder, left.until, left.waiting),
            (pull(1), at(120), vec![pull(3)])
        );
    }

    #[test]
    fn a_turn_ends_by_itself_and_is_renewed_by_its_holder_only() {
        let lane = filled();
        assert!(!lane.is_open_to(&pull(3), at(119)));
        let mine = Lane::enter(Some(&lane), &pull(1), at(60));
        assert_eq!((mine.until, mine.waiting.len()), (at(180), 2));
        let taken = Lane::enter(Some(&lane), &pull(3), at(120));
        assert_eq!((taken.holder, taken.waiting), (pull(3), vec![pull(2)]));
        // The clock was set back by an hour.
        assert!(lane.is_open_to(&pull(3), at(-3_600)));
    }

    #[test]
    fn a_turn_of_a_clock_a_little_ahead_is_kept_and_of_one_far_ahead_is_not() {
        let lane = Lane::enter(None, &pull(1), at(60));
        assert!(!lane.is_open_to(&pull(2), at(0)));
        assert!(!lane.is_open_to(&pull(2), at(57)));
        let lane = Lane::enter(None, &pull(1), at(3_600));
        assert!(lane.is_open_to(&pull(2), at(0)));
    }
}
