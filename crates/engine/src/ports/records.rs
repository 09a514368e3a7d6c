//! The record port: small versioned records under a partition key and a sort key, committed together under conditions.

use std::collections::BTreeMap;

use async_trait::async_trait;
use jiff::Timestamp;

/// Most items in one commit: DynamoDB's limit for a transaction.
pub const COMMIT_ITEMS_MAX: usize = 100;

/// Most bytes in one commit: under DynamoDB's 4 MB with room for keys and names.
pub const COMMIT_BYTES_MAX: usize = 3_500_000;

/// Most bytes in one body: a record is read often and must stay light.
pub const BODY_BYTES_MAX: usize = 64 * 1024;

/// Records that are read together by who counts them one by one: the most that DynamoDB gets in one request.
const COUNTED_AT_ONCE: usize = 100;

/// Where a record lives.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Partition: everything of one aggregate.
    pub pk: String,
    /// Place within it.
    pub sk: String,
}

/// A record's place in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListKey {
    /// The list's name, for example `jobs`.
    pub name: String,
    /// Its place there, in ascending order of text.
    pub sort: String,
    /// What it counts as in its list: see [`Records::words`].
    pub word: Option<String>,
}

/// One stored record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Where it lives.
    pub key: Key,
    /// Its version: 1 when first put, then one more with every put. The store sets it; writers pass the version that they read.
    pub version: u64,
    /// Its body, JSON in UTF-8.
    pub body: String,
    /// When it is due; `None` keeps it out of the due index.
    pub due: Option<Timestamp>,
    /// The list it is in, if any.
    pub list: Option<ListKey>,
    /// When the store may delete it, in whole seconds; `None` keeps it. A record that is still there later is fully
    /// valid: no decision depends on this.
    pub forget: Option<Timestamp>,
}

/// Under which condition an item is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// No record exists.
    Absent,
    /// It has exactly this version.
    Version(u64),
    /// Any version. Only for rows whose content does not depend on their writer.
    Any,
}

/// One item of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Put the record; the stored version becomes the found one plus one, or 1.
    Put {
        /// What to store; its `version` is ignored.
        record: Record,
        /// Under which condition.
        expect: Expect,
    },
    /// Delete the record.
    Delete {
        /// Which one.
        key: Key,
        /// Under which condition; deleting what is absent succeeds under `Any`.
        expect: Expect,
    },
    /// Only check a condition.
    Check {
        /// Of which record.
        key: Key,
        /// Which condition.
        expect: Expect,
    },
}

impl Write {
    /// The key it is about.
    pub fn key(&self) -> &Key {
        match self {
            Self::Put { record, .. } => &record.key,
            Self::Delete { key, .. } | Self::Check { key, .. } => key,
        }
    }

    /// Its condition.
    pub fn expect(&self) -> Expect {
        match self {
            Self::Put { expect, .. } | Self::Delete { expect, .. } | Self::Check { expect, .. } => {
                *expect
            }
        }
    }
}

/// Where a listing continues; opaque to callers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageToken(pub String);

impl PageToken {
    /// Continues after a place of a list, whether or not a record is there: the sort text and the key.
    ///
    /// The form is the same in every store, so a caller that knows a record's place needs no token from the store.
    pub fn after(sort: &str, key: &Key) -> Self {
        Self::of_parts([sort, &key.pk, &key.sk])
    }

    /// The place after which it continues.
    pub fn place(&self) -> Result<(String, Key), RecordsError> {
        let [sort, pk, sk] = self.parts()?;
        Ok((sort, Key { pk, sk }))
    }

    /// Continues after what these texts name, in a store's own order.
    pub fn of_parts<const PARTS: usize>(parts: [&str; PARTS]) -> Self {
        Self(serde_json::json!(parts.as_slice()).to_string())
    }

    /// The texts of which it was made. Tokens may come back from outside, so a foreign one is refused and never guessed
    /// at.
    pub fn parts<const PARTS: usize>(&self) -> Result<[String; PARTS], RecordsError> {
        let parts: Option<Vec<String>> = serde_json::from_str(&self.0).ok();
        let parts = parts.and_then(|parts| parts.try_into().ok());
        parts.ok_or_else(|| RecordsError::Unavailable {
            doing: "turning to the next page".to_owned(),
            message: "the page token is not from this listing; start again without one".to_owned(),
        })
    }
}

/// One page of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The records in order of their sort key.
    pub records: Vec<Record>,
    /// Where to go on; none on the last page.
    pub next: Option<PageToken>,
}

/// A member of a list, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The record.
    pub key: Key,
    /// Its place there.
    pub sort: String,
}

/// One row of the due index. Index reads may be stale: the row is claimed by a conditional write, never trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueRow {
    /// The record.
    pub key: Key,
    /// When it was due.
    pub due: Timestamp,
}

