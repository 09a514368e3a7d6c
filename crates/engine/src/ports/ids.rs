//! The only source of randomness: new ids.

use jiff::Timestamp;
use ulid::Ulid;

/// Makes ids. Production draws random ones, tests count.
pub trait Ids: Send + Sync {
    /// A new ULID of this moment.
    fn ulid(&self, now: Timestamp) -> Ulid;
}
