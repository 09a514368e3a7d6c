//! A cache of the jobs of recent polls. A process that ticks alone need not read every job at every tick: it asks who
//! is watched, and takes unchanged jobs from the cache.
//!
//! A decision from a cached job is saved under the job's version, so a concurrent change is never overwritten: the
//! job is read again, and the next poll decides.
//!
//! Mere progress is cached too, and written now and then. A new process begins with the row, and finds the same when
//! it next reads the log from there; where cached progress is dropped, the log is read again at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::ids::AccountName;
use domain::job::{self, Job};
use domain::step::Step;
use domain::when::is_within;
use jiff::{SignedDuration, Timestamp};

use super::{OtherPollers, Poller};
use crate::backend::{Error, due_after_write};
use crate::keys;
use crate::ports::{Key, Member, Record};
use crate::save::job_list;
use crate::store::{Versioned, decode, encode};

/// Cache lifetime of a job. Another writer may change it so that the same observation of its session means something
/// new: that is seen after this.
const JOB_TTL: SignedDuration = SignedDuration::from_mins(10);

/// How long progress may stay in the cache alone: readers of the row see it this much later. Silence is not decided
/// from the row alone: the session is read again first.
pub const PROGRESS_KEPT: SignedDuration = SignedDuration::from_mins(30);

/// An entry that was not used for this long belongs to no watched job.
const FORGOTTEN: SignedDuration = SignedDuration::from_mins(30);

/// The cached jobs.
#[derive(Default)]
pub(super) struct JobCache(Mutex<JobCacheEntries>);

#[derive(Default)]
struct JobCacheEntries {
    /// By the record's key.
    jobs: BTreeMap<Key, CachedJob>,
    /// Jobs whose log must be read again since their cached progress was dropped, with the time of that.
    unread: BTreeMap<Key, Timestamp>,
}

struct CachedJob {
    /// When it was read or saved.
    at: Timestamp,
    /// The job as stored.
    stored: Versioned<Job>,
    /// Its place in the list of watched jobs: another place means that a message was sent since.
    place: String,
    /// Progress since then that need not be written at once.
    progress: Option<UnsavedProgress>,
}

struct UnsavedProgress {
    /// When the first of it was seen.
    since: Timestamp,
    /// The job with it.
    job: Job,
}

impl CachedJob {
    /// The job with its cached progress.
    fn job(&self) -> Versioned<Job> {
        let progress = self.progress.as_ref().map(|progress| progress.job.clone());
        Versioned {
            value: progress.unwrap_or_else(|| self.stored.value.clone()),
            ..self.stored.clone()
        }
    }
}

impl JobCacheEntries {
    /// The cached job if its row has this version.
    fn at(&self, key: &Key, version: u64) -> Option<&CachedJob> {
        let seen = self.jobs.get(key);
        seen.filter(|seen| seen.stored.version == version)
    }

    /// Drops a job from the cache; `written` is the part of its progress that was saved.
    fn give_up(&mut self, key: &Key, written: Option<&Job>, now: Timestamp) {
        let progress = self.jobs.remove(key).and_then(|seen| seen.progress);
        if progress.is_some_and(|progress| written != Some(&progress.job)) {
            self.read_again(key, now);
        }
    }

