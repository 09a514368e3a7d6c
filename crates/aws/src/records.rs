//! Records on DynamoDB: one table with two sparse indexes, and transactions under conditions.

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::Builder;
use engine::keys;
use engine::ports::{
    CommitError, DueRow, Key, Member, Page, PageToken, Record, Records, RecordsError, Write,
    check_limits,
};
use jiff::Timestamp;

use crate::meter::{Counters, OfTable};

mod ambiguity;
mod batch;
mod expression;
mod failure;
mod item;
mod item_cache;
mod packed;
mod parts;
mod read;
mod shared_item;
mod write;

use item_cache::ItemCache;
use read::ReadRequest;

/// The record store.
///
/// A record that was deleted and is put again starts at version 1, as on SQLite.
/// Lists and due rows are read from indexes, which follow the table after a moment; `get` and `query` read the table
/// as of its last commit.
#[derive(Debug, Clone)]
pub struct Table {
    client: Client,
    name: String,
    homes: ItemCache,
}

impl Table {
    /// The table of this name.
    pub fn new(config: &SdkConfig, name: impl Into<String>) -> Self {
        Self::with_config(Builder::from(config), name)
    }

    /// The table of this name, whose calls are counted.
    pub fn metered(config: &SdkConfig, name: impl Into<String>, counters: Counters) -> Self {
        let settings = Builder::from(config).interceptor(OfTable(counters));
        Self::with_config(settings, name)
    }

    /// The table of this name, called with these settings.
    pub fn with_config(settings: Builder, name: impl Into<String>) -> Self {
        let settings = settings.retry_classifier(failure::Contention).build();
        Self {
            client: Client::from_conf(settings),
            name: name.into(),
            homes: ItemCache::default(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Every record in no particular order, page by page. For exports only.
    pub async fn scan(&self, after: Option<PageToken>, limit: usize) -> Result<Page, RecordsError> {
        read::scan(self, after, limit).await
    }
}

#[async_trait]
impl Records for Table {
    async fn get(&self, key: &Key) -> Result<Option<Record>, RecordsError> {
        read::get(self, key).await
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
        read::partition(self, pk, prefix, after, limit).await
    }

    /// Records at the same place have no particular order, and a page may be short when some have just left the list.
    /// A limit of 0 counts as 1.
    async fn list(
        &self,
        name: &str,
        newest: bool,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        let after = after.map(|token| token.place()).transpose()?;
        let question = ReadRequest::list(name, newest, after);
        read::list(self, name, &question, limit).await
    }

    /// Rows due at the same time come in no particular order.
    async fn members(&self, name: &str, limit: usize) -> Result<Vec<Member>, RecordsError> {
        read::members(self, name, limit).await
    }

    async fn count(&self, name: &str) -> Result<u64, RecordsError> {
        read::count_of(self, name).await
    }

    /// Costs half of a read as of their last commit.
    async fn glance(&self, keys: &[Key]) -> Result<Vec<Record>, RecordsError> {
        let (small, others): (Vec<&Key>, Vec<&Key>) =
            keys.iter().partition(|key| keys::home(key).is_some());
        let mut found: Vec<Record> = batch::get(self, &others).await?.into_values().collect();
        for key in small {
            found.extend(read::get(self, key).await?);
        }
        Ok(found)
    }

    async fn due(&self, at: Timestamp, limit: usize) -> Result<Vec<DueRow>, RecordsError> {
        read::due(self, Some(at), limit).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, RecordsError> {
        let first = read::due(self, None, 1).await?;
        Ok(first.first().map(|row| row.due))
    }

    async fn commit(&self, items: Vec<Write>) -> Result<(), CommitError> {
        check_limits(&items)?;
        write::commit(self, &items).await
    }
}
