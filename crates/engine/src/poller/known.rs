//! Jobs as a poll read them a moment ago. Whoever ticks alone need not read every job again with every tick: who is watched is asked for, and what has not changed is remembered.
//!
//! What is decided from a remembered job is saved under the version it had, so one that somebody else has changed meanwhile is never written over: it is read again, and decided by the next poll.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::ids::{AccountName, JobId};
use domain::job::Job;
use domain::step::Step;
use jiff::{SignedDuration, Timestamp};

use super::{Others, Poller};
use crate::desk::{Error, left};
use crate::keys;
use crate::ports::Key;
use crate::store::Versioned;

/// For so long a job is taken as it was read. Somebody else may change it so that the same sight of its session means something new: that is seen after this.
const REMEMBERED: SignedDuration = SignedDuration::from_secs(60);

/// A record that is read by itself, as of its last commit, is charged like so many that are read with their list, as they were a moment ago.
const LISTED_FOR_ONE: usize = 2;

/// What was read, by the record's key.
#[derive(Default)]
pub(super) struct Known(Mutex<BTreeMap<Key, Seen>>);

struct Seen {
    at: Timestamp,
    job: Versioned<Job>,
}

impl Known {
    /// What is remembered of those who are asked for, in their order: none for whoever has to be read.
    fn recall(&self, asked: &[Key], now: Timestamp) -> Vec<Option<Versioned<Job>>> {
        let mut all = self.all();
        all.retain(|_, seen| now.duration_since(seen.at) < REMEMBERED);
        let of = |key: &Key| all.get(key).map(|seen| seen.job.clone());
        asked.iter().map(of).collect()
    }

    fn remember(&self, jobs: &[Versioned<Job>], at: Timestamp) {
        let seen = |job: &Versioned<Job>| {
            let job = job.clone();
            (keys::job(&job.value.id), Seen { at, job })
        };
        self.all().extend(jobs.iter().map(seen));
    }

    /// A job that was remembered is from now on as it was just saved. One that is told of besides may stand elsewhere in the index of times, so it is read again.
    pub(super) fn saved(&self, before: &Versioned<Job>, step: &Step<Job>, now: Timestamp) {
        let mut all = self.all();
        let key = keys::job(&before.value.id);
        let alone = step.looks.is_empty() && step.amended.is_empty();
        if let (Some(seen), true) = (all.get_mut(&key), alone) {
            seen.job = Versioned {
                value: step.aggregate.clone(),
                version: before.version + 1,
                due: left(before.due, step.due, now),
            };
        } else {
            all.remove(&key);
        }
    }

    /// Has a job read the next time.
    pub(super) fn forget(&self, id: &JobId) {
        self.all().remove(&keys::job(id));
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
            let jobs = store.watched(account).await?;
            self.known.remember(&jobs, now);
            return Ok(jobs);
        }
        for (key, job) in asked.iter().zip(&mut recalled) {
            if job.is_none() {
                *job = store.read(key).await?;
                self.known.remember(job.as_slice(), now);
            }
        }
        Ok(recalled.into_iter().flatten().collect())
    }
}
