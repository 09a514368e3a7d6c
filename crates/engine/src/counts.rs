//! Counts: jobs by state and by who they wait for, and events by kind. The number of jobs makes no count slower,
//! since none of them is read for it; only while something is paused some are read, to see which of them the pause holds.
//!
//! A job is in one list, under a word for what it counts as. List and word are written with the job, in the same
//! commit, so a count is as exact as the jobs themselves.

use std::collections::{BTreeMap, BTreeSet};

use domain::event::Event;
use domain::ids::{AccountName, AgentName, RepoName};
use domain::job::{self, Job, JobWait, WaitParty};
use jiff::{SignedDuration, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::backend::{Backend, Error, IndexEntry, ignore_conflict};
use crate::job_state::{ENDED, state_of};
use crate::keys;
use crate::ports::{Key, PageToken};
use crate::settings::TrackedPull;
use crate::store::{PAGE, Versioned, decode};
use crate::waits::Waits;

/// Maximum number of open pull requests that are read to determine who is waited for. Jobs beyond them count as [`NOT_READ`].
pub const PULLS_READ_MAX: usize = 500;

/// Maximum number of open deliveries whose jobs and pull requests are read to determine who is waited for. Deliveries
/// beyond them count as [`NOT_READ`].
pub const DELIVERIES_READ_MAX: usize = 200;

/// Maximum number of jobs of each list that are read while something is paused, to determine which of them the pause
/// holds. Jobs beyond them count as if nothing was paused.
pub const HELD_READ_MAX: usize = 500;

/// What jobs in review and deliveries are counted as where there are too many to be read.
pub const NOT_READ: &str = "not_read";

/// The lists of an account's jobs that are not over.
pub(crate) const UNFINISHED_JOBS: [&str; 3] = ["queued", "watched", "proposed"];

/// How long after an event was seen it may still be written: those before that are counted once and for all.
const SETTLED_AFTER: SignedDuration = SignedDuration::from_mins(10);

/// Events that are counted before the count is kept: who breaks off has counted so many in vain at most, and each time costs a write.
const KEPT_EVERY: usize = 10 * PAGE;

/// What a job is counted as while it is not over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CountLabel {
    state: String,
    holds_slot: bool,
    waits: WaitCategory,
}

/// Who the job waits for, as far as its own record shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum WaitCategory {
    #[serde(rename = "for")]
    For(WaitParty),
    /// The agent that the job names, or that of its source, if it can be woken.
    #[serde(rename = "woken")]
    Woken(Option<AgentName>, RepoName),
    #[serde(rename = "pull")]
    Pull,
    #[serde(rename = "delivery")]
    Delivery,
}

impl CountLabel {
    /// What a job is counted as.
    pub(crate) fn for_job(job: &Job) -> Self {
        let waits = match job::job_wait(job) {
            JobWait::Is(who) => WaitCategory::For(who),
            JobWait::Woken => WaitCategory::Woken(job.agent.clone(), job.repo.clone()),
            JobWait::Pull => WaitCategory::Pull,
            JobWait::Delivery => WaitCategory::Delivery,
        };
        Self {
            state: state_of(job).to_owned(),
            holds_slot: job.holds_slot(),
            waits,
        }
    }

    /// As a word: a short one, since it is written with the job.
    pub(crate) fn word(&self) -> String {
        // A plain value with text keys can always be written.
        serde_json::to_string(&(&self.state, self.holds_slot, &self.waits)).unwrap_or_default()
    }

    /// `None` for an unknown form.
    fn from_word(word: &str) -> Option<Self> {
        let (state, holds_slot, waits) = serde_json::from_str(word).ok()?;
        Some(Self {
            state,
            holds_slot,
            waits,
        })
    }
}

/// How many jobs there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// In each state.
    pub states: BTreeMap<String, u64>,
    /// That hold a slot, by account.
    pub held: BTreeMap<AccountName, u64>,
    /// Watched jobs by who they wait for, and those that a pause holds, without those of deliveries.
    pub waits_for: BTreeMap<String, u64>,
}

