//! Reading: rows become records, and each query has the order that the port promises.

use std::collections::BTreeMap;

use engine::ports::{DueRow, Key, ListKey, Record, RecordsError};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::ReadError;

const GET: &str = "SELECT pk, sk, version, body, due_ns, list_name, list_sort, forget_s, list_word FROM records WHERE pk = ?1 AND sk = ?2";

/// `?3` is the border above the prefix: a text, or an empty blob, which SQLite orders after every text.
const QUERY_FIRST: &str =
    "SELECT pk, sk, version, body, due_ns, list_name, list_sort, forget_s, list_word FROM records
    WHERE pk = ?1 AND sk >= ?2 AND sk < ?3 ORDER BY sk LIMIT ?4";
const QUERY_NEXT: &str =
    "SELECT pk, sk, version, body, due_ns, list_name, list_sort, forget_s, list_word FROM records
    WHERE pk = ?1 AND sk > ?2 AND sk < ?3 ORDER BY sk LIMIT ?4";

const LIST_FIRST: &str =
    "SELECT pk, sk, version, body, due_ns, list_name, list_sort, forget_s, list_word FROM records
    WHERE list_name = ?1 ORDER BY list_sort, pk, sk LIMIT ?2";
const LIST_NEXT: &str = "SELECT pk, sk, version, body, due_ns, list_name, list_sort, forget_s, list_word FROM records
    WHERE list_name = ?1 AND (list_sort, pk, sk) > (?3, ?4, ?5) ORDER BY list_sort, pk, sk LIMIT ?2";
const NEWEST_FIRST: &str =
    "SELECT pk, sk, version, body, due_ns, list_name, list_sort, forget_s, list_word FROM records
    WHERE list_name = ?1 ORDER BY list_sort DESC, pk DESC, sk DESC LIMIT ?2";
const NEWEST_NEXT: &str = "SELECT pk, sk, version, body, due_ns, list_name, list_sort, forget_s, list_word FROM records
    WHERE list_name = ?1 AND (list_sort, pk, sk) < (?3, ?4, ?5) ORDER BY list_sort DESC, pk DESC, sk DESC LIMIT ?2";

/// No text sorts before the empty one, so that a first page begins after nothing.
const SCAN: &str =
    "SELECT pk, sk, version, body, due_ns, list_name, list_sort, forget_s, list_word FROM records
    WHERE (pk, sk) > (?1, ?2) ORDER BY pk, sk LIMIT ?3";

const COUNT: &str = "SELECT count(*) FROM records WHERE list_name = ?1";
const WORDS: &str =
    "SELECT list_word, count(*) FROM records WHERE list_name = ?1 GROUP BY list_word";

const DUE: &str =
    "SELECT pk, sk, due_ns FROM records WHERE due_ns <= ?1 ORDER BY due_ns, pk, sk LIMIT ?2";
const NEXT_DUE: &str = "SELECT min(due_ns) FROM records WHERE due_ns IS NOT NULL";

/// Every statement here, so that a test can ask SQLite how it finds its rows.
#[cfg(test)]
pub(super) const ALL: [&str; 12] = [
    GET,
    SCAN,
    QUERY_FIRST,
    QUERY_NEXT,
    LIST_FIRST,
    LIST_NEXT,
    NEWEST_FIRST,
    NEWEST_NEXT,
    COUNT,
    WORDS,
    DUE,
    NEXT_DUE,
];

/// Which end of a list comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// The smallest sort text first.
    Ascending,
    /// The largest sort text first.
    Descending,
}

pub(super) fn get(connection: &Connection, key: &Key) -> Result<Option<Record>, ReadError> {
    Ok(records(connection, GET, params![key.pk, key.sk])?.pop())
}

pub(super) fn query(
    connection: &Connection,
    pk: &str,
    prefix: &str,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<Record>, ReadError> {
    let above = after_prefix(prefix).map_or(Value::Blob(Vec::new()), Value::Text);
    match after {
        Some(after) if after >= prefix => records(
            connection,
            QUERY_NEXT,
            params![pk, after, above, count(limit)],
        ),
        Some(_) | None => records(
            connection,
            QUERY_FIRST,
            params![pk, prefix, above, count(limit)],
        ),
    }
}

pub(super) fn list(
    connection: &Connection,
    name: &str,
    direction: Direction,
    after: Option<&(String, Key)>,
    limit: usize,
) -> Result<Vec<Record>, ReadError> {
    let (first, next) = match direction {
        Direction::Ascending => (LIST_FIRST, LIST_NEXT),
        Direction::Descending => (NEWEST_FIRST, NEWEST_NEXT),
    };
    match after {
        Some((sort, Key { pk, sk })) => {
            records(connection, next, params![name, count(limit), sort, pk, sk])
        }
        None => records(connection, first, params![name, count(limit)]),
    }
}

pub(super) fn count_of(connection: &Connection, name: &str) -> Result<u64, ReadError> {
    let counted = connection
        .prepare_cached(COUNT)?
        .query_row(params![name], |row| row.get::<_, i64>(0))?;
    Ok(counted.unsigned_abs())
}

pub(super) fn words(
    connection: &Connection,
    name: &str,
) -> Result<BTreeMap<String, u64>, ReadError> {
    let mut statement = connection.prepare_cached(WORDS)?;
    let mut rows = statement.query(params![name])?;
    let mut counts = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let word: Option<String> = row.get(0)?;
        let counted: i64 = row.get(1)?;
        *counts.entry(word.unwrap_or_default()).or_insert(0) += counted.unsigned_abs();
    }
    Ok(counts)
}

