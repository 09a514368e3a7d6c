//! The table beneath: records by key, and the two sparse indexes that every put and removal keeps in step.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use engine::ports::{DueRow, Key, Record};
use jiff::Timestamp;

/// A place in a list: the sort text, then the key.
pub(super) type Place = (String, Key);

/// All records with their indexes.
#[derive(Debug, Default)]
pub(super) struct Table {
    records: BTreeMap<Key, Record>,
    due: BTreeSet<(Timestamp, Key)>,
    lists: BTreeMap<String, BTreeSet<Place>>,
}

impl Table {
    pub(super) fn get(&self, key: &Key) -> Option<&Record> {
        self.records.get(key)
    }

    pub(super) fn put(&mut self, mut record: Record) {
        let key = record.key.clone();
        record.version = self.get(&key).map_or(1, |found| found.version + 1);
        self.remove(&key);
        if let Some(due) = record.due {
            self.due.insert((due, key.clone()));
        }
        if let Some(list) = &record.list {
            let places = self.lists.entry(list.name.clone()).or_default();
            places.insert((list.sort.clone(), key.clone()));
        }
        self.records.insert(key, record);
    }

    pub(super) fn remove(&mut self, key: &Key) {
        let Some(record) = self.records.remove(key) else {
            return;
        };
        if let Some(due) = record.due {
            self.due.remove(&(due, key.clone()));
        }
        if let Some(list) = record.list
            && let Some(places) = self.lists.get_mut(&list.name)
        {
            places.remove(&(list.sort, key.clone()));
        }
    }

    pub(super) fn forget(&mut self, pk: &str) {
        for record in self.query(pk, "", None, usize::MAX) {
            self.remove(&record.key);
        }
    }

    pub(super) fn query(
        &self,
        pk: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Vec<Record> {
        let key = |sk: &str| Key {
            pk: pk.to_owned(),
            sk: sk.to_owned(),
        };
        let from = match after {
            Some(after) if after >= prefix => Bound::Excluded(key(after)),
            Some(_) | None => Bound::Included(key(prefix)),
        };
        self.records
            .range((from, Bound::Unbounded))
            .take_while(|(key, _)| key.pk == pk && key.sk.starts_with(prefix))
            .take(limit)
            .map(|(_, record)| record.clone())
            .collect()
    }

    pub(super) fn list(
        &self,
        name: &str,
        newest: bool,
        after: Option<&Place>,
        limit: usize,
    ) -> Vec<Record> {
        let Some(places) = self.lists.get(name) else {
            return Vec::new();
        };
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        let found = |place: &Place| self.records.get(&place.1).cloned();
        if newest {
            let range = places.range::<Place, _>((Bound::Unbounded, after));
            range.rev().filter_map(found).take(limit).collect()
        } else {
            let range = places.range::<Place, _>((after, Bound::Unbounded));
            range.filter_map(found).take(limit).collect()
        }
    }

    pub(super) fn due(&self, at: Timestamp, limit: usize) -> Vec<DueRow> {
        self.due
            .iter()
            .take_while(|(due, _)| *due <= at)
            .take(limit)
            .map(|(due, key)| DueRow {
                key: key.clone(),
                due: *due,
            })
            .collect()
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.due.first().map(|(due, _)| *due)
    }
}
