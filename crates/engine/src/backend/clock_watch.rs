//! The latest time that this process has seen, by which it notices that its clock was set back.

use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::clock_rollback::ahead_by;
use jiff::Timestamp;

/// What this process has seen of its clock.
#[derive(Debug, Default)]
pub(crate) struct ClockWatch(Mutex<ClockTimes>);

#[derive(Debug, Default)]
struct ClockTimes {
    /// The latest time.
    latest: Option<Timestamp>,
    /// Whether the store was compared with the clock since it was last set back.
    is_compared: bool,
}

impl ClockWatch {
    /// Sees the present; returns whether the store is still right by it.
    pub(crate) fn is_right(&self, now: Timestamp) -> bool {
        let mut seen = self.times();
        let before = seen.latest.unwrap_or(now);
        seen.is_compared &= ahead_by(before, now).is_none();
        if seen.is_compared {
            seen.latest = Some(now);
        }
        seen.is_compared
    }

    /// The store was compared with the clock.
    pub(crate) fn compared(&self, now: Timestamp) {
        *self.times() = ClockTimes {
            latest: Some(now),
            is_compared: true,
        };
    }

    /// Notes a commit. A decision from before the clock was set back does not count: it would move everything back
    /// again.
    pub(crate) fn note(&self, now: Timestamp) {
        let mut seen = self.times();
        seen.latest = seen.latest.max(Some(now));
    }

    /// The latest time.
    pub(crate) fn latest(&self) -> Option<Timestamp> {
        self.times().latest
    }

    fn times(&self) -> MutexGuard<'_, ClockTimes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
