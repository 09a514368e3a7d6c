//! What DynamoDB charges for transactions, by its published rule: DynamoDB Local 1.25 tells something else, often twice as much.
//!
//! Each item takes two units for each begun kilobyte of what it was or becomes, whichever is larger (AWS, "Amazon DynamoDB Developer Guide", "DynamoDB read and write operations").
//! An index of keys takes one unit where a row comes or goes, and two where one moves; that this is not doubled in a transaction was seen on DynamoDB by the authors of dynoxide, in its pull request 188.

use std::collections::HashMap;

use engine::ports::{Key, ListKey, Record, Write};
use jiff::Timestamp;

/// Bytes that one unit writes.
const UNIT: usize = 1_024;

/// Units of a transaction for each of them.
const TRANSACTED: u64 = 2;

/// Halves of a unit, which is what is counted.
const HALVES: u64 = 2;

/// Bytes of the names of what every item has, of its version, and of who wrote it.
const OF_EVERY_ITEM: usize = 50;

/// Bytes of what makes it stand in an index, besides a list's name and the place there.
const OF_DUE: usize = 26;
const OF_LIST: usize = 9;

/// What is known of every item, and what was charged.
#[derive(Default)]
pub(super) struct Charges {
    known: HashMap<Key, Stands>,
    halves: u64,
}

/// How large an item is, and where it stands.
#[derive(Clone, Default, PartialEq)]
struct Stands {
    bytes: usize,
    due: Option<Timestamp>,
    list: Option<ListKey>,
}

impl Charges {
    /// Notes what was committed. A single item is no transaction, and told rightly.
    pub(super) fn note(&mut self, items: &[Write]) {
        let units: u64 = items.iter().map(|item| self.one(item)).sum();
        if items.len() > 1 {
            self.halves += units * HALVES;
        }
    }

    /// What was charged since the last time, in halves of a unit.
    pub(super) fn take(&mut self) -> u64 {
        std::mem::take(&mut self.halves)
    }

    fn one(&mut self, item: &Write) -> u64 {
        let before = self.known.get(item.key()).cloned().unwrap_or_default();
        let after = match item {
            Write::Put { record, .. } => Stands::of(record),
            Write::Delete { .. } => Stands::default(),
            Write::Check { .. } => before.clone(),
        };
        let bytes = before.bytes.max(after.bytes);
        let units = u64::try_from(bytes.div_ceil(UNIT).max(1)).unwrap_or(u64::MAX);
        let moved = index(&before.due, &after.due) + index(&before.list, &after.list);
        match item {
            Write::Delete { key, .. } => self.known.remove(key),
            Write::Put { record, .. } => self.known.insert(record.key.clone(), after),
            Write::Check { .. } => None,
        };
        units * TRANSACTED + moved
    }
}

impl Stands {
    fn of(record: &Record) -> Self {
        let Key { pk, sk } = &record.key;
        let due = record.due.map_or(0, |_| OF_DUE);
        let list = record.list.as_ref();
        let list = list.map_or(0, |list| OF_LIST + list.name.len() + list.sort.len());
        Self {
            bytes: OF_EVERY_ITEM + pk.len() + sk.len() + record.body.len() + due + list,
            due: record.due,
            list: record.list.clone(),
        }
    }
}

fn index<T: PartialEq>(before: &Option<T>, after: &Option<T>) -> u64 {
    match (before, after) {
        (None, None) => 0,
        (Some(before), Some(after)) if before == after => 0,
        (Some(_), Some(_)) => 2,
        (Some(_), None) | (None, Some(_)) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::ports::Expect;

    fn put(sk: &str, bytes: usize, due: Option<i64>) -> Write {
        let key = Key {
            pk: "A".to_owned(),
            sk: sk.to_owned(),
        };
        Write::Put {
            record: Record {
                key,
                version: 0,
                body: "x".repeat(bytes),
                due: due.map(|at| Timestamp::from_second(at).unwrap()),
                list: None,
                forget: None,
            },
            expect: Expect::Any,
        }
    }

    #[test]
    fn a_transaction_is_charged_by_what_its_items_were_and_become() {
        let mut charges = Charges::default();
        let charged = |charges: &mut Charges, items: &[Write]| {
            charges.note(items);
            charges.take()
        };
        // A single one is none.
        assert_eq!(charged(&mut charges, &[put("1", 1_900, Some(1))]), 0);
        // Four units for the old kilobytes, two for the new item, one for the row that goes.
        let items = [put("1", 10, None), put("2", 10, None)];
        assert_eq!(charged(&mut charges, &items), 2 * (4 + 2 + 1));
        // A row comes, and one moves.
        charged(&mut charges, &[put("1", 10, Some(1)), put("2", 10, None)]);
        let items = [put("1", 10, Some(2)), put("2", 10, Some(2))];
        assert_eq!(charged(&mut charges, &items), 2 * (2 + 2 + 2 + 1));
    }
}