pub(super) fn scan(
    connection: &Connection,
    after: Option<&Key>,
    limit: usize,
) -> Result<Vec<Record>, ReadError> {
    let (pk, sk) = after.map_or(("", ""), |key| (key.pk.as_str(), key.sk.as_str()));
    records(connection, SCAN, params![pk, sk, count(limit)])
}

pub(super) fn due(
    connection: &Connection,
    at: Timestamp,
    limit: usize,
) -> Result<Vec<DueRow>, ReadError> {
    let mut statement = connection.prepare_cached(DUE)?;
    let mut rows = statement.query(params![nanoseconds_saturating(at), count(limit)])?;
    let mut due_rows = Vec::new();
    while let Some(row) = rows.next()? {
        let key = Key {
            pk: row.get(0)?,
            sk: row.get(1)?,
        };
        let due = timestamp(row.get(2)?, &key)?;
        due_rows.push(DueRow { key, due });
    }
    Ok(due_rows)
}

pub(super) fn next_due(connection: &Connection) -> Result<Option<Timestamp>, ReadError> {
    let found: Option<i64> = connection
        .prepare_cached(NEXT_DUE)?
        .query_row([], |row| row.get(0))
        .optional()?
        .flatten();
    let nowhere = Key {
        pk: String::new(),
        sk: String::new(),
    };
    Ok(found.map(|ns| timestamp(ns, &nowhere)).transpose()?)
}

/// The first text after all texts that start with the prefix, in the order of UTF-8 bytes, which is that of code points.
fn after_prefix(prefix: &str) -> Option<String> {
    let mut chars: Vec<char> = prefix.chars().collect();
    while let Some(last) = chars.pop() {
        // A step over the surrogates, which are no characters.
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}

fn records(
    connection: &Connection,
    sql: &str,
    params: impl Params,
) -> Result<Vec<Record>, ReadError> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        records.push(record(row)?);
    }
    Ok(records)
}

fn record(row: &Row<'_>) -> Result<Record, ReadError> {
    let key = Key {
        pk: row.get(0)?,
        sk: row.get(1)?,
    };
    let unreadable = |what: &str, error: rusqlite::Error| RecordsError::Unreadable {
        key: key.clone(),
        message: format!("its {what}: {error}"),
    };
    let version = version(row, 2, &key)?;
    let body = row.get(3).map_err(|error| unreadable("body", error))?;
    let due_ns: Option<i64> = row.get(4).map_err(|error| unreadable("due time", error))?;
    let name: Option<String> = row.get(5).map_err(|error| unreadable("list", error))?;
    let sort: Option<String> = row.get(6).map_err(|error| unreadable("list", error))?;
    let due = due_ns.map(|ns| timestamp(ns, &key)).transpose()?;
    let word: Option<String> = row.get(8).map_err(|error| unreadable("list", error))?;
    let list = name
        .zip(sort)
        .map(|(name, sort)| ListKey { name, sort, word });
    let forget_s: Option<i64> = row.get(7).map_err(|error| unreadable("end", error))?;
    let forget = forget_s.map(|second| moment(second, &key)).transpose()?;
    Ok(Record {
        key,
        version,
        body,
        due,
        list,
        forget,
    })
}

fn version(row: &Row<'_>, column: usize, key: &Key) -> Result<u64, ReadError> {
    let stored: i64 = row.get(column)?;
    let unreadable = |_| RecordsError::Unreadable {
        key: key.clone(),
        message: format!("its version is {stored}"),
    };
    Ok(u64::try_from(stored).map_err(unreadable)?)
}

fn moment(second: i64, key: &Key) -> Result<Timestamp, RecordsError> {
    Timestamp::from_second(second).map_err(|error| RecordsError::Unreadable {
        key: key.clone(),
        message: format!("it may be forgotten at {second}: {error}"),
    })
}

fn timestamp(ns: i64, key: &Key) -> Result<Timestamp, RecordsError> {
    Timestamp::from_nanosecond(i128::from(ns)).map_err(|error| RecordsError::Unreadable {
        key: key.clone(),
        message: format!("its due time: {error}"),
    })
}

/// For comparing only: times that SQLite's integers cannot hold (before 1677, after 2262) are moved to the nearest that they can.
fn nanoseconds_saturating(at: Timestamp) -> i64 {
    let ns = at.as_nanosecond();
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}

fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
