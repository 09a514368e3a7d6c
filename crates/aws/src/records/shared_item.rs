//! One item per aggregate: the record itself and the small ones that are mostly written with it.
//!
//! A write unit is a kilobyte of one item, and a transaction takes two for each: most steps of an aggregate are one
//! write this way.
//! The item is read, changed here, and written under the condition that no other write came between.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::AttributeValue;
use engine::ports::{Expect, Key, ListKey, Record, RecordsError, Write};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use ulid::Ulid;

use super::item::{self, Item};
use super::packed;
use crate::setup::{APART, BEFORE, BODY, FORGET_AT, OWN_AT, SMALL, VERSION, WRITER};

/// Longest body that shares an item, in bytes: a long one would be paid for with every step of its aggregate.
const BODY_BYTES_MAX: usize = 4 * 1024;

/// Most bytes of all bodies that share an item, for the same reason.
const ALL_BYTES_MAX: usize = 16 * 1024;

/// How many writers before the last one an item lists: a lost answer is retried within seconds, during which others
/// write.
const WRITERS_KEPT: usize = 4;

/// Bytes of such an end: forty drawn bits.
const END_BYTES: usize = 8;

/// The item of an aggregate.
#[derive(Debug, Clone)]
pub(super) struct SharedItem {
    /// The record that it is called by.
    pub(super) key: Key,
    own: Option<OwnRecord>,
    /// The small ones, by their sort key.
    small: BTreeMap<String, SmallRecord>,
    /// Whether some that would share it are items of their own: they did not fit, or no longer.
    pub(super) is_apart: bool,
    /// The writer of the item as read; `None` for a new one.
    pub(super) writer: Option<String>,
    /// The ends of the writes before that, newest first, one after the other.
    before: String,
}

/// The record itself.
#[derive(Debug, Clone)]
struct OwnRecord {
    version: u64,
    body: String,
    due: Option<Timestamp>,
    list: Option<ListKey>,
    forget: Option<Timestamp>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct SmallRecord {
    #[serde(rename = "v")]
    version: u64,
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    due: Option<Timestamp>,
    #[serde(rename = "b")]
    body: Box<RawValue>,
}

/// The outcome of one write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteVerdict {
    /// It is done here; whether that changed anything.
    Done { changed: bool },
    /// It concerns an item of its own, whose versions continue from `base`; `changed` says whether this item changed too.
    Apart { base: u64, changed: bool },
    /// Its condition does not hold.
    Refused,
}

const KEPT: WriteVerdict = WriteVerdict::Done { changed: false };
const CHANGED: WriteVerdict = WriteVerdict::Done { changed: true };

impl SharedItem {
    /// The home of an aggregate that has nothing yet.
    pub(super) fn new(key: Key) -> Self {
        Self {
            key,
            own: None,
            small: BTreeMap::new(),
            is_apart: false,
            writer: None,
            before: String::new(),
        }
    }

    /// Decodes the item of an aggregate.
    pub(super) fn from_item(item: &Item) -> Result<Self, RecordsError> {
        let key = item::key_of(item);
        let small = item.get(SMALL).and_then(packed::unpack);
        let small = small.and_then(|small| serde_json::from_str(&small).ok());
        let Some(small) = small else {
            return Err(item::unreadable(&key));
        };
        let own = match item.contains_key(BODY) {
            true => Some(OwnRecord::from_record(&item::record(item)?)),
            false => None,
        };
        Ok(Self {
            own,
            small,
            is_apart: item.contains_key(APART),
            writer: item::string(item, WRITER),
            before: item::string(item, BEFORE).unwrap_or_default(),
            key,
        })
    }

    /// The same item with this writer.
    pub(super) fn by(self, writer: Ulid) -> Self {
        Self {
            before: self.writers(),
            writer: Some(writer.to_string()),
            ..self
        }
    }

    /// The ends of the last writes, as the next one leaves them.
    fn writers(&self) -> String {
        let last = self.writer.as_deref().map_or("", end);
        let mut all = format!("{last}{}", self.before);
        all.truncate(WRITERS_KEPT * END_BYTES);
        all
    }