/// Events by name and kind.
type Kinds = BTreeMap<String, u64>;

/// How many events there were up to a place in their list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventsCounted {
    /// Time and place of the last counted event; `None` before the first count.
    pub until: Option<(Timestamp, String)>,
    /// How many of each name and kind, with a space between the two.
    pub kinds: BTreeMap<String, u64>,
}

impl Backend {
    /// Counts the jobs of these accounts; ended jobs are counted over all accounts. `is_paused` says whether a pause may
    /// hold any of them.
    pub async fn job_counts(
        &self,
        accounts: &BTreeSet<AccountName>,
        is_paused: bool,
    ) -> Result<JobCounts, Error> {
        let mut counts = JobCounts::default();
        let mut waits = Waits::new(self);
        let mut in_review = 0;
        for account in accounts {
            for which in UNFINISHED_JOBS {
                let list = keys::jobs_of(which, account);
                for (word, many) in self.store.records().words(&list).await? {
                    let Some(counted) = CountLabel::from_word(&word) else {
                        continue;
                    };
                    *counts.states.entry(counted.state).or_insert(0) += many;
                    if counted.holds_slot {
                        *counts.held.entry(account.clone()).or_default() += many;
                    }
                    if which == "queued" {
                        continue;
                    }
                    let who = match counted.waits {
                        WaitCategory::For(who) => who,
                        WaitCategory::Woken(agent, repo) => {
                            match waits.woken(agent.as_ref(), &repo).await? {
                                Some(_) => WaitParty::Agent,
                                None => WaitParty::Person,
                            }
                        }
                        WaitCategory::Pull => {
                            // The pull request decides who they wait for: counted below from the open pull requests.
                            in_review += many;
                            continue;
                        }
                        // Counted with the open deliveries.
                        WaitCategory::Delivery => continue,
                    };
                    *counts.waits_for.entry(who.word().to_owned()).or_insert(0) += many;
                }
            }
        }
        self.count_ended(&mut counts.states).await?;
        self.count_in_review(in_review, &mut waits, &mut counts.waits_for)
            .await?;
        if is_paused {
            Box::pin(self.count_held(accounts, &mut waits, &mut counts.waits_for)).await?;
        }
        Ok(counts)
    }

    /// Counts jobs that a pause holds as waiting for a person: reads jobs that are not over, up to a limit. Jobs in review
    /// and those of deliveries are counted elsewhere by the same rule.
    async fn count_held(
        &self,
        accounts: &BTreeSet<AccountName>,
        waits: &mut Waits<'_>,
        counts: &mut BTreeMap<String, u64>,
    ) -> Result<(), Error> {
        for account in accounts {
            for which in UNFINISHED_JOBS {
                let list = keys::jobs_of(which, account);
                let (jobs, _) = self.first_of::<Job>(&list, HELD_READ_MAX).await?;
                for job in jobs {
                    let JobWait::Is(otherwise) = job::job_wait(&job) else {
                        continue;
                    };
                    let told = waits.told_by(&job, None).await?;
                    if !told.is_held() {
                        continue;
                    }
                    // Without a pause, jobs in the queue are not counted.
                    let counted = counts.get_mut(otherwise.word());
                    if let Some(many) = counted.filter(|_| which != "queued") {
                        *many = many.saturating_sub(1);
                    }
                    *counts.entry(told.who.word().to_owned()).or_insert(0) += 1;
                }
            }
        }
        counts.retain(|_, many| *many > 0);
        Ok(())
    }

    async fn count_ended(&self, states: &mut BTreeMap<String, u64>) -> Result<(), Error> {
        for state in ENDED {
            let many = self.store.records().count(&keys::ended(state)).await?;
            if many > 0 {
                *states.entry(state.to_owned()).or_insert(0) += many;
            }
        }
        Ok(())
    }

