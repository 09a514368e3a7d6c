//! Records that tell which events were saved and when they were observed, and which calls were charged for what.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use aws::Counters;

use async_trait::async_trait;
use domain::event::Event;
use engine::keys;
use engine::ports::{
    CommitError, DueRow, Key, Member, Page, PageToken, Record, Records, RecordsError, Write,
};
use engine::usage::{Meter, Used};
use jiff::Timestamp;
use serde::Deserialize;
use tests::memory::MemoryRecords;

use super::charged::Charges;
use super::kind;

/// The store of a simulation.
#[derive(Default)]
pub(super) struct Witness<R = MemoryRecords> {
    pub(super) records: R,
    events: Mutex<Vec<Event>>,
    charges: Charges,
    /// Counters of charged calls; `None` where nothing is charged.
    counters: Option<Counters>,
    /// What was charged since the last time, by what it was for.
    spent: Mutex<BTreeMap<String, Used>>,
}

#[derive(Deserialize)]
struct Body {
    it: Event,
}

impl<R> Witness<R> {
    /// A witness of what is written to these, and of what their calls are charged.
    pub(super) fn new(records: R, counters: Counters, charges: Charges) -> Self {
        Self {
            records,
            events: Mutex::default(),
            charges,
            counters: Some(counters),
            spent: Mutex::default(),
        }
    }

    /// The events that were saved since the last time.
    pub(super) fn news(&self) -> Vec<Event> {
        std::mem::take(&mut self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What was charged since the last time, by what it was for.
    pub(super) fn charged(&self) -> BTreeMap<String, Used> {
        self.charge("others");
        std::mem::take(&mut self.spent.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// All charges since the last call are for this. Concurrent calls may be confused, which does not change the sum.
    fn charge(&self, what: &str) {
        let Some(counters) = &self.counters else {
            return;
        };
        let mut used = counters.take();
        used.write_halves += self.charges.take();
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        *spent.entry(what.to_owned()).or_default() += used;
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
        let found = self.records.get(key).await;
        self.charge(kind::kind_of(key));
        found
    }

    async fn query(
        &self,
        pk: &str,
        prefix: &str,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        let found = self.records.query(pk, prefix, after, limit).await;
        self.charge(kind::of_partition(pk, prefix));
        found
    }

    async fn list(
        &self,
        name: &str,
        newest: bool,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        let found = self.records.list(name, newest, after, limit).await;
        self.charge(kind::of_list(name));
        found
    }

    async fn members(&self, name: &str, limit: usize) -> Result<Vec<Member>, RecordsError> {
        let found = self.records.members(name, limit).await;
        self.charge(kind::of_list(name));
        found
    }

    async fn glance(&self, keys: &[Key]) -> Result<Vec<Record>, RecordsError> {
        let found = self.records.glance(keys).await;
        self.charge(keys.first().map_or("others", kind::kind_of));
        found
    }

    async fn due(&self, at: Timestamp, limit: usize) -> Result<Vec<DueRow>, RecordsError> {
        let found = self.records.due(at, limit).await;
        self.charge(kind::DUE);
        found
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, RecordsError> {
        let found = self.records.next_due().await;
        self.charge(kind::DUE);
        found
    }

    async fn commit(&self, items: Vec<Write>) -> Result<(), CommitError> {
        let kept = items.clone();
        self.records.commit(items).await?;
        self.note(&kept);
        self.charge(&kind::of_commit(&kept));
        Ok(())
    }
}