    /// The record at a key, if it is here.
    pub(super) fn record(&self, key: &Key) -> Option<Record> {
        if *key == self.key {
            return Some(self.own.as_ref()?.record(key));
        }
        let small = self.small.get(&key.sk)?;
        Some(Record {
            key: key.clone(),
            version: small.version,
            body: small.body.get().to_owned(),
            due: small.due,
            list: None,
            forget: None,
        })
    }

    /// All that is here, in order of sort keys.
    pub(super) fn records(&self) -> Vec<Record> {
        let small = self.small.keys().map(|sk| Key {
            pk: self.key.pk.clone(),
            sk: sk.clone(),
        });
        let mut keys: Vec<Key> = small.chain([self.key.clone()]).collect();
        keys.sort();
        keys.iter().filter_map(|key| self.record(key)).collect()
    }

    /// The small ones whose sort key begins so, in its order.
    pub(super) fn small(&self, prefix: &str) -> Vec<Record> {
        let all = self.records().into_iter();
        all.filter(|record| record.key != self.key && record.key.sk.starts_with(prefix))
            .collect()
    }

    /// Whether nothing is here, and nothing elsewhere.
    pub(super) fn is_empty(&self) -> bool {
        self.own.is_none() && self.small.is_empty() && !self.is_apart
    }

    /// Does one write to what is here, if its condition holds.
    pub(super) fn apply(&mut self, write: &Write) -> WriteVerdict {
        if *write.key() == self.key {
            self.apply_own(write)
        } else {
            self.apply_kin(write)
        }
    }

    fn apply_own(&mut self, write: &Write) -> WriteVerdict {
        let found = self.own.as_ref().map(|own| own.version);
        match write {
            Write::Put { expect, .. }
            | Write::Delete { expect, .. }
            | Write::Check { expect, .. }
                if !holds(*expect, found) =>
            {
                WriteVerdict::Refused
            }
            Write::Put { record, .. } => {
                self.own = Some(OwnRecord {
                    version: next(found),
                    ..OwnRecord::from_record(record)
                });
                CHANGED
            }
            Write::Delete { .. } => WriteVerdict::Done {
                changed: self.own.take().is_some(),
            },
            Write::Check { .. } => KEPT,
        }
    }

    fn apply_kin(&mut self, write: &Write) -> WriteVerdict {
        let sk = write.key().sk.as_str();
        let found = self.small.get(sk).map(|small| small.version);
        // It may be an item of its own: only the table can decide the condition.
        if found.is_none() && self.is_apart {
            return WriteVerdict::Apart {
                base: 0,
                changed: false,
            };
        }
        match write {
            Write::Put { expect, .. }
            | Write::Delete { expect, .. }
            | Write::Check { expect, .. }
                if !holds(*expect, found) =>
            {
                WriteVerdict::Refused
            }
            Write::Put { record, .. } => match self.fitting(record) {
                Some(body) => {
                    let small = SmallRecord {
                        version: next(found),
                        due: record.due,
                        body,
                    };
                    self.small.insert(sk.to_owned(), small);
                    CHANGED
                }
                None => {
                    // It does not fit into the shared item, so it gets one of its own.
                    self.small.remove(sk);
                    self.is_apart = true;
                    WriteVerdict::Apart {
                        base: found.unwrap_or(0),
                        changed: true,
                    }
                }
            },
            Write::Delete { .. } => WriteVerdict::Done {
                changed: self.small.remove(sk).is_some(),
            },
            Write::Check { .. } => KEPT,
        }
    }

    /// The body of a record that may be kept here.
    fn fitting(&self, record: &Record) -> Option<Box<RawValue>> {
        let others = self.small.iter().filter(|(sk, _)| **sk != record.key.sk);
        let all: usize = others.map(|(_, small)| small.body.get().len()).sum();
        let fits = record.list.is_none()
            && record.forget.is_none()
            && record.body.len() <= BODY_BYTES_MAX
            && all + record.body.len() <= ALL_BYTES_MAX;
        let body = fits.then(|| RawValue::from_string(record.body.clone()).ok());
        // White space around it would be lost.
        body.flatten().filter(|body| body.get() == record.body)
    }

