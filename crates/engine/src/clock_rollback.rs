//! Repairs a store whose times came from a clock that was ahead: see [`domain::clock_rollback`].
//!
//! Only a process that works alone over a data folder does so.
//! Machines that share a table may differ by more than [`TOLERANCE`](domain::clock_rollback::TOLERANCE) all the time, and each
//! would move back what the other has just stored: there nothing is moved, and the doctor reports it.
//!
//! A pass that breaks off starts again at the next tick. It moves back again what has still not come; those rows are
//! then due too early, which changes nothing.

use std::collections::BTreeSet;

use domain::clock_rollback::{self, ahead_by};
use domain::effect::Effect;
use domain::tick::Lease;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::backend::{Backend, DECIDE_AGAIN_MAX, Error};
use crate::keys;
use crate::ports::{Expect, Key, Record, Write};
use crate::store::{PAGE, Store, decode};

/// Rows that are due are read so many at once.
const ROWS: usize = 1_000;

/// When a job or a delivery was created, as stored: lists are in that order, and it delays nothing.
const CREATED: &str = "/it/created_at";

impl Store {
    /// The newest time of a finished action, by the last polls and ticks; `None` before the first.
    pub async fn newest(&self) -> Result<Option<Timestamp>, Error> {
        let ticked = self.read::<Lease>(&keys::tick()).await?;
        let ticked = ticked.and_then(|lease| lease.value.at);
        let accounts = self.accounts().await?;
        let polled = accounts
            .iter()
            .filter_map(|it| it.value.counters.last)
            .max();
        Ok(ticked.max(polled))
    }
}

impl Backend {
    /// Repairs the store if its newest time lies in the future, at the first call in a process and whenever the clock
    /// was set back since the last one. Otherwise it reads nothing. A failure is retried at the next call.
    pub async fn correct_clock_rollback(&self) {
        if self.seen.is_right(self.now()) {
            return;
        }
        match self.move_times_back().await {
            Ok(()) => self.seen.compared(self.now()),
            Err(error) => {
                tracing::error!(%error, "the store's times could not be set right by the clock; the next tick tries again");
            }
        }
    }

    /// Moves back the times of what waits, and last the records that show by how much: a pass that broke off starts
    /// again.
    async fn move_times_back(&self) -> Result<(), Error> {
        let seen = self.seen.latest();
        let newest = self.store.newest().await?.max(seen);
        let Some(ahead) = newest.and_then(|newest| ahead_by(newest, self.now())) else {
            return Ok(());
        };
        tracing::warn!(
            ahead = %format!("{ahead:#}"),
            "the clock was ahead and was set back; what waits for later is moved back by as much"
        );
        let (mut partitions, mut alone) = (BTreeSet::new(), self.unlisted().await?);
        for row in self.all_due().await? {
            match keys::has_small_records(&row) {
                true => {
                    partitions.insert(row.pk.clone());
                }
                false => alone.push(row),
            }
        }
        for pk in &partitions {
            self.move_partition_back(pk, ahead).await?;
        }
        for key in &alone {
            self.move_record_back(key, ahead).await?;
        }
        self.queue.move_back(ahead).await?;
        // These records showed by how much.
        for account in self.store.accounts().await? {
            let key = keys::account(&account.value.name);
            self.move_record_back(&key, ahead).await?;
        }
        self.move_record_back(&keys::tick(), ahead).await
    }

    /// All keys with a due time, except the records that show by how much the clock was ahead.
    async fn all_due(&self) -> Result<Vec<Key>, Error> {
        let mut limit = ROWS;
        loop {
            let rows = self.store.records().due(Timestamp::MAX, limit).await?;
            if rows.len() < limit {
                let keys = rows.into_iter().map(|row| row.key);
                return Ok(keys.filter(|key| !keys::is_account(key)).collect());
            }
            limit = limit.saturating_mul(4);
        }
    }

    /// Records that limit or delay work and have no due time of their own. Lanes need no repair: a turn that ends
    /// later than one begun now is over.
    async fn unlisted(&self) -> Result<Vec<Key>, Error> {
        let mut all = vec![keys::credential_access(), keys::budgets()];
        for account in self.store.accounts().await? {
            all.push(keys::slots(&account.value.name));
        }
        for source in self.store.sources().await? {
            let repo = &source.value.repo;
            all.extend([
                keys::merges(repo),
                keys::repository_access(repo),
                keys::webhook_activity(repo),
            ]);
        }
        Ok(all)
    }

    /// Moves all records of an aggregate back, except events, which stay as delivered.
    async fn move_partition_back(&self, pk: &str, ahead: SignedDuration) -> Result<(), Error> {
        let mut after = None;
        loop {
            let page = self.store.records().query(pk, "", after, PAGE).await?;
            for record in page.records {
                if !record.key.sk.starts_with(keys::EVENT) {
                    self.move_record_back(&record.key, ahead).await?;
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Another writer may have decided by the wrong clock meanwhile, so the record is read again.
    async fn move_record_back(&self, key: &Key, ahead: SignedDuration) -> Result<(), Error> {
        for _ in 0..DECIDE_AGAIN_MAX {
            let found = self.store.records().get(key).await?;
            let Some(record) = found.and_then(|found| moved(found, self.now(), ahead)) else {
                return Ok(());
            };
            let expect = Expect::Version(record.version);
            let put = Write::Put { record, expect };
            let outcome = self.store.records().commit(vec![put]).await;
            match outcome.map_err(Error::from) {
                Err(error) if error.is_conflict() => {}
                outcome => return outcome,
            }
        }
        tracing::warn!(pk = %key.pk, sk = %key.sk, "another process changes it all the time: it keeps its times");
        Ok(())
    }
}

/// A record with its future times moved back; `None` if there is none, or if it is unreadable: the next user of the
/// record reports that.
fn moved(record: Record, now: Timestamp, ahead: SignedDuration) -> Option<Record> {
    let mut body: Value = serde_json::from_str(&record.body).ok()?;
    let ahead = match decode::<Effect>(&record) {
        Ok(effect) => clock_rollback::effect_offset(&effect.value, now, ahead),
        Err(_) => ahead,
    };
    let is_listed = keys::is_listed_by_age(&record.key);
    let created = body.pointer(CREATED).filter(|_| is_listed).cloned();
    let is_changed = clock_rollback::move_back(&mut body, now, ahead);
    if let (Some(place), Some(created)) = (body.pointer_mut(CREATED), created) {
        *place = created;
    }
    let due = record
        .due
        .map(|due| clock_rollback::moved_back(due, now, ahead));
    (is_changed || due != record.due).then(|| Record {
        body: body.to_string(),
        due,
        ..record
    })
}
