//! When a queued job may start: an account's slots, its rolling day, and what refusals have taught.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::ids::{AccountName, JobId};
use crate::job::{Job, JobPhase};
use crate::when::plus;

/// The window of Jules's daily quota: it rolls, it is no calendar day.
pub const DAY: SignedDuration = SignedDuration::from_hours(24);

/// Least time between two creates: ten at once have been seen to lose eight.
pub const CREATE_GAP: SignedDuration = SignedDuration::from_millis(1_500);

/// How long a limit derived from a refusal holds before Gaffer tries more.
pub const LEARNED_LIMIT_TTL: SignedDuration = SignedDuration::from_hours(1);

/// How long a create in flight keeps the next one waiting, should its outcome never be recorded.
pub const CREATE_HOLD: SignedDuration = SignedDuration::from_mins(3);

/// Code of an admission that waits for the next of the tasks of 24 hours.
pub const DAILY_QUOTA: &str = "daily_quota";

/// Why a job waits that only a freed slot helps.
pub const SLOTS_TAKEN: &str = "slots_taken";

/// What an account's plan allows. The default is the free plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Tasks at the same time: 3, 15 or 60.
    pub concurrent: u32,
    /// Tasks in any 24 hours: 15, 100 or 300.
    pub per_day: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrent: 3,
            per_day: 15,
        }
    }
}

/// The slots of an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slots {
    /// Whose.
    pub account: AccountName,
    /// Who holds one, and since when.
    pub taken: BTreeMap<JobId, Timestamp>,
    /// Creates in the last 24 hours, oldest first, to the second. One counts from when it is begun.
    pub created: Vec<Timestamp>,
    /// The job whose session is being created, or was created last.
    pub creating: Option<JobId>,
    /// A lower limit that a refusal has taught.
    pub learned: Option<LearnedLimit>,
    /// Set while Jules has asked the account to wait before another create.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<Throttled>,
}

/// A wait that Jules asked for, which holds for every job of the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throttled {
    /// When Jules asked. A time in the future, from a clock that ran ahead, does not count.
    pub at: Timestamp,
    /// When the wait ends.
    pub until: Timestamp,
}

/// A lower limit that a refusal has taught.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedLimit {
    /// Tasks at the same time.
    pub concurrent: u32,
    /// Until when it is believed.
    pub until: Timestamp,
}

/// Whether a job may start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission {
    /// It may, with the new slots.
    Granted(Slots),
    /// Not now.
    Later {
        /// The latest time of the next check; `None` when only a freed slot helps.
        at: Option<Timestamp>,
        /// For programs.
        code: &'static str,
        /// For people.
        sentence: String,
    },
}

impl Slots {
    /// An account's slots, all free.
    pub fn free(account: AccountName) -> Self {
        Self {
            account,
            taken: BTreeMap::new(),
            created: Vec::new(),
            creating: None,
            learned: None,
            throttled: None,
        }
    }

    /// The slots after a job gave up its own.
    pub fn release(&self, job: &JobId) -> Self {
        let mut slots = self.clone();
        slots.taken.remove(job);
        slots.creating = slots.creating.filter(|creating| creating != job);
        slots
    }

    /// Updates one slot from the job that is recorded as its holder: frees it if the job does not hold it.
    ///
    /// A slot is taken before its job starts, so a reader that sees the job in between keeps the slot for a while. A
    /// start that failed counts for nothing.
    pub fn seen_with(&self, id: &JobId, job: Option<&Job>, now: Timestamp) -> Self {
        let Some(job) = job else {
            return self.release(id);
        };
        match &job.phase {
            JobPhase::Queued { since, .. } => match self.taken_ahead(id, *since) {
                Some(taken) if now < plus(taken, CREATE_HOLD) => self.clone(),
                Some(_) => self.not_created(id),
                None => self.release(id),
            },
            JobPhase::Creating { .. }
            | JobPhase::Watching(_)
            | JobPhase::Proposed { .. }
            | JobPhase::Ended(_) => match job.holds_slot() {
                true => self.clone(),
                false => self.release(id),
            },
        }
    }

    /// When a slot was taken for a job that has waited since then and is still to begin.
    fn taken_ahead(&self, id: &JobId, since: Timestamp) -> Option<Timestamp> {
        let taken = self.taken.get(id).copied();
        taken.filter(|at| self.creating.as_ref() == Some(id) && *at >= since)
    }

    /// The slots after a job's session was created: it counts in the day from then on. If its slot was given up
    /// meanwhile, it counts from when the create began.
    pub fn created(&self, job: &JobId, now: Timestamp) -> Self {
        let mut slots = self.uncounted(job);
        slots.creating = slots.creating.filter(|creating| creating != job);
        slots.created.retain(|at| now.duration_since(*at) < DAY);
        if slots.taken.contains_key(job) {
            slots.created.push(whole(now));
            slots.created.sort();
        }
        slots
    }

    /// The slots after it turned out that a job's session was not created.
    pub fn not_created(&self, job: &JobId) -> Self {
        self.uncounted(job).release(job)
    }

    /// The slots after Jules answered "later" to a create although we expected room: other clients use the same
    /// account.
    pub fn refused(&self, job: &JobId, now: Timestamp) -> Self {
        let mut slots = self.not_created(job);
        let running = u32::try_from(slots.taken.len()).unwrap_or(u32::MAX);
        slots.learned = Some(LearnedLimit {
            concurrent: running.max(1),
            until: plus(now, LEARNED_LIMIT_TTL),
        });
        slots
    }

