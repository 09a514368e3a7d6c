//! Imports all records of another store unchanged, with unfinished effects in doubt.
//!
//! Nothing is due before everything is there, and everything is paused until the end, so a process that works on the
//! store meanwhile does nothing.
//! An import that broke off starts again with the same records and has the same result.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::backend::{Backend, Error};
use crate::keys;
use crate::ports::{CommitError, Expect, Key, Record, Records, RecordsError, Write};
use crate::settings::Switches;
use crate::store::{encode, refuse_newer};

/// Records in one commit: the largest bodies there are then stay within its bytes.
const BATCH: usize = 25;

/// Marks a store that is being filled; deleted at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Importing {
    /// When the export was made.
    pub from: Timestamp,
    /// How many records it has.
    pub records: u64,
}

/// Why nothing, or not everything, was taken over.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The store is in use.
    #[error("the store is not empty: it holds {} {}", key.pk, key.sk)]
    Occupied {
        /// A record in it.
        key: Key,
    },
    /// Another import was begun there.
    #[error("another import into this store was begun, of an export made at {from}")]
    Another {
        /// When that export was made.
        from: Timestamp,
    },
    /// Another process has ended it meanwhile.
    #[error("another caller ended this import meanwhile")]
    Ended,
    /// It could not be read or written.
    #[error(transparent)]
    Store(#[from] Error),
}

impl From<RecordsError> for ImportError {
    fn from(error: RecordsError) -> Self {
        Self::Store(error.into())
    }
}

impl From<CommitError> for ImportError {
    fn from(error: CommitError) -> Self {
        Self::Store(error.into())
    }
}

/// Whether a record means nothing outside of the process that wrote it, and is not taken over: who may tick next.
fn stays_behind(key: &Key) -> bool {
    *key == keys::tick() || *key == keys::importing()
}

/// Whether a Gaffer writes it by itself over an empty store: its id, its ticks, and its usage.
fn is_first_look(key: &Key) -> bool {
    [keys::installation(), keys::tick()].contains(key) || keys::is_usage(key)
}

/// Begins: refuses a store that is in use, or that has another import in progress. `some` are a few of its records.
///
/// Records that a Gaffer writes when it first opens an empty store do not count as use.
pub async fn begin(
    records: &dyn Records,
    some: &[Record],
    importing: Importing,
) -> Result<(), ImportError> {
    if let Some(found) = records.get(&keys::importing()).await? {
        let found: Importing = crate::store::decode(&found)?.value;
        if found == importing {
            return Ok(());
        }
        return Err(ImportError::Another { from: found.from });
    }
    let used = some.iter().find(|record| !is_first_look(&record.key));
    if let Some(record) = used {
        let key = record.key.clone();
        return Err(ImportError::Occupied { key });
    }
    let marker = plain(keys::importing(), encode(&importing));
    records.commit(vec![put(marker, Expect::Absent)]).await?;
    Ok(())
}

/// Fills the store: first everything without a due time, with everything paused, then what is due.
///
/// Each commit holds only while the import goes on: once another process has ended it and works with the store,
/// nothing is overwritten.
pub async fn fill(
    records: &dyn Records,
    all: &[Record],
    now: Timestamp,
) -> Result<(), ImportError> {
    for record in all {
        refuse_newer(record)?;
    }
    let paused = Switches {
        paused_since: Some(now),
        ..Switches::default()
    };
    let going_on = going_on(records).await?;
    let switches = plain(keys::switches(), encode(&paused));
    put_all(records, &going_on, [switches].into_iter()).await?;
    let taken = |record: &&Record| !stays_behind(&record.key) && record.key != keys::switches();
    let taken: Vec<&Record> = all.iter().filter(taken).collect();
    // Without due times no process handles a record whose neighbours are still missing.
    for some in taken.chunks(BATCH) {
        let quiet = some.iter().map(|record| Record {
            due: None,
            ..(*record).clone()
        });
        put_all(records, &going_on, quiet).await?;
    }
    let due: Vec<&Record> = taken.into_iter().filter(|it| it.due.is_some()).collect();
    for some in due.chunks(BATCH) {
        let whole = some.iter().map(|record| (*record).clone());
        put_all(records, &going_on, whole).await?;
    }
    Ok(())
}

async fn put_all(
    records: &dyn Records,
    going_on: &Expect,
    some: impl Iterator<Item = Record>,
) -> Result<(), CommitError> {
    let check = Write::Check {
        key: keys::importing(),
        expect: *going_on,
    };
    let writes = some.map(|record| put(record, Expect::Any));
    records.commit(writes.chain([check]).collect()).await
}

/// The condition that the import has not ended.
async fn going_on(records: &dyn Records) -> Result<Expect, ImportError> {
    let found = records.get(&keys::importing()).await?;
    let found = found.ok_or(ImportError::Ended)?;
    Ok(Expect::Version(found.version))
}

fn put(record: Record, expect: Expect) -> Write {
    Write::Put { record, expect }
}

fn plain(key: Key, body: String) -> Record {
    Record {
        key,
        version: 0,
        body,
        due: None,
        list: None,
        forget: None,
    }
}

impl Backend {
    /// Ends an import over a backend of the imported installation: marks unfinished effects as doubtful, and resumes
    /// work. Returns how many effects are in doubt.
    ///
    /// Resuming and ending the import is one commit: another run afterwards would overwrite live data.
    pub async fn end_import(&self, all: &[Record], from: Timestamp) -> Result<u64, ImportError> {
        let records = self.store.records();
        let expect = going_on(records).await?;
        let due = all.iter().filter(|record| record.due.is_some());
        let due = due.map(|record| record.key.clone()).collect();
        let doubted = self.mark_uncertain(due, from).await?;
        let before = all.iter().find(|record| record.key == keys::switches());
        let switches: Switches = match before {
            Some(record) => crate::store::decode(record)?.value,
            None => Switches::default(),
        };
        let switches = plain(keys::switches(), encode(&switches));
        let key = keys::importing();
        let over = Write::Delete { key, expect };
        records
            .commit(vec![put(switches, Expect::Any), over])
            .await?;
        Ok(doubted)
    }
}
