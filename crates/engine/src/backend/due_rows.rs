//! Rows that keep their due time in the index.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::ports::{Key, Write};

/// A move in the index of times is charged as two more writes. A row that is due a little too early keeps its time:
/// the poller moves it later, once for many writes.
pub(super) fn keep_due_rows(
    write: &mut Write,
    standing: &BTreeMap<Key, Timestamp>,
    now: Timestamp,
) {
    let Write::Put { record, .. } = write else {
        return;
    };
    let stands = standing.get(&record.key).copied();
    record.due = due_after_write(stands, record.due, now);
}

/// The due time of a row after a write, for a row that has one before and after.
pub(crate) fn due_after_write(
    stands: Option<Timestamp>,
    wanted: Option<Timestamp>,
    now: Timestamp,
) -> Option<Timestamp> {
    let early = |at: &Timestamp| now < *at && wanted.is_some_and(|wanted| *at <= wanted);
    stands.filter(early).or(wanted)
}