/// Why the store could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordsError {
    /// The store does not answer or refuses; asking later can help.
    #[error("the store is unavailable while {doing}: {message}")]
    Unavailable {
        /// What we were doing.
        doing: String,
        /// Its message.
        message: String,
    },
    /// A stored record that this version cannot read.
    #[error(
        "the stored record {key:?} cannot be read: {message}; restore a backup or upgrade gaffer"
    )]
    Unreadable {
        /// Which record.
        key: Key,
        /// What is wrong with it.
        message: String,
    },
}

/// Why a commit did not happen, or may not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A condition did not hold; nothing was written. Reload and decide again.
    #[error("another writer changed {key:?} meanwhile")]
    Conflict {
        /// The first item whose condition failed.
        key: Key,
    },
    /// The commit breaks a limit of the port; nothing was written.
    #[error("the commit is too large: {what}")]
    TooLarge {
        /// Which limit, with the number.
        what: String,
    },
    /// The store refused or could not be reached; nothing was written.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The answer was lost: it may or may not have been written. Reload and decide again.
    #[error("the outcome of a commit is unknown: {0}")]
    Unknown(String),
}

/// The store.
#[async_trait]
pub trait Records: Send + Sync {
    /// The record at a key, as of its last commit.
    async fn get(&self, key: &Key) -> Result<Option<Record>, RecordsError>;

    /// Records of one partition whose sort key starts with a prefix, ascending.
    async fn query(
        &self,
        pk: &str,
        prefix: &str,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError>;

    /// Records of one list, ascending by their place in it; `newest` reverses the order.
    async fn list(
        &self,
        name: &str,
        newest: bool,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError>;

    /// Members of a list, ascending by place, at most `limit`: it reads the index alone, so some may have left the
    /// list since.
    async fn members(&self, name: &str, limit: usize) -> Result<Vec<Member>, RecordsError> {
        let page = self.list(name, false, None, limit).await?;
        let member = |record: Record| {
            let sort = record.list?.sort;
            let key = record.key;
            Some(Member { key, sort })
        };
        Ok(page.records.into_iter().filter_map(member).collect())
    }

    /// How many records are in a list. An index may show the last changes a moment later.
    async fn count(&self, name: &str) -> Result<u64, RecordsError> {
        Ok(self.words(name).await?.into_values().sum())
    }

    /// How many records of a list are counted as each word; those without one as the empty word.
    async fn words(&self, name: &str) -> Result<BTreeMap<String, u64>, RecordsError> {
        let mut counts = BTreeMap::new();
        let mut after = None;
        loop {
            let page = self.list(name, false, after, COUNTED_AT_ONCE).await?;
            for record in page.records {
                let word = record.list.and_then(|list| list.word);
                *counts.entry(word.unwrap_or_default()).or_insert(0) += 1;
            }
            after = page.next;
            if after.is_none() {
                return Ok(counts);
            }
        }
    }

    /// Records at some keys, in no particular order, now or as of a moment ago: only for decisions that are saved
    /// under a condition. Missing ones are omitted.
    async fn glance(&self, keys: &[Key]) -> Result<Vec<Record>, RecordsError> {
        let mut found = Vec::with_capacity(keys.len());
        for key in keys {
            found.extend(self.get(key).await?);
        }
        Ok(found)
    }

    /// Rows that were due before or at a time, the longest due first.
    async fn due(&self, at: Timestamp, limit: usize) -> Result<Vec<DueRow>, RecordsError>;

    /// When the next row is due, so that a single process knows how long it may sleep.
    async fn next_due(&self) -> Result<Option<Timestamp>, RecordsError>;

    /// Writes all items or none.
    async fn commit(&self, items: Vec<Write>) -> Result<(), CommitError>;

    /// Deletes expired records, at most `limit`; returns how many. A store with automatic expiry has nothing to do.
    async fn forget(&self, _at: Timestamp, _limit: usize) -> Result<usize, CommitError> {
        Ok(0)
    }
}

/// Refuses what DynamoDB would refuse, alike for every adapter.
pub fn check_limits(items: &[Write]) -> Result<(), CommitError> {
    let too_large = |what: String| Err(CommitError::TooLarge { what });
    if items.len() > COMMIT_ITEMS_MAX {
        return too_large(format!("{} items, at most {COMMIT_ITEMS_MAX}", items.len()));
    }
    let mut bytes = 0;
    for (at, item) in items.iter().enumerate() {
        if items[..at]
            .iter()
            .any(|earlier| earlier.key() == item.key())
        {
            return too_large(format!("{:?} stands in it twice", item.key()));
        }
        let body = match item {
            Write::Put { record, .. } => record.body.len(),
            Write::Delete { .. } | Write::Check { .. } => 0,
        };
        if body > BODY_BYTES_MAX {
            return too_large(format!(
                "{:?} has {body} bytes, at most {BODY_BYTES_MAX}",
                item.key()
            ));
        }
        bytes += body + item.key().pk.len() + item.key().sk.len();
    }
    if bytes > COMMIT_BYTES_MAX {
        return too_large(format!("{bytes} bytes, at most {COMMIT_BYTES_MAX}"));
    }
    Ok(())
}
