//! A cache of the jobs of recent polls. A process that ticks alone need not read every job at every tick: it asks who
//! is watched, and takes unchanged jobs from the cache.
//!
//! A decision from a cached job is saved under the job's version, so a concurrent change is never overwritten: the
//! job is read again, and the next poll decides.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::ids::AccountName;
use domain::job::Job;
use domain::step::Step;
use domain::when::is_within;
use jiff::{SignedDuration, Timestamp};

use super::{OtherPollers, Poller};
use crate::backend::{Error, due_after_write};
use crate::keys;
use crate::ports::{Key, Member};
use crate::save::job_list;
use crate::store::{Versioned, decode};

/// Cache lifetime of a job. Another writer may change it so that the same observation of its session means something
/// new: that is seen after this.
const JOB_TTL: SignedDuration = SignedDuration::from_mins(10);

/// The cached jobs, by the record's key.
#[derive(Default)]
pub(super) struct JobCache(Mutex<BTreeMap<Key, CachedJob>>);

struct CachedJob {
    /// When it was read.
    at: Timestamp,
    /// The job as stored.
    stored: Versioned<Job>,
    /// Its place in the list of watched jobs: another place means that a message was sent since.
    place: String,
}

impl JobCache {
    /// Cached jobs in request order; `None` = must be read. A job that is not requested any more may have changed
    /// when it returns, so it is dropped.
    fn get_all(
        &self,
        account: &AccountName,
        asked: &[Member],
        now: Timestamp,
    ) -> Vec<Option<Versioned<Job>>> {
        let mut all = self.all();
        let wanted: BTreeSet<&Key> = asked.iter().map(|member| &member.key).collect();
        let of_others = |seen: &CachedJob| seen.stored.value.account != *account;
        all.retain(|key, seen| {
            let fresh = is_within(seen.at, now, JOB_TTL);
            fresh && (wanted.contains(key) || of_others(seen))
        });
        let cached = |member: &Member| {
            let seen = all.get(&member.key);
            seen.filter(|seen| seen.place == member.sort)
                .map(|seen| seen.stored.clone())
        };
        asked.iter().map(cached).collect()
    }

    /// Caches what was read.
    fn insert(&self, stored: Versioned<Job>, place: String, at: Timestamp) {
        let key = keys::job(&stored.value.id);
        self.all().insert(key, CachedJob { at, stored, place });
    }

    /// Updates the cache after a save. A job that is also announced may have another place in the index of times, so
    /// it is read again.
    pub(super) fn saved(&self, before: &Versioned<Job>, step: &Step<Job>, now: Timestamp) {
        let mut all = self.all();
        let key = keys::job(&before.value.id);
        let alone = step.follow_ups.is_empty() && step.amended.is_empty();
        if let (Some(seen), true) = (all.get_mut(&key), alone) {
            seen.place = job_list(&step.aggregate).map_or_else(String::new, |list| list.sort);
            seen.stored = Versioned {
                value: step.aggregate.clone(),
                version: before.version + 1,
                due: due_after_write(before.due, step.due, now),
            };
        } else {
            all.remove(&key);
        }
    }

    /// Drops a job whose row was changed by another process, or moved by us; the next poll reads it.
    pub(super) fn invalidate(&self, key: &Key) {
        self.all().remove(key);
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Key, CachedJob>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Poller {
    /// The watched jobs of an account, fresh, or cached for less than [`JOB_TTL`] in a process that ticks alone.
    pub(super) async fn watched(
        &self,
        account: &AccountName,
        others: OtherPollers,
    ) -> Result<Vec<Versioned<Job>>, Error> {
        let store = &self.backend.store;
        let asked = match others {
            OtherPollers::Maybe => None,
            OtherPollers::Excluded => store.watched_keys(account).await?,
        };
        let Some(asked) = asked else {
            return Ok(store.watched(account).await?);
        };
        let now = self.backend.now();
        let mut recalled = self.jobs.get_all(account, &asked, now);
        let missing = asked.iter().zip(&recalled);
        let missing = missing.filter(|(_, job)| job.is_none());
        let missing: Vec<Key> = missing.map(|(member, _)| member.key.clone()).collect();
        if missing.is_empty() {
            return Ok(recalled.into_iter().flatten().collect());
        }
        let list = keys::jobs_of("watched", account);
        for record in store.records().glance(&missing).await? {
            // The index may name a job that has left since.
            let Some(place) = record.list.as_ref().filter(|place| place.name == list) else {
                continue;
            };
            let at = asked.iter().position(|member| member.key == record.key);
            if let Some(job) = at.and_then(|at| recalled.get_mut(at)) {
                let found: Versioned<Job> = decode(&record)?;
                self.jobs.insert(found.clone(), place.sort.clone(), now);
                *job = Some(found);
            }
        }
        Ok(recalled.into_iter().flatten().collect())
    }
}
