//! The only source of time.

use jiff::Timestamp;

/// Tells the time. Production reads the machine's clock, tests set it.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}
