//! The machine's clock.

use engine::ports::Clock;
use jiff::Timestamp;

/// Tells the time of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place where the machine's clock is read"
    )]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}
