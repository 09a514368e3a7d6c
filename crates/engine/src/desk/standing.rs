//! Rows that stay where they stand in the index of times.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::ports::{Key, Write};

/// A row that moves in the index of times is charged for two more. One that is looked at a little earlier than it has to be stays where it is: whoever finds it there puts it right, which happens once for many writes.
pub(super) fn leave_standing(
    write: &mut Write,
    standing: &BTreeMap<Key, Timestamp>,
    now: Timestamp,
) {
    let Write::Put { record, .. } = write else {
        return;
    };
    let stands = standing.get(&record.key).copied();
    record.due = left(stands, record.due, now);
}

/// Where a row stands in the index of times once it is written, that stands somewhere and is wanted somewhere.
pub(crate) fn left(
    stands: Option<Timestamp>,
    wanted: Option<Timestamp>,
    now: Timestamp,
) -> Option<Timestamp> {
    let early = |at: &Timestamp| now < *at && wanted.is_some_and(|wanted| *at <= wanted);
    stands.filter(early).or(wanted)
}
