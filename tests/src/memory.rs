//! Records and a queue that live in memory: what a simulation of thousands of jobs can afford. They keep the same contract as SQLite.

mod queue;
mod table;

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use engine::ports::{
    CommitError, DueRow, Expect, Key, Page, PageToken, Record, Records, RecordsError, Write,
    check_limits,
};
use jiff::Timestamp;

pub use queue::MemoryQueue;
use table::{Place, Table};

/// Records in memory.
#[derive(Debug, Default)]
pub struct MemoryRecords(Mutex<Table>);

impl MemoryRecords {
    /// Drops everything of a partition, as a time to live would: nothing of it is left in any index.
    pub fn forget(&self, pk: &str) {
        self.table().forget(pk);
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first record past the limit shows that there is another page; a limit of 0 counts as 1.
fn page(mut records: Vec<Record>, limit: usize, token: impl Fn(&Record) -> PageToken) -> Page {
    let limit = limit.max(1);
    let more = records.len() > limit;
    records.truncate(limit);
    let next = records.last().filter(|_| more).map(token);
    Page { records, next }
}

fn place_of(record: &Record) -> Place {
    let sort = record.list.as_ref().map(|list| list.sort.clone());
    (sort.unwrap_or_default(), record.key.clone())
}

fn list_token(record: &Record) -> PageToken {
    let (sort, key) = place_of(record);
    PageToken::after(&sort, &key)
}

#[async_trait]
impl Records for MemoryRecords {
    async fn get(&self, key: &Key) -> Result<Option<Record>, RecordsError> {
        Ok(self.table().get(key).cloned())
    }

    async fn query(
        &self,
        pk: &str,
        prefix: &str,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        let after = after.map(|token| token.0);
        let found = self
            .table()
            .query(pk, prefix, after.as_deref(), limit.max(1) + 1);
        Ok(page(found, limit, |last| PageToken(last.key.sk.clone())))
    }

    async fn list(
        &self,
        name: &str,
        newest: bool,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        let after = after.map(|token| token.place()).transpose()?;
        let found = self
            .table()
            .list(name, newest, after.as_ref(), limit.max(1) + 1);
        Ok(page(found, limit, list_token))
    }

    async fn due(&self, at: Timestamp, limit: usize) -> Result<Vec<DueRow>, RecordsError> {
        Ok(self.table().due(at, limit))
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, RecordsError> {
        Ok(self.table().next_due())
    }

    async fn commit(&self, items: Vec<Write>) -> Result<(), CommitError> {
        check_limits(&items)?;
        let mut table = self.table();
        for item in &items {
            let (Write::Put { expect, .. }
            | Write::Delete { expect, .. }
            | Write::Check { expect, .. }) = item;
            let found = table.get(item.key()).map(|record| record.version);
            let holds = match expect {
                Expect::Absent => found.is_none(),
                Expect::Version(version) => found == Some(*version),
                Expect::Any => true,
            };
            if !holds {
                let key = item.key().clone();
                return Err(CommitError::Conflict { key });
            }
        }
        for item in items {
            match item {
                Write::Put { record, .. } => table.put(record),
                Write::Delete { key, .. } => table.remove(&key),
                Write::Check { .. } => {}
            }
        }
        Ok(())
    }
}