    fn read_again(&mut self, key: &Key, now: Timestamp) {
        self.unread.retain(|_, at| is_within(*at, now, FORGOTTEN));
        self.unread.insert(key.clone(), now);
    }
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
        all.jobs.retain(|key, seen| {
            let fresh = is_within(seen.at, now, FORGOTTEN);
            fresh && (wanted.contains(key) || of_others(seen))
        });
        let fresh = |seen: &&CachedJob| is_within(seen.at, now, JOB_TTL);
        let cached = |member: &Member| {
            let seen = all.jobs.get(&member.key).filter(fresh);
            seen.filter(|seen| seen.place == member.sort)
                .map(CachedJob::job)
        };
        asked.iter().map(cached).collect()
    }

    /// Caches what was read, and returns it with the progress since it was written.
    fn insert(&self, stored: Versioned<Job>, place: String, at: Timestamp) -> Versioned<Job> {
        let mut all = self.all();
        let key = keys::job(&stored.value.id);
        if all.at(&key, stored.version).is_none() {
            all.give_up(&key, None, at);
        }
        let progress = all.jobs.remove(&key).and_then(|before| before.progress);
        let seen = CachedJob {
            at,
            stored,
            place,
            progress,
        };
        let job = seen.job();
        all.jobs.insert(key, seen);
        job
    }

    /// The stored form of a cached job: a decision's changes are relative to it.
    pub(super) fn stored(&self, found: &Versioned<Job>) -> Versioned<Job> {
        let all = self.all();
        let seen = all.at(&keys::job(&found.value.id), found.version);
        seen.map_or_else(|| found.clone(), |seen| seen.stored.clone())
    }

    /// Caches a step that is mere progress, and returns whether it need not be written now.
    pub(super) fn keep_progress(
        &self,
        stored: &Versioned<Job>,
        step: &Step<Job>,
        now: Timestamp,
    ) -> bool {
        if !job::is_progress(&stored.value, step) {
            return false;
        }
        let mut all = self.all();
        let seen = all.jobs.get_mut(&keys::job(&stored.value.id));
        let Some(seen) = seen.filter(|seen| seen.stored.version == stored.version) else {
            return false;
        };
        let since = seen.progress.as_ref().map_or(now, |before| before.since);
        let job = step.aggregate.clone();
        seen.progress = Some(UnsavedProgress { since, job });
        is_within(since, now, PROGRESS_KEPT)
    }

    /// A job's row with the progress that has been seen since it was written.
    pub(super) fn with_progress(&self, record: &Record) -> Record {
        let all = self.all();
        let seen = all.at(&record.key, record.version);
        match seen.and_then(|seen| seen.progress.as_ref()) {
            Some(progress) => Record {
                body: encode(&progress.job),
                ..record.clone()
            },
            None => record.clone(),
        }
    }

    /// Updates the cache after a save. A job that is also announced may have another place in the index of times, so
    /// it is read again.
    pub(super) fn saved(&self, before: &Versioned<Job>, step: &Step<Job>, now: Timestamp) {
        let mut all = self.all();
        let key = keys::job(&before.value.id);
        let alone = step.follow_ups.is_empty() && step.amended.is_empty();
        if let (Some(seen), true) = (all.jobs.get_mut(&key), alone) {
            seen.progress = None;
            seen.place = job_list(&step.aggregate).map_or_else(String::new, |list| list.sort);
            seen.stored = Versioned {
                value: step.aggregate.clone(),
                version: before.version + 1,
                due: due_after_write(before.due, step.due, now),
            };
        } else {
            all.jobs.remove(&key);
        }
    }

    /// Drops a job whose row was changed by another process, or by us to save this; the next poll reads it.
    pub(super) fn invalidate(&self, key: &Key, written: Option<&Job>, now: Timestamp) {
        self.all().give_up(key, written, now);
    }

    /// What a poll has seen of a job was not saved: the next one has to see all of it.
    pub(super) fn drop_progress(&self, job: &Job, now: Timestamp) {
        self.all().read_again(&keys::job(&job.id), now);
    }

    /// Whether a job's log must be read again, however recent the last read is.
    pub(super) fn is_unread(&self, job: &Job) -> bool {
        self.all().unread.contains_key(&keys::job(&job.id))
    }

    /// A job's log was read.
    pub(super) fn was_read(&self, job: &Job) {
        self.all().unread.remove(&keys::job(&job.id));
    }

    fn all(&self) -> MutexGuard<'_, JobCacheEntries> {
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
                *job = Some(self.jobs.insert(decode(&record)?, place.sort.clone(), now));
            }
        }
        Ok(recalled.into_iter().flatten().collect())
    }
}
