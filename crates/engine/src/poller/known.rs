//! Jobs as a poll read them a moment ago. Whoever ticks alone need not read every job again with every tick: who is watched is asked for, and what has not changed is remembered.
//!
//! What is decided from a remembered job is saved under the version it had, so one that somebody else has changed meanwhile is never written over: it is read again, and decided by the next poll.
//!
//! Mere progress is remembered too, and written now and then. Whoever starts anew begins with the row, reads the log from there, and finds the same.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::ids::AccountName;
use domain::job::{self, Job};
use domain::step::Step;
use jiff::{SignedDuration, Timestamp};

use super::{Others, Poller};
use crate::desk::{Error, left};
use crate::keys;
use crate::ports::{Key, Record};
use crate::store::{Versioned, encode};

/// For so long a job is taken as it was read. Somebody else may change it so that the same sight of its session means something new: that is seen after this.
const REMEMBERED: SignedDuration = SignedDuration::from_mins(3);

/// For so long progress may be remembered only: as much later a person sees it.
pub const PROGRESS_KEPT: SignedDuration = SignedDuration::from_mins(10);

/// What was not asked for so long belongs to nobody who is watched here.
const FORGOTTEN: SignedDuration = SignedDuration::from_mins(30);

/// A record that is read by itself, as of its last commit, is charged like so many that are read with their list, as they were a moment ago.
const LISTED_FOR_ONE: usize = 2;

/// What was read, by the record's key.
#[derive(Default)]
pub(super) struct Known(Mutex<BTreeMap<Key, Seen>>);

struct Seen {
    /// When it was read or saved.
    at: Timestamp,
    /// As it is stored.
    stored: Versioned<Job>,
    /// What has been seen since, that nobody has to know at once.
    progress: Option<Progress>,
}

struct Progress {
    /// When the first of it was seen.
    since: Timestamp,
    /// The job with it.
    job: Job,
}

impl Seen {
    /// The job with all that is known of it.
    fn job(&self) -> Versioned<Job> {
        let progress = self.progress.as_ref().map(|progress| progress.job.clone());
        Versioned {
            value: progress.unwrap_or_else(|| self.stored.value.clone()),
            ..self.stored.clone()
        }
    }
}

impl Known {
    /// What is remembered of those who are asked for, in their order: none for whoever has to be read.
    fn recall(&self, asked: &[Key], now: Timestamp) -> Vec<Option<Versioned<Job>>> {
        let mut all = self.all();
        all.retain(|_, seen| now.duration_since(seen.at) < FORGOTTEN);
        let fresh = |seen: &&Seen| now.duration_since(seen.at) < REMEMBERED;
        let of = |key: &Key| all.get(key).filter(fresh).map(Seen::job);
        asked.iter().map(of).collect()
    }

    /// Remembers what was read, and answers it with the progress that has been seen since it was written.
    fn remember(&self, read: Versioned<Job>, at: Timestamp) -> Versioned<Job> {
        let mut all = self.all();
        let key = keys::job(&read.value.id);
        let before = all.remove(&key);
        let progress = before
            .filter(|before| before.stored.version == read.version)
            .and_then(|before| before.progress);
        let stored = read;
        let seen = Seen {
            at,
            stored,
            progress,
        };
        let job = seen.job();
        all.insert(key, seen);
        job
    }

    /// The job as it is stored, of one that was recalled: what a decision changes is what differs from that.
    pub(super) fn stored(&self, found: &Versioned<Job>) -> Versioned<Job> {
        let all = self.all();
        let seen = all.get(&keys::job(&found.value.id));
        let same = seen.filter(|seen| seen.stored.version == found.version);
        same.map_or_else(|| found.clone(), |seen| seen.stored.clone())
    }

    /// Remembers a step that is mere progress, and answers whether that will do for now.
    pub(super) fn keeps(&self, stored: &Versioned<Job>, step: &Step<Job>, now: Timestamp) -> bool {
        if !job::is_progress(&stored.value, step) {
            return false;
        }
        let mut all = self.all();
        let seen = all.get_mut(&keys::job(&stored.value.id));
        let Some(seen) = seen.filter(|seen| seen.stored.version == stored.version) else {
            return false;
        };
        let since = seen.progress.as_ref().map_or(now, |before| before.since);
        let job = step.aggregate.clone();
        seen.progress = Some(Progress { since, job });
        now.duration_since(since) < PROGRESS_KEPT
    }

    /// A job's row with the progress that has been seen since it was written.
    pub(super) fn caught_up(&self, record: &Record) -> Record {
        let all = self.all();
        let seen = all.get(&record.key);
        let same = seen.filter(|seen| seen.stored.version == record.version);
        match same.and_then(|seen| seen.progress.as_ref()) {
            Some(progress) => Record {
                body: encode(&progress.job),
                ..record.clone()
            },
            None => record.clone(),
        }
    }

    /// A job that was remembered is from now on as it was just saved. One that is told of besides may stand elsewhere in the index of times, so it is read again.
    pub(super) fn saved(&self, before: &Versioned<Job>, step: &Step<Job>, now: Timestamp) {
        let mut all = self.all();
        let key = keys::job(&before.value.id);
        let alone = step.looks.is_empty() && step.amended.is_empty();
        if let (Some(seen), true) = (all.get_mut(&key), alone) {
            seen.progress = None;
            seen.stored = Versioned {
                value: step.aggregate.clone(),
                version: before.version + 1,
                due: left(before.due, step.due, now),
            };
        } else {
            all.remove(&key);
        }
    }

    /// Has a job read the next time.
    pub(super) fn forget(&self, key: &Key) {
        self.all().remove(key);
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Key, Seen>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Poller {
    /// The jobs of an account whose sessions are watched, as they are, or were less than [`REMEMBERED`] ago for somebody who ticks alone.
    pub(super) async fn watched(
        &self,
        account: &AccountName,
        others: Others,
    ) -> Result<Vec<Versioned<Job>>, Error> {
        let store = &self.desk.store;
        let asked = match others {
            Others::Maybe => None,
            Others::None => store.watched_keys(account).await?,
        };
        let Some(asked) = asked else {
            return Ok(store.watched(account).await?);
        };
        let now = self.desk.now();
        let mut recalled = self.known.recall(&asked, now);
        let missing = recalled.iter().filter(|job| job.is_none()).count();
        if missing * LISTED_FOR_ONE > asked.len() {
            let jobs = store.watched(account).await?.into_iter();
            return Ok(jobs.map(|job| self.known.remember(job, now)).collect());
        }
        for (key, job) in asked.iter().zip(&mut recalled) {
            if job.is_none() {
                let read = store.read(key).await?;
                *job = read.map(|read| self.known.remember(read, now));
            }
        }
        Ok(recalled.into_iter().flatten().collect())
    }
}
