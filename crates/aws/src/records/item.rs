//! A record as an item of the table, and back.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use engine::ports::{DueRow, Key, ListKey, Record, RecordsError};
use jiff::Timestamp;

use super::packed;
use crate::setup::{BODY, DUE_AT, FORGET_AT, LIST, OWN_AT, PK, PLACE, SK, SMALL, VERSION, WORD};

/// A place in a list: sort text and key of its record.
pub(super) type ListPlace = (String, Key);

/// Attributes by name.
pub(super) type Item = HashMap<String, AttributeValue>;

pub(super) fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

pub(super) fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

pub(super) fn time(at: Timestamp) -> AttributeValue {
    number(at.as_nanosecond())
}

pub(super) fn key(key: &Key) -> Item {
    HashMap::from([
        (PK.to_owned(), text(&key.pk)),
        (SK.to_owned(), text(&key.sk)),
    ])
}

/// The record that an item is, or is called by.
pub(super) fn record(item: &Item) -> Result<Record, RecordsError> {
    let key = key_of(item);
    let due_at = if item.contains_key(SMALL) {
        OWN_AT
    } else {
        DUE_AT
    };
    let read = || {
        let list = string(item, LIST).zip(string(item, PLACE));
        Some(Record {
            key: key.clone(),
            version: version_of(item)?,
            body: packed::unpack(item.get(BODY)?)?,
            due: match item.get(due_at) {
                Some(value) => Some(time_of(value)?),
                None => None,
            },
            list: list.map(|(name, sort)| {
                let word = string(item, WORD);
                ListKey { name, sort, word }
            }),
            forget: match item.get(FORGET_AT) {
                Some(value) => Some(second_of(value)?),
                None => None,
            },
        })
    };
    read().ok_or_else(|| unreadable(&key))
}

/// Whether an item is a record, and not only what small ones share.
pub(super) fn is_record(item: &Item) -> bool {
    item.contains_key(BODY) || !item.contains_key(SMALL)
}

pub(super) fn due_row(item: &Item) -> Result<DueRow, RecordsError> {
    let key = key_of(item);
    match item.get(DUE_AT).and_then(time_of) {
        Some(due) => Ok(DueRow { key, due }),
        None => Err(unreadable(&key)),
    }
}

/// The place of an item in the list index.
pub(super) fn place(item: &Item) -> ListPlace {
    (string(item, PLACE).unwrap_or_default(), key_of(item))
}

pub(super) fn string(item: &Item, name: &str) -> Option<String> {
    item.get(name)?.as_s().ok().cloned()
}

pub(super) fn key_of(item: &Item) -> Key {
    Key {
        pk: string(item, PK).unwrap_or_default(),
        sk: string(item, SK).unwrap_or_default(),
    }
}

fn version_of(item: &Item) -> Option<u64> {
    item.get(VERSION)?.as_n().ok()?.parse().ok()
}

fn time_of(value: &AttributeValue) -> Option<Timestamp> {
    Timestamp::from_nanosecond(value.as_n().ok()?.parse().ok()?).ok()
}

fn second_of(value: &AttributeValue) -> Option<Timestamp> {
    Timestamp::from_second(value.as_n().ok()?.parse().ok()?).ok()
}

pub(super) fn unreadable(key: &Key) -> RecordsError {
    RecordsError::Unreadable {
        key: key.clone(),
        message: "an attribute that every record has is missing or of another type".to_owned(),
    }
}
