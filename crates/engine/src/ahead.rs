//! Sets a store right whose times were taken from a clock that was ahead: see [`domain::ahead`].

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use domain::ahead::{self, ahead_by};
use domain::pull::PullPhase;
use domain::tick::Lease;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::desk::{Desk, Error, ignore_conflict};
use crate::keys;
use crate::ports::{Expect, Key, PageToken, Record, Write};
use crate::settings::TrackedPull;
use crate::store::{PAGE, Store, decode};

/// Rows that are due are read so many at once.
const ROWS: usize = 1_000;

/// The latest time that this process has seen.
#[derive(Debug, Default)]
pub(crate) struct Seen(Mutex<Option<Timestamp>>);

impl Seen {
    /// Sees the present; answers the latest time before, if the clock was set back since.
    fn now(&self, now: Timestamp) -> Option<Timestamp> {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = latest.replace(now)?;
        ahead_by(before, now).map(|_| before)
    }

    /// Something is stored as done at a time.
    pub(crate) fn note(&self, at: Timestamp) {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *latest = (*latest).max(Some(at));
    }
}

impl Store {
    /// The newest time at which something was stored as done, by the last polls and the newest job; none before anything was.
    pub async fn newest(&self) -> Result<Option<Timestamp>, Error> {
        let ticked = self.read::<Lease>(&keys::tick()).await?;
        let ticked = ticked.and_then(|lease| lease.value.at);
        let accounts = self.accounts().await?;
        let polled = accounts.iter().filter_map(|it| it.value.tally.last).max();
        // One that is over keeps the time that it was given.
        let job = self.jobs(1).await?.pop().map(|found| found.value);
        let created = job.filter(|job| !job.is_ended()).map(|job| job.created_at);
        Ok(ticked.max(polled).max(created))
    }
}

impl Desk {
    /// Sets the store right if the clock was set back since the last call in this process. To be called often: it reads nothing otherwise.
    pub(crate) async fn mind_the_clock(&self) -> Result<(), Error> {
        match self.seen.now(self.now()) {
            Some(latest) => self.move_times_back(Some(latest)).await,
            None => Ok(()),
        }
    }

    /// Sets the store right if its newest time lies in the future. To be called when a process starts.
    pub async fn set_times_right(&self) -> Result<(), Error> {
        self.move_times_back(None).await
    }

    /// Moves back what was stored for later, and what tells by how much at last: an import that broke off is begun again.
    async fn move_times_back(&self, seen: Option<Timestamp>) -> Result<(), Error> {
        let now = self.now();
        let newest = self.store.newest().await?.max(seen);
        let Some(ahead) = newest.and_then(|newest| ahead_by(newest, now)) else {
            return Ok(());
        };
        tracing::warn!(
            ahead = %format!("{ahead:#}"),
            "the clock was ahead and was set back; what waits for later is moved back by as much"
        );
        let by = (now, ahead);
        let (mut partitions, mut alone) = (BTreeSet::new(), self.unlisted().await?);
        for row in self.all_due().await? {
            match keys::is_aggregate(&row) {
                true => {
                    partitions.insert(row.pk.clone());
                }
                false => alone.push(row),
            }
        }
        for pk in &partitions {
            self.move_partition_back(pk, by).await?;
        }
        for key in alone {
            if let Some(record) = self.store.records().get(&key).await? {
                self.move_record_back(record, by).await?;
            }
        }
        self.queue.move_back(ahead).await?;
        // They told by how much.
        for account in self.store.accounts().await? {
            let key = keys::account(&account.value.name);
            if let Some(record) = self.store.records().get(&key).await? {
                self.move_record_back(record, by).await?;
            }
        }
        if let Some(record) = self.store.records().get(&keys::tick()).await? {
            self.move_record_back(record, by).await?;
        }
        Ok(())
    }

    /// Everything that is due at some time, but for what tells by how much the clock was ahead.
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

    /// What limits or delays work and is due by itself at no time.
    async fn unlisted(&self) -> Result<Vec<Key>, Error> {
        let mut all = vec![keys::access(), keys::budgets()];
        for account in self.store.accounts().await? {
            all.push(keys::slots(&account.value.name));
        }
        for source in self.store.sources().await? {
            let repo = &source.value.repo;
            all.extend([keys::merges(repo), keys::reach(repo), keys::feed(repo)]);
        }
        let mut after: Option<PageToken> = None;
        loop {
            let records = self.store.records();
            let page = records.list(keys::OPEN_PULLS, false, after, PAGE).await?;
            for record in &page.records {
                let pull = decode::<TrackedPull>(record)?.value.pull;
                let base = match (&pull.phase, &pull.ready) {
                    (PullPhase::Merging { base, .. }, _) => Some(&base.branch),
                    (_, Some(ready)) => Some(&ready.base),
                    (
                        PullPhase::Open | PullPhase::Closed { .. } | PullPhase::Settled { .. },
                        None,
                    ) => None,
                };
                all.extend(base.map(|base| keys::lane(&pull.pull.repo, base.as_str())));
            }
            after = page.next;
            if after.is_none() {
                all.sort();
                all.dedup();
                return Ok(all);
            }
        }
    }

    /// Everything of an aggregate, but for events, which stay as they were told.
    async fn move_partition_back(
        &self,
        pk: &str,
        by: (Timestamp, SignedDuration),
    ) -> Result<(), Error> {
        let mut after = None;
        loop {
            let page = self.store.records().query(pk, "", after, PAGE).await?;
            for record in page.records {
                if !record.key.sk.starts_with(keys::EVENT) {
                    self.move_record_back(record, by).await?;
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Whoever changes the record meanwhile does so by the clock as it is now.
    async fn move_record_back(
        &self,
        record: Record,
        by: (Timestamp, SignedDuration),
    ) -> Result<(), Error> {
        let mut body: Value = match serde_json::from_str(&record.body) {
            Ok(body) => body,
            // Whoever needs it tells that it cannot be read.
            Err(_) => return Ok(()),
        };
        let due = record.due.map(|due| ahead::moved_back(due, by));
        let is_changed = ahead::move_back(&mut body, by);
        if !is_changed && due == record.due {
            return Ok(());
        }
        let expect = Expect::Version(record.version);
        let record = Record {
            body: body.to_string(),
            due,
            ..record
        };
        let put = Write::Put { record, expect };
        let outcome = self.store.records().commit(vec![put]).await;
        ignore_conflict(outcome.map_err(Error::from))
    }
}