    /// The earliest due time in it.
    pub(super) fn due(&self) -> Option<Timestamp> {
        let own = self.own.as_ref().and_then(|own| own.due);
        let small = self.small.values().filter_map(|small| small.due);
        small.chain(own).min()
    }

    /// The list that the record itself is in.
    pub(super) fn list(&self) -> Option<&ListKey> {
        self.own.as_ref()?.list.as_ref()
    }

    /// The item's attributes apart from its key, its writer and its places in the indexes; `None` for those it must
    /// not have.
    pub(super) fn attributes(&self) -> Vec<(&'static str, Option<AttributeValue>)> {
        let own = self.own.as_ref();
        // Our own records are plain data with text keys.
        let small = serde_json::to_string(&self.small).unwrap_or_default();
        let is_apart = self.is_apart.then_some(AttributeValue::Bool(true));
        let forget = own.and_then(|own| own.forget);
        let writers = Some(self.writers()).filter(|all| !all.is_empty());
        vec![
            (BEFORE, writers.map(item::text)),
            (BODY, own.map(|own| packed::pack(&own.body))),
            (VERSION, own.map(|own| item::number(own.version))),
            (OWN_AT, own.and_then(|own| own.due).map(item::time)),
            (FORGET_AT, forget.map(|at| item::number(at.as_second()))),
            (SMALL, Some(packed::pack(&small))),
            (APART, is_apart),
        ]
    }
}

impl OwnRecord {
    fn from_record(record: &Record) -> Self {
        Self {
            version: record.version,
            body: record.body.clone(),
            due: record.due,
            list: record.list.clone(),
            forget: record.forget,
        }
    }

    fn record(&self, key: &Key) -> Record {
        Record {
            key: key.clone(),
            version: self.version,
            body: self.body.clone(),
            due: self.due,
            list: self.list.clone(),
            forget: self.forget,
        }
    }
}

/// Whether this writer is the item's last one, or one of the few before.
pub(super) fn is_by(found: &Item, writer: Ulid) -> bool {
    let writer = writer.to_string();
    let before = item::string(found, BEFORE).unwrap_or_default();
    let mut ends = before.as_bytes().chunks(END_BYTES);
    item::string(found, WRITER).is_some_and(|found| found == writer)
        || ends.any(|one| one == end(&writer).as_bytes())
}

/// The last characters of a write's name, which are drawn for it alone.
fn end(writer: &str) -> &str {
    let from = writer.len().saturating_sub(END_BYTES);
    writer.get(from..).unwrap_or_default()
}

fn holds(expect: Expect, found: Option<u64>) -> bool {
    match expect {
        Expect::Absent => found.is_none(),
        Expect::Version(version) => found == Some(version),
        Expect::Any => true,
    }
}

fn next(found: Option<u64>) -> u64 {
    found.unwrap_or(0) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(home: &SharedItem, writer: Ulid) -> Item {
        let attributes = home.attributes().into_iter();
        let there = attributes.filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let writer = (WRITER.to_owned(), item::text(writer.to_string()));
        there.chain([writer]).collect()
    }

    #[test]
    fn a_write_is_known_by_its_end_for_a_few_others() {
        let key = Key {
            pk: "JOB#1".to_owned(),
            sk: "META".to_owned(),
        };
        let writers: Vec<Ulid> = (0..8).map(|_| Ulid::generate()).collect();
        let mut home = SharedItem::new(key);
        let mut last = Item::new();
        for writer in &writers {
            last = item(&home, *writer);
            home = home.by(*writer);
        }
        let known: Vec<bool> = writers.iter().map(|writer| is_by(&last, *writer)).collect();
        assert_eq!(known, [false, false, false, true, true, true, true, true]);
        assert!(!is_by(&last, Ulid::generate()));
    }
}
