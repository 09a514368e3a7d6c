//! A clock that stands still until a test moves it.

use std::sync::{Mutex, PoisonError};

use engine::ports::Clock;
use jiff::{SignedDuration, Timestamp};

/// Returns the time that was set.
#[derive(Debug)]
pub struct FakeClock {
    now: Mutex<Timestamp>,
}

impl FakeClock {
    /// A clock that shows this time.
    pub fn at(now: Timestamp) -> Self {
        Self {
            now: Mutex::new(now),
        }
    }

    /// Shows another time; it may be earlier.
    pub fn set(&self, now: Timestamp) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// Moves the time forward, or back by a negative duration.
    pub fn advance(&self, by: SignedDuration) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        *now = now.saturating_add(by).unwrap_or(*now);
    }
}

impl Default for FakeClock {
    /// An ordinary moment, with nanoseconds that rounding would lose: 2026-03-01T09:00:00.123456789Z.
    fn default() -> Self {
        Self::at(Timestamp::constant(1_772_355_600, 123_456_789))
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
