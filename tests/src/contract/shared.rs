//! A store whose records are all small ones of an aggregate: where a store keeps those in one item, the whole contract is about such items.

use std::sync::Arc;

use async_trait::async_trait;
use engine::keys;
use engine::ports::{
    BODY_BYTES_MAX, CommitError, DueRow, Key, Member, Page, PageToken, Record, Records,
    RecordsError, Write,
};
use jiff::Timestamp;

/// The store, called by keys that say nothing of it.
pub struct Shared(pub Arc<dyn Records>);

fn pk_in(pk: &str) -> String {
    format!("JOB#{pk}")
}

fn sk_in(sk: &str) -> String {
    format!("{}{sk}", keys::EFFECT)
}

fn key_in(key: &Key) -> Key {
    Key {
        pk: pk_in(&key.pk),
        sk: sk_in(&key.sk),
    }
}

fn key_out(key: &Key) -> Key {
    Key {
        pk: key.pk.strip_prefix("JOB#").unwrap().to_owned(),
        sk: key.sk.strip_prefix(keys::EFFECT).unwrap().to_owned(),
    }
}

/// Bodies are JSON everywhere but in the contract; one of maximum length stays unchanged.
fn record_in(record: Record) -> Record {
    let json = serde_json::to_string(&record.body).unwrap();
    Record {
        key: key_in(&record.key),
        body: if json.len() <= BODY_BYTES_MAX {
            json
        } else {
            record.body
        },
        ..record
    }
}

fn record_out(record: Record) -> Record {
    Record {
        key: key_out(&record.key),
        body: serde_json::from_str(&record.body).unwrap_or(record.body),
        ..record
    }
}

fn page_out(page: Page) -> Page {
    Page {
        records: page.records.into_iter().map(record_out).collect(),
        next: page.next.map(|token| place(token, key_out)),
    }
}

/// A list's page token names a record; a partition's is the store's own matter.
fn place(token: PageToken, called: fn(&Key) -> Key) -> PageToken {
    match token.place() {
        Ok((sort, key)) => PageToken::after(&sort, &called(&key)),
        Err(_) => token,
    }
}

fn write_in(write: Write) -> Write {
    match write {
        Write::Put { record, expect } => Write::Put {
            record: record_in(record),
            expect,
        },
        Write::Delete { key, expect } => Write::Delete {
            key: key_in(&key),
            expect,
        },
        Write::Check { key, expect } => Write::Check {
            key: key_in(&key),
            expect,
        },
    }
}

#[async_trait]
impl Records for Shared {
    async fn get(&self, key: &Key) -> Result<Option<Record>, RecordsError> {
        Ok(self.0.get(&key_in(key)).await?.map(record_out))
    }

    async fn query(
        &self,
        pk: &str,
        prefix: &str,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        let (pk, prefix) = (pk_in(pk), sk_in(prefix));
        Ok(page_out(self.0.query(&pk, &prefix, after, limit).await?))
    }

    async fn list(
        &self,
        name: &str,
        newest: bool,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        let after = after.map(|token| place(token, key_in));
        Ok(page_out(self.0.list(name, newest, after, limit).await?))
    }

    async fn glance(&self, keys: &[Key]) -> Result<Vec<Record>, RecordsError> {
        let keys: Vec<Key> = keys.iter().map(key_in).collect();
        let found = self.0.glance(&keys).await?.into_iter();
        Ok(found.map(record_out).collect())
    }

    async fn members(&self, name: &str, limit: usize) -> Result<Vec<Member>, RecordsError> {
        let found = self.0.members(name, limit).await?.into_iter();
        let out = |member: Member| Member {
            key: key_out(&member.key),
            ..member
        };
        Ok(found.map(out).collect())
    }

    async fn due(&self, at: Timestamp, limit: usize) -> Result<Vec<DueRow>, RecordsError> {
        let rows = self.0.due(at, limit).await?.into_iter();
        let out = |row: DueRow| DueRow {
            key: key_out(&row.key),
            ..row
        };
        Ok(rows.map(out).collect())
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, RecordsError> {
        self.0.next_due().await
    }

    async fn commit(&self, items: Vec<Write>) -> Result<(), CommitError> {
        let items = items.into_iter().map(write_in).collect();
        let outcome = self.0.commit(items).await;
        outcome.map_err(|error| match error {
            CommitError::Conflict { key } => CommitError::Conflict { key: key_out(&key) },
            CommitError::TooLarge { .. }
            | CommitError::Unavailable(_)
            | CommitError::Unknown(_) => error,
        })
    }
}
