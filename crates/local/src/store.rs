//! Records on SQLite: what the engine's contract says, in one transaction per commit.

use std::collections::BTreeMap;

use async_trait::async_trait;
use engine::ports::{
    CommitError, DueRow, Key, Page, PageToken, Record, Records, RecordsError, Write, check_limits,
};
use jiff::Timestamp;
use rusqlite::Connection;

use crate::database::Database;

mod read;
mod write;

use read::Direction;

/// The record store.
///
/// A record that was deleted and is put again starts at version 1: who kept an older version across the deletion may meet it again,
/// so keys that come back must differ or be checked by their content.
#[derive(Debug, Clone)]
pub struct Store {
    database: Database,
}

impl Store {
    /// The records of a database.
    pub fn new(database: &Database) -> Self {
        Self {
            database: database.clone(),
        }
    }

    /// Every record in the order of its key, page by page; a limit of 0 counts as 1. For exports only.
    pub async fn scan(
        &self,
        after: Option<Key>,
        limit: usize,
    ) -> Result<Vec<Record>, RecordsError> {
        self.read("reading all records", move |connection| {
            read::scan(connection, after.as_ref(), limit.max(1))
        })
        .await
    }

    async fn read<T, F>(&self, doing: &'static str, work: F) -> Result<T, RecordsError>
    where
        F: FnOnce(&Connection) -> Result<T, ReadError> + Send + 'static,
        T: Send + 'static,
    {
        let unavailable = |message: String| RecordsError::Unavailable {
            doing: doing.to_owned(),
            message,
        };
        match self.database.run(move |connection| work(connection)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(ReadError::Sqlite(error))) => Err(unavailable(error.to_string())),
            Ok(Err(ReadError::Told(error))) => Err(error),
            Err(stopped) => Err(unavailable(stopped.to_string())),
        }
    }

    /// Work that was never begun wrote nothing; work that panicked may have.
    async fn write<T, F>(&self, work: F) -> Result<T, CommitError>
    where
        F: FnOnce(&mut Connection) -> Result<T, CommitError> + Send + 'static,
        T: Send + 'static,
    {
        match self.database.run(work).await {
            Ok(outcome) => outcome,
            Err(stopped) if stopped.is_cancelled() => Err(CommitError::Unavailable(
                "the program is shutting down".to_owned(),
            )),
            Err(stopped) => Err(CommitError::Unknown(stopped.to_string())),
        }
    }
}

/// How a read fails inside the database thread.
#[derive(Debug, thiserror::Error)]
enum ReadError {
    /// SQLite refused.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// A failure that is already an error of the port.
    #[error(transparent)]
    Told(#[from] RecordsError),
}

#[async_trait]
impl Records for Store {
    async fn get(&self, key: &Key) -> Result<Option<Record>, RecordsError> {
        let key = key.clone();
        self.read("getting a record", move |connection| {
            read::get(connection, &key)
        })
        .await
    }

    /// A limit of 0 is taken as 1, so that paging always ends.
    async fn query(
        &self,
        pk: &str,
        prefix: &str,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        let after = after.map(|token| token.parts()).transpose()?;
        let after = after.map(|[sk]| sk);
        let (pk, prefix) = (pk.to_owned(), prefix.to_owned());
        self.read("querying a partition", move |connection| {
            let records = read::query(connection, &pk, &prefix, after.as_deref(), one_more(limit))?;
            Ok(page(records, limit, |last| {
                PageToken::of_parts([last.key.sk.as_str()])
            }))
        })
        .await
    }

    /// Records at the same place are ordered by their keys. A limit of 0 is taken as 1.
    async fn list(
        &self,
        name: &str,
        newest: bool,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        let after = after.map(|token| token.place()).transpose()?;
        let name = name.to_owned();
        let direction = if newest {
            Direction::Descending
        } else {
            Direction::Ascending
        };
        self.read("listing records", move |connection| {
            let records = read::list(
                connection,
                &name,
                direction,
                after.as_ref(),
                one_more(limit),
            )?;
            Ok(page(records, limit, after_in_list))
        })
        .await
    }

    async fn count(&self, name: &str) -> Result<u64, RecordsError> {
        let name = name.to_owned();
        self.read("counting a list", move |connection| {
            read::count_of(connection, &name)
        })
        .await
    }

    async fn words(&self, name: &str) -> Result<BTreeMap<String, u64>, RecordsError> {
        let name = name.to_owned();
        self.read("counting a list by words", move |connection| {
            read::words(connection, &name)
        })
        .await
    }

    /// All of them in one turn of the connection.
    async fn glance(&self, keys: &[Key]) -> Result<Vec<Record>, RecordsError> {
        let keys = keys.to_vec();
        self.read("getting several records", move |connection| {
            let mut found = Vec::with_capacity(keys.len());
            for key in &keys {
                found.extend(read::get(connection, key)?);
            }
            Ok(found)
        })
        .await
    }

    /// Rows due at the same time are ordered by their keys.
    async fn due(&self, at: Timestamp, limit: usize) -> Result<Vec<DueRow>, RecordsError> {
        self.read("reading what is due", move |connection| {
            read::due(connection, at, limit)
        })
        .await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, RecordsError> {
        self.read("reading when the next row is due", read::next_due)
            .await
    }

    async fn commit(&self, items: Vec<Write>) -> Result<(), CommitError> {
        check_limits(&items)?;
        self.write(move |connection| write::commit(connection, &items))
            .await
    }

    async fn forget(&self, at: Timestamp, limit: usize) -> Result<usize, CommitError> {
        self.write(move |connection| write::forget(connection, at, limit))
            .await
    }
}

/// One record more than the page holds shows whether there is another page.
fn one_more(limit: usize) -> usize {
    limit.max(1).saturating_add(1)
}

fn page(mut records: Vec<Record>, limit: usize, token: fn(&Record) -> PageToken) -> Page {
    let limit = limit.max(1);
    let more = records.len() > limit;
    records.truncate(limit);
    let next = if more {
        records.last().map(token)
    } else {
        None
    };
    Page { records, next }
}

fn after_in_list(last: &Record) -> PageToken {
    let sort = last.list.as_ref().map_or("", |list| list.sort.as_str());
    PageToken::after(sort, &last.key)
}

#[cfg(test)]
mod tests;
