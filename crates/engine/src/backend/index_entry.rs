//! The place of a record in the indexes of the store.

use jiff::{SignedDuration, Timestamp};

use crate::ports::ListKey;
use crate::retention;

/// Where a record is indexed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexEntry {
    /// When it is due.
    pub due: Option<Timestamp>,
    /// The list it is in.
    pub list: Option<ListKey>,
    /// After when it may be forgotten.
    pub forget: Option<Timestamp>,
}

impl IndexEntry {
    /// Due at a time, in no list.
    pub fn due(due: Option<Timestamp>) -> Self {
        Self {
            due,
            ..Self::default()
        }
    }

    /// In no index, to expire this long after a time: see [`crate::retention`].
    pub fn until(settled: Timestamp, kept: SignedDuration) -> Self {
        Self {
            forget: retention::after(settled, kept),
            ..Self::default()
        }
    }
}
