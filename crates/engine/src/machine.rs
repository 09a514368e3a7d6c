//! Time and ids of the machine that this runs on.

use jiff::Timestamp;
use ulid::Ulid;

use crate::ports::{Clock, Ids};

/// The machine's clock.
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

/// Draws random ids.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn ulid(&self, now: Timestamp) -> Ulid {
        let millis = u64::try_from(now.as_millisecond()).unwrap_or(0);
        Ulid::from_parts(millis, rand::random())
    }
}
