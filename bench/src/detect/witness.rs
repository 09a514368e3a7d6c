//! Records that tell which events were saved, and when they were observed.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use domain::event::Event;
use engine::keys;
use engine::ports::{
    CommitError, DueRow, Key, Page, PageToken, Record, Records, RecordsError, Write,
};
use jiff::Timestamp;
use serde::Deserialize;
use tests::memory::MemoryRecords;

use super::charged::Charges;

/// The store of a simulation.
#[derive(Default)]
pub(super) struct Witness<R = MemoryRecords> {
    pub(super) records: R,
    events: Mutex<Vec<Event>>,
    charges: Mutex<Charges>,
}

#[derive(Deserialize)]
struct Body {
    it: Event,
}

impl<R> Witness<R> {
    /// A witness of what is written to these.
    pub(super) fn of(records: R) -> Self {
        Self {
            records,
            events: Mutex::default(),
            charges: Mutex::default(),
        }
    }

    /// The events that were saved since the last time.
    pub(super) fn news(&self) -> Vec<Event> {
        std::mem::take(&mut self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What DynamoDB would have charged for transactions since the last time, in halves of a unit.
    pub(super) fn charged(&self) -> u64 {
        self.charges
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn note(&self, items: &[Write]) {
        let put = items.iter().filter_map(|item| match item {
            Write::Put { record, .. } => Some(record),
            Write::Delete { .. } | Write::Check { .. } => None,
        });
        let found = put
            .filter(|record| record.key.sk.starts_with(keys::EVENT))
            .filter_map(|record| serde_json::from_str::<Body>(&record.body).ok());
        self.events
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(found.map(|body| body.it));
    }
}

#[async_trait]
impl<R: Records> Records for Witness<R> {
    async fn get(&self, key: &Key) -> Result<Option<Record>, RecordsError> {
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
        self.records.list(name, newest, after, limit).await
    }

    async fn members(&self, name: &str, limit: usize) -> Result<Vec<Key>, RecordsError> {
        self.records.members(name, limit).await
    }

    async fn due(&self, at: Timestamp, limit: usize) -> Result<Vec<DueRow>, RecordsError> {
        self.records.due(at, limit).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, RecordsError> {
        self.records.next_due().await
    }

    async fn commit(&self, items: Vec<Write>) -> Result<(), CommitError> {
        let kept = items.clone();
        self.records.commit(items).await?;
        self.note(&kept);
        self.charges
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .note(&kept);
        Ok(())
    }
}