    /// Counts jobs in review by who they wait for: reads their open pull requests, up to a limit.
    async fn count_in_review(
        &self,
        mut left: u64,
        waits: &mut Waits<'_>,
        counts: &mut BTreeMap<String, u64>,
    ) -> Result<(), Error> {
        if left == 0 {
            return Ok(());
        }
        let (pulls, is_all) = self
            .first_of::<TrackedPull>(keys::OPEN_PULLS, PULLS_READ_MAX)
            .await?;
        let jobs: BTreeSet<Key> = pulls.iter().map(|it| keys::job(&it.pull.job)).collect();
        let jobs: Vec<Key> = jobs.into_iter().collect();
        for record in self.store.records().glance(&jobs).await? {
            let job = decode::<Job>(&record)?.value;
            let of_job = |it: &&TrackedPull| job.pull() == Some(&it.pull.pull);
            let pull = pulls.iter().find(of_job);
            if let (Some(pull), JobWait::Pull, 1..) = (pull, job::job_wait(&job), left) {
                let who = waits.told_by(&job, Some(&pull.pull)).await?.who;
                *counts.entry(who.word().to_owned()).or_insert(0) += 1;
                left -= 1;
            }
        }
        if left > 0 {
            // What is not open is read next, and judged.
            let word = if is_all {
                WaitParty::Gaffer.word()
            } else {
                NOT_READ
            };
            *counts.entry(word.to_owned()).or_insert(0) += left;
        }
        Ok(())
    }

    /// The first of a list up to a limit, which is passed by less than a page, and whether these are all.
    async fn first_of<T: DeserializeOwned>(
        &self,
        list: &str,
        limit: usize,
    ) -> Result<(Vec<T>, bool), Error> {
        let (mut found, mut after) = (Vec::new(), None);
        while found.len() < limit {
            let page = self.store.records().list(list, false, after, PAGE).await?;
            for record in &page.records {
                found.push(decode::<T>(record)?.value);
            }
            after = page.next;
            if after.is_none() {
                return Ok((found, true));
            }
        }
        Ok((found, false))
    }

    /// Counts the recorded events, by name and kind.
    ///
    /// Events never change and never leave their list, so those that are old enough are counted once: the count is
    /// stored, and the next reader goes on from there.
    pub async fn event_counts(&self) -> Result<BTreeMap<String, u64>, Error> {
        let key = keys::events_counted();
        let found: Option<Versioned<EventsCounted>> = self.store.read(&key).await?;
        let mut version = found.as_ref().map(|found| found.version);
        let settled_at = self.now() - SETTLED_AFTER;
        // Counted while a clock was ahead: events seen since are before that place.
        let before = found.map(|found| found.value).filter(|counted| {
            let until = counted.until.as_ref();
            until.is_some_and(|(until, _)| *until <= settled_at)
        });
        let mut counted = before.unwrap_or_default();
        let (mut since, mut fresh) = (0, Kinds::new());
        let mut after = counted.until.clone().map(|(_, place)| PageToken(place));
        loop {
            let records = self.store.records();
            let page = records.list(keys::EVENTS, false, after, PAGE).await?;
            for record in &page.records {
                let event: Event = decode(record)?.value;
                let kind = format!("{} {}", event.what.name(), event.what.kind());
                let place = record.list.as_ref().map_or("", |list| list.sort.as_str());
                if event.observed_at <= settled_at {
                    let place = PageToken::after(place, &record.key).0;
                    counted.until = Some((event.observed_at, place));
                    *counted.kinds.entry(kind).or_insert(0) += 1;
                    since += 1;
                } else {
                    *fresh.entry(kind).or_insert(0) += 1;
                }
            }
            after = page.next;
            let is_last = after.is_none();
            if since >= if is_last { PAGE } else { KEPT_EVERY } {
                let mut unit = self.unit();
                unit.put(key.clone(), &counted, version, IndexEntry::default());
                ignore_conflict(self.commit(unit).await)?;
                // If another process stored its count instead, either is right.
                version = Some(version.unwrap_or(0) + 1);
                since = 0;
            }
            if is_last {
                break;
            }
        }
        for (kind, many) in fresh {
            *counted.kinds.entry(kind).or_insert(0) += many;
        }
        Ok(counted.kinds)
    }
}
