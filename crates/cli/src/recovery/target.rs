//! The store that an import fills.

use std::sync::Arc;

use engine::ports::{Queue, Record, Records};

/// Number of records that are read to determine whether the store is in use: more than a first start leaves there.
pub(crate) const LOOK_AT: usize = 5;

/// A store to be filled.
pub(crate) struct Target {
    /// The store.
    pub(crate) records: Arc<dyn Records>,
    /// The queue that goes with it.
    pub(crate) queue: Arc<dyn Queue>,
    /// A few of its records.
    pub(crate) some: Vec<Record>,
    /// Where it is, for people.
    pub(crate) place: String,
}
