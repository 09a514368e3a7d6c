//! Gaffer's clock, which may be wrong by that of the sandbox.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use engine::ports::Clock;
use jiff::{SignedDuration, Timestamp};
use sandbox::ManualClock;

/// By how much Gaffer's clock is ahead, in whole seconds. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Drift(Arc<AtomicI64>);

impl Drift {
    /// Sets Gaffer's clock ahead by so much, or right.
    pub fn be_ahead(&self, by: SignedDuration) {
        self.0.store(by.as_secs(), Ordering::Relaxed);
    }
}

/// The sandbox's clock as the engine's port.
pub(super) struct SharedClock(pub(super) ManualClock, pub(super) Drift);

impl Clock for SharedClock {
    fn now(&self) -> Timestamp {
        self.0.now() + SignedDuration::from_secs(self.1.0.load(Ordering::Relaxed))
    }
}
