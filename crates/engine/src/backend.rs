//! What every role works with: the store, the queue, the time and new ids; and the unit of work that saves a decision whole.

mod after_commit;
mod clock_watch;
mod error;
mod index_entry;
mod update;

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::ids::{AccountName, InstallationId, JobId};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use tokio::sync::Notify;
use ulid::Ulid;

use crate::keys;
use crate::ports::{Clock, Expect, Ids, Key, Queue, Record, Records, Write};
use crate::shared::SharedAnswers;
use crate::store::{Store, Versioned, encode};
use crate::work::Work;
use after_commit::AfterCommit;
use clock_watch::ClockWatch;
pub use error::Error;
pub use index_entry::IndexEntry;
pub use update::decide_again;
pub(crate) use update::ignore_conflict;

/// An outbox row that was not published by then was left by a crash; the poller publishes it.
pub const OUTBOX_GRACE: SignedDuration = SignedDuration::from_secs(5);

/// Maximum attempts at a decision after conflicts with other writers.
pub const DECIDE_AGAIN_MAX: u32 = 8;

/// What every role works with.
#[derive(Clone)]
pub struct Backend {
    /// Everything stored.
    pub store: Store,
    /// Wake-ups.
    pub queue: Arc<dyn Queue>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// New ids.
    pub ids: Arc<dyn Ids>,
    /// Whose sessions are ours.
    pub installation: InstallationId,
    /// Whether nothing may be written outside.
    pub observe_only: bool,
    bell: Arc<Notify>,
    pub(crate) answers: Arc<SharedAnswers>,
    pub(crate) seen: Arc<ClockWatch>,
}

impl Backend {
    /// A backend over a store and a queue.
    pub fn new(
        records: Arc<dyn Records>,
        queue: Arc<dyn Queue>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        installation: InstallationId,
    ) -> Self {
        let bell = Arc::new(Notify::new());
        Self {
            store: Store::new(records),
            queue,
            clock,
            ids,
            installation,
            observe_only: false,
            bell,
            answers: Arc::default(),
            seen: Arc::default(),
        }
    }

    /// The same backend for a process that only observes.
    pub fn observe_only(mut self, observe_only: bool) -> Self {
        self.observe_only = observe_only;
        self
    }

    /// The same backend with another way to send messages.
    pub fn with_queue(mut self, queue: Arc<dyn Queue>) -> Self {
        self.queue = queue;
        self
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Resolves after the next commit in this process.
    pub async fn saved(&self) {
        self.bell.notified().await;
    }

    /// A new unit of work.
    pub fn unit(&self) -> UnitOfWork {
        UnitOfWork {
            now: self.now(),
            writes: Vec::new(),
            messages: Vec::new(),
            ahead: Vec::new(),
            telling: AfterCommit::default(),
            standing: BTreeMap::new(),
            news: Vec::new(),
        }
    }

    /// Saves a unit of work whole, then publishes its messages. The poller publishes what cannot be sent now; a job
    /// that waits for a slot recovers from a lost call, and a hint is covered by the row behind it.
    ///
    /// A write ahead of the unit is a commit of its own: without the rest it means nothing.
    pub async fn commit(&self, unit: UnitOfWork) -> Result<(), Error> {
        if unit.is_empty() {
            return Ok(());
        }
        let UnitOfWork {
            mut writes,
            messages,
            ahead,
            mut telling,
            standing,
            now,
            news,
        } = unit;
        for write in ahead {
            self.store.records().commit(vec![write]).await?;
        }
        self.seen.note(self.now());
        let soon = now + OUTBOX_GRACE;
        // A message that a due row of this commit repeats needs no outbox row of its own.
        let (kept, told): (Vec<_>, Vec<_>) = messages
            .into_iter()
            .partition(|(_, work)| !writes.iter().any(|write| asks_for(write, work, soon)));
        telling.told = told.into_iter().map(|(_, work)| work).collect();
        for write in &mut writes {
            keep_due_rows(write, &standing, now);
        }
        for (pk, work) in kept {
            let key = keys::out(&pk, &self.ids.ulid(now));
            let record = Record {
                key: key.clone(),
                version: 0,
                body: encode(&work),
                due: Some(soon),
                list: None,
                forget: None,
            };
            writes.push(Write::Put {
                record,
                expect: Expect::Absent,
            });
            telling.rows.push((key, work));
        }
        if !writes.is_empty() {
            self.store.records().commit(writes).await?;
            self.bell.notify_waiters();
        }
        for (job, what) in news {
            tracing::info!(job.id = %job, "{what}");
        }
        self.run_after_commit(telling).await;
        Ok(())
    }

    /// A new id.
    pub fn ulid(&self) -> Ulid {
        self.ids.ulid(self.now())
    }
}

/// Whether a written row, when it is due, asks for the same as a message: such a message needs no row of its own.
fn asks_for(write: &Write, work: &Work, soon: Timestamp) -> bool {
    match write {
        Write::Put { record, .. } => {
            record.due.is_some_and(|due| due <= soon)
                && !record.key.sk.starts_with(keys::OUT)
                && Work::of_due(&record.key).as_ref() == Some(work)
        }
        Write::Delete { .. } | Write::Check { .. } => false,
    }
}

/// A move in the index of times is charged as two more writes. A row that is due a little too early keeps its time:
/// the poller moves it later, once for many writes.
fn keep_due_rows(write: &mut Write, standing: &BTreeMap<Key, Timestamp>, now: Timestamp) {
    let Write::Put { record, .. } = write else {
        return;
    };
    let stands = standing.get(&record.key).copied();
    record.due = due_after_write(stands, record.due, now);
}

/// The due time of a row after a write, for a row that has one before and after.
pub(crate) fn due_after_write(
    stands: Option<Timestamp>,
    wanted: Option<Timestamp>,
    now: Timestamp,
) -> Option<Timestamp> {
    let early = |at: &Timestamp| now < *at && wanted.is_some_and(|wanted| *at <= wanted);
    stands.filter(early).or(wanted)
}

/// What one decision saves: all of it or nothing.
pub struct UnitOfWork {
    now: Timestamp,
    writes: Vec<Write>,
    messages: Vec<(String, Work)>,
    /// What is written first, one after the other.
    ahead: Vec<Write>,
    telling: AfterCommit,
    /// Stored due times of rows that may be due too early.
    standing: BTreeMap<Key, Timestamp>,
    /// News of jobs, logged after the commit.
    pub(crate) news: Vec<(JobId, String)>,
}

impl UnitOfWork {
    /// When the unit was begun.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Puts a value that was read before, or is new when `found` is none.
    pub fn put<T: Serialize>(
        &mut self,
        key: Key,
        value: &T,
        found: Option<u64>,
        place: IndexEntry,
    ) {
        let expect = match found {
            Some(_) if cfg!(without_guard = "version_check") => Expect::Any,
            Some(version) if version > 0 => Expect::Version(version),
            Some(_) | None => Expect::Absent,
        };
        self.put_if(key, value, expect, place);
    }