    /// The slots after Jules asked for a wait before another create.
    pub fn throttled(&self, job: &JobId, wait: SignedDuration, now: Timestamp) -> Self {
        let until = plus(now, wait);
        Self {
            throttled: Some(Throttled { at: now, until }),
            ..self.not_created(job)
        }
    }

    /// Updates the slots from the job whose session is being created; the next job that wants a slot records the
    /// outcome.
    pub fn seeing(&self, creating: &Job) -> Self {
        let is_it = self.creating.as_ref() == Some(&creating.id);
        let since = match &creating.phase {
            JobPhase::Watching(watch) if is_it => watch.since,
            // Cancelled since; without a session it is unknown whether it was created before that.
            JobPhase::Ended(ending) if is_it && ending.session.is_some() => {
                let begun = self.taken.get(&creating.id);
                begun.copied().unwrap_or(ending.at)
            }
            JobPhase::Watching(_)
            | JobPhase::Ended(_)
            | JobPhase::Queued { .. }
            | JobPhase::Proposed { .. }
            | JobPhase::Creating { .. } => return self.clone(),
        };
        self.created(&creating.id, since)
    }

    /// The slots without the create of a job that has just begun.
    fn uncounted(&self, job: &JobId) -> Self {
        let mut slots = self.clone();
        let begun = slots.taken.get(job);
        let counted = begun.and_then(|begun| slots.created.iter().rposition(|at| at == begun));
        counted.map(|at| slots.created.remove(at));
        slots
    }
}

/// The next whole second: there may be hundreds of moments in a row that is written often, and none may count for less than it does.
fn whole(at: Timestamp) -> Timestamp {
    let begun = at.subsec_nanosecond() != 0;
    Timestamp::from_second(at.as_second() + i64::from(begun)).unwrap_or(at)
}

/// Decides whether a job may start now.
pub fn admit(slots: &Slots, job: &JobId, limits: Limits, now: Timestamp) -> Admission {
    let later = |at, code, sentence: String| Admission::Later { at, code, sentence };
    if let Some(creating) = slots.creating.as_ref().filter(|creating| *creating != job) {
        let since = slots.taken.get(creating).copied().unwrap_or(now);
        if now < plus(since, CREATE_HOLD) {
            return later(
                Some(plus(since, CREATE_HOLD)),
                "create_in_flight",
                "Another session of the account is being created.".to_owned(),
            );
        }
    }
    let waits = |it: &Throttled| it.at <= now && now < it.until;
    if let Some(throttled) = slots.throttled.filter(waits) {
        let sentence = format!(
            "Jules asked account `{}` to wait before it creates another session.",
            slots.account
        );
        return later(Some(throttled.until), "throttled", sentence);
    }
    let learned = slots.learned.filter(|learned| now < learned.until);
    let concurrent = learned.map_or(limits.concurrent, |learned| {
        learned.concurrent.min(limits.concurrent)
    });
    let others = slots.taken.keys().filter(|taken| *taken != job).count();
    if others >= concurrent as usize {
        let at = learned.map(|learned| learned.until);
        return later(at, SLOTS_TAKEN, all_taken(slots, concurrent));
    }
    // Its own, if it was begun and lost, is no other one.
    let mut created = slots.uncounted(job).created;
    created.retain(|at| now.duration_since(*at) < DAY);
    created.sort();
    if created.len() >= limits.per_day as usize {
        let at = created
            .get(created.len() - limits.per_day as usize)
            .map(|oldest| plus(*oldest, DAY));
        return later(
            at,
            DAILY_QUOTA,
            format!(
                "Account `{}` has used its {} tasks of 24 hours.",
                slots.account, limits.per_day
            ),
        );
    }
    if let Some(last) = created.last().filter(|last| now < plus(**last, CREATE_GAP)) {
        return later(
            Some(plus(*last, CREATE_GAP)),
            "create_gap",
            "Creates of one account keep a small distance.".to_owned(),
        );
    }
    let mut granted = Slots {
        created,
        ..slots.clone()
    };
    granted.created.push(whole(now));
    granted.taken.insert(job.clone(), whole(now));
    granted.creating = Some(job.clone());
    Admission::Granted(granted)
}

fn all_taken(slots: &Slots, concurrent: u32) -> String {
    match concurrent {
        1 => format!("The one slot of account `{}` is taken.", slots.account),
        _ => format!(
            "All {concurrent} slots of account `{}` are taken.",
            slots.account
        ),
    }
}

/// What an account has left for new sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Slots that are free now.
    pub slots: u32,
    /// Tasks that are left in these 24 hours.
    pub tasks: u32,
}

impl Room {
    /// How many of so many sessions begin now, how many when a slot is free, and how many when the quota allows more.
    pub fn share(self, wanted: u32) -> (u32, u32, u32) {
        let today = wanted.min(self.tasks);
        let now = today.min(self.slots);
        (now, today - now, wanted - today)
    }
}

/// What an account has left for new sessions.
pub fn room(slots: &Slots, limits: Limits, now: Timestamp) -> Room {
    let learned = slots.learned.filter(|learned| now < learned.until);
    let concurrent = learned.map_or(limits.concurrent, |it| it.concurrent.min(limits.concurrent));
    let left = |limit: u32, used: usize| limit.saturating_sub(u32::try_from(used).unwrap_or(limit));
    let is_today = |at: &&Timestamp| now.duration_since(**at) < DAY;
    Room {
        slots: left(concurrent, slots.taken.len()),
        tasks: left(
            limits.per_day,
            slots.created.iter().filter(is_today).count(),
        ),
    }
}
