//! A store as pollers are watched by.

use engine::ports::{Expect, Member};

use super::*;

/// A store that counts how often jobs are read, and lets another writer go first.
#[derive(Default)]
pub(super) struct Rows {
    records: MemoryRecords,
    /// How many were read, by themselves or with a list.
    jobs: AtomicUsize,
    /// Which were read by themselves.
    gets: Mutex<Vec<Key>>,
    /// What another process writes just before the next commit of the same record.
    first: Mutex<Option<Record>>,
}

impl Rows {
    fn note(&self, jobs: usize) {
        self.jobs.fetch_add(jobs, Ordering::Relaxed);
    }

    /// How many jobs were read since the last call.
    pub(super) fn take(&self) -> usize {
        self.jobs.swap(0, Ordering::Relaxed)
    }

    /// How often a record was read individually since the last call.
    pub(super) fn take_gets(&self, of: &Key) -> usize {
        let gets = std::mem::take(&mut *self.gets.lock().expect("nobody panics"));
        gets.iter().filter(|key| *key == of).count()
    }

    /// Lets another process write this just before the next commit of the same record.
    pub(super) fn first(&self, record: Record) {
        *self.first.lock().expect("nobody panics") = Some(record);
    }
}

#[async_trait]
impl Records for Rows {
    async fn get(&self, key: &Key) -> Result<Option<Record>, RecordsError> {
        self.note(usize::from(key.pk.starts_with("JOB#")));
        self.gets.lock().expect("nobody panics").push(key.clone());
        self.records.get(key).await
    }

    async fn query(
        &self,
        pk: &str,
        prefix: &str,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        self.records.query(pk, prefix, after, limit).await
    }

    async fn list(
        &self,
        name: &str,
        newest: bool,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        let page = self.records.list(name, newest, after, limit).await?;
        self.note(page.records.len());
        Ok(page)
    }

    async fn members(&self, name: &str, limit: usize) -> Result<Vec<Member>, RecordsError> {
        self.records.members(name, limit).await
    }

    async fn due(&self, at: Timestamp, limit: usize) -> Result<Vec<DueRow>, RecordsError> {
        self.records.due(at, limit).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, RecordsError> {
        self.records.next_due().await
    }

    async fn commit(&self, items: Vec<Write>) -> Result<(), CommitError> {
        let first = {
            let mut waits = self.first.lock().expect("nobody panics");
            let same = |first: &mut Record| items.iter().any(|item| *item.key() == first.key);
            waits.take_if(same)
        };
        if let Some(record) = first {
            let expect = Expect::Version(record.version);
            let write = Write::Put { record, expect };
            self.records.commit(vec![write]).await?;
        }
        self.records.commit(items).await
    }
}
