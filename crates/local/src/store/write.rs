//! Committing: every condition is checked before anything is written, inside one transaction that holds the write lock from its start.

use engine::ports::{CommitError, Expect, Key, Record, Write};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

const VERSION: &str = "SELECT version FROM records WHERE pk = ?1 AND sk = ?2";
const PUT: &str = "INSERT INTO records (pk, sk, version, body, due_ns, list_name, list_sort, forget_s, list_word)
    VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8)
    ON CONFLICT (pk, sk) DO UPDATE SET version = version + 1, body = excluded.body, due_ns = excluded.due_ns,
        list_name = excluded.list_name, list_sort = excluded.list_sort, forget_s = excluded.forget_s,
        list_word = excluded.list_word";
const FORGET: &str = "DELETE FROM records WHERE rowid IN
    (SELECT rowid FROM records WHERE forget_s <= ?1 ORDER BY forget_s LIMIT ?2)";
const DELETE: &str = "DELETE FROM records WHERE pk = ?1 AND sk = ?2";

pub(super) fn commit(connection: &mut Connection, items: &[Write]) -> Result<(), CommitError> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(refused)?;
    for item in items {
        check(&transaction, item)?;
    }
    for item in items {
        write(&transaction, item)?;
    }
    // Until here a failure rolls everything back. A failed commit may already be in the log, to be found after a crash.
    transaction
        .commit()
        .map_err(|error| CommitError::Unknown(error.to_string()))
}

fn check(transaction: &Transaction<'_>, item: &Write) -> Result<(), CommitError> {
    let (Write::Put { expect, .. } | Write::Delete { expect, .. } | Write::Check { expect, .. }) =
        item;
    let key = item.key();
    let holds = match expect {
        Expect::Absent => version(transaction, key)?.is_none(),
        Expect::Version(expected) => version(transaction, key)? == Some(*expected),
        Expect::Any => true,
    };
    if holds {
        Ok(())
    } else {
        Err(CommitError::Conflict { key: key.clone() })
    }
}

fn version(transaction: &Transaction<'_>, key: &Key) -> Result<Option<u64>, CommitError> {
    let mut statement = transaction.prepare_cached(VERSION).map_err(refused)?;
    let found: Option<i64> = statement
        .query_row(params![key.pk, key.sk], |row| row.get(0))
        .optional()
        .map_err(refused)?;
    // The schema admits positive versions only.
    Ok(found.and_then(|version| u64::try_from(version).ok()))
}

fn write(transaction: &Transaction<'_>, item: &Write) -> Result<(), CommitError> {
    match item {
        Write::Put { record, .. } => put(transaction, record),
        Write::Delete { key, .. } => delete(transaction, key),
        Write::Check { .. } => Ok(()),
    }
}

fn put(transaction: &Transaction<'_>, record: &Record) -> Result<(), CommitError> {
    let Key { pk, sk } = &record.key;
    let due_ns = due_ns(record)?;
    let forget_s = record.forget.map(Timestamp::as_second);
    let (name, sort) = record
        .list
        .as_ref()
        .map(|list| (&list.name, &list.sort))
        .unzip();
    let word = record.list.as_ref().and_then(|list| list.word.as_ref());
    let mut statement = transaction.prepare_cached(PUT).map_err(refused)?;
    statement
        .execute(params![
            pk,
            sk,
            record.body,
            due_ns,
            name,
            sort,
            forget_s,
            word
        ])
        .map_err(refused)?;
    Ok(())
}

/// Deletes expired records, the longest expired first.
pub(super) fn forget(
    connection: &Connection,
    at: Timestamp,
    limit: usize,
) -> Result<usize, CommitError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(FORGET).map_err(refused)?;
    statement
        .execute(params![at.as_second(), limit])
        .map_err(refused)
}

fn delete(transaction: &Transaction<'_>, key: &Key) -> Result<(), CommitError> {
    let mut statement = transaction.prepare_cached(DELETE).map_err(refused)?;
    statement
        .execute(params![key.pk, key.sk])
        .map_err(refused)?;
    Ok(())
}

/// Nanoseconds since 1970. A time that does not fit is refused rather than moved: it is a mistake in a deadline.
fn due_ns(record: &Record) -> Result<Option<i64>, CommitError> {
    let Some(due) = record.due else {
        return Ok(None);
    };
    let ns = i64::try_from(due.as_nanosecond());
    ns.map(Some).map_err(|_| CommitError::TooLarge {
        what: format!("{:?} is due at {due}, at most 2262-04-11", record.key),
    })
}

fn refused(error: rusqlite::Error) -> CommitError {
    CommitError::Unavailable(error.to_string())
}
