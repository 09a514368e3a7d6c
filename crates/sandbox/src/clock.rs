//! The clock that everything in the sandbox is a function of, and a hand-moved one for tests.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

/// Returns the time; passed in, so that a test can move it.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The machine's own clock, for the demo.
#[must_use]
pub fn system() -> Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the sandbox stands for outside services, which have clocks of their own"
    )]
    Arc::new(Timestamp::now)
}

/// A clock that moves only when it is set.
#[derive(Clone, Debug)]
pub struct ManualClock {
    now: Arc<Mutex<Timestamp>>,
}

impl ManualClock {
    /// A clock set to `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self {
            now: Arc::new(Mutex::new(start)),
        }
    }

    /// The time it shows.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves it forward (or back, when `by` is negative); it stops at the ends of time.
    pub fn advance(&self, by: SignedDuration) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        *now = now.saturating_add(by).unwrap_or(*now);
    }

    /// The same clock in the shape that options take.
    #[must_use]
    pub fn clock(&self) -> Clock {
        let this = self.clone();
        Arc::new(move || this.now())
    }
}

/// `at` moved by `by`, stopping at the ends of time instead of failing.
pub(crate) fn plus(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_add(by).unwrap_or(at)
}
