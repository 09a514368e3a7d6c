//! The only source of time.

use jiff::Timestamp;

/// Returns the time. Production reads the machine's clock, tests set it.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}