    /// Puts a value under any condition.
    pub fn put_if<T: Serialize>(&mut self, key: Key, value: &T, expect: Expect, place: IndexEntry) {
        let record = Record {
            key,
            version: 0,
            body: encode(value),
            due: place.due,
            list: place.list,
            forget: place.forget,
        };
        self.writes.push(Write::Put { record, expect });
    }

    /// Lets a row keep its earlier due time in the index. Only for rows that the poller moves later: see [`crate::poller`].
    pub(crate) fn keep_due_row(&mut self, key: Key, stands: Option<Timestamp>) {
        self.standing.extend(stands.map(|at| (key, at)));
    }

    /// Deletes a record that was read before.
    pub fn delete<T>(&mut self, key: Key, found: &Versioned<T>) {
        self.writes.push(Write::Delete {
            key,
            expect: Expect::Version(found.version),
        });
    }

    /// Saves nothing when a record is another than was read, or gone.
    pub fn check(&mut self, key: Key, version: u64) {
        let expect = Expect::Version(version);
        self.writes.push(Write::Check { key, expect });
    }

    /// Sends a message once everything is saved. `pk` is the partition of the aggregate that is being saved.
    pub fn enqueue(&mut self, pk: &str, work: Work) {
        let message = (pk.to_owned(), work);
        if !self.messages.contains(&message) {
            self.messages.push(message);
        }
    }

    /// Once everything is saved a slot of an account may be free.
    pub(crate) fn frees_slot(&mut self, account: &AccountName) {
        if !self.telling.freed.contains(account) {
            self.telling.freed.push(account.clone());
        }
    }

    /// Writes a value before the unit and in a commit of its own: that costs half of what it would in a transaction.
    /// Only for values that mean nothing without the rest.
    pub(crate) fn put_ahead<T: Serialize>(
        &mut self,
        key: Key,
        value: &T,
        found: Option<u64>,
        place: IndexEntry,
    ) {
        let before = self.writes.len();
        self.put(key, value, found, place);
        self.ahead.extend(self.writes.drain(before..));
    }

    /// The same for a row whose content does not depend on its writer or on the number of attempts.
    pub(crate) fn put_ahead_again<T: Serialize>(&mut self, key: Key, value: &T, place: IndexEntry) {
        let before = self.writes.len();
        self.put_if(key, value, Expect::Any, place);
        self.ahead.extend(self.writes.drain(before..));
    }

    /// Sends a message once everything is saved that may be lost: what it is about is found without it.
    pub(crate) fn enqueue_hint(&mut self, work: Work) {
        if !self.telling.hints.contains(&work) {
            self.telling.hints.push(work);
        }
    }

    /// The same, after a delay.
    pub(crate) fn enqueue_hint_later(&mut self, work: Work, delay: SignedDuration) {
        self.telling.later.push((work, delay));
    }

    /// Once everything is saved a create of an account has ended.
    pub(crate) fn ends_create(&mut self, account: &AccountName) {
        self.telling.ended.push(account.clone());
    }

    /// After the commit a job waits in the queue of an account with scheduled slots, which had this version.
    pub(crate) fn joins(&mut self, account: &AccountName, version: u64) {
        self.telling.joined.push((account.clone(), version));
    }

    /// Whether nothing would be done.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.messages.is_empty() && self.telling.is_empty()
    }
}

#[cfg(test)]
mod tests;
