//! An account: one Jules key, how its polls go, and when the next one is due.

mod budget;
mod counters;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use budget::{Budget, ExhaustedBudget, Spent, day_of};
pub use counters::PollCounters;

use crate::event::{Audience, ErrorCause, Event, Occurrence};
use crate::failure::{Failure, FailureClass};
use crate::governor::Limits;
use crate::ids::{AccountName, AgentName, EventId, SessionId, digest};
use crate::policy::duration;
use crate::step::Step;
use crate::when::plus;

/// So many polls in a row without an answer are worth an event.
pub const NETWORK_FAILURES_MAX: u32 = 5;

/// Longest gap between polls of an account that is throttled or unreachable.
pub const GAP_MAX: SignedDuration = SignedDuration::from_mins(15);

/// A key that does not work is tried this often: often enough to notice its replacement.
pub const UNAUTHORIZED_GAP: SignedDuration = SignedDuration::from_secs(60);

/// Poll interval of an account without jobs: only its key and duplicate sessions need a check.
pub const NOTHING_GAP: SignedDuration = SignedDuration::from_mins(15);

/// How often the account is polled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pace {
    /// While any of its jobs is active.
    #[serde(with = "duration")]
    pub tick: SignedDuration,
    /// While none is, to see finished sessions wake up.
    #[serde(with = "duration")]
    pub idle: SignedDuration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            tick: SignedDuration::from_secs(10),
            idle: SignedDuration::from_secs(60),
        }
    }
}

/// One Jules key with its plan and how it fares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Its name; the key is the secret `jules/<name>`.
    pub name: AccountName,
    /// What its plan allows.
    pub limits: Limits,
    /// The agent that receives account-wide errors; `None` sends them to a person.
    pub agent: Option<AgentName>,
    /// How often it is polled.
    pub pace: Pace,
    /// How its polls go.
    pub health: Health,
    /// When it is polled next.
    pub next_poll: Timestamp,
    /// How heavy its list pages have been, to decide between listing and single reads.
    pub list: ListWeight,
    /// When the activities of each watched session were last read.
    pub activity_reads: BTreeMap<SessionId, Timestamp>,
    /// Consecutive polls that skipped a session for lack of room; empty while there is room for all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub passed_over: BTreeMap<SessionId, u32>,
    /// Counters of its polls.
    pub counters: PollCounters,
    /// The daily budget of its polls, and what they have spent.
    #[serde(default, skip_serializing_if = "Budget::is_empty")]
    pub budget: Budget,
}

/// How the polls of an account go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "health")]
pub enum Health {
    /// The last poll was answered.
    Working,
    /// 429 or 5xx: the gaps grow.
    Throttled {
        /// How many in a row.
        streak: u32,
    },
    /// No answer.
    Unreachable {
        /// How many in a row.
        streak: u32,
        /// Since when.
        since: Timestamp,
    },
    /// The key does not work.
    Unauthorized {
        /// Since when.
        since: Timestamp,
    },
}

/// How heavy list pages have been.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListWeight {
    /// Bytes of one session in the last list; none before the first.
    pub bytes_per_session: Option<u64>,
    /// How deep the last list had to be read, ours and others', to see all of ours.
    pub sessions: u64,
}

/// What an account's jobs do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountActivity {
    /// A session may still change by itself.
    Active,
    /// There are jobs, and none of them is active.
    Resting,
    /// There is no job.
    NoJobs,
}

/// How a poll of the account went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Poll {
    /// It was answered.
    Answered {
        /// The weight of its list.
        list: ListWeight,
        /// Which activities were read.
        reads: BTreeMap<SessionId, Timestamp>,
        /// What the account's jobs do.
        activity: AccountActivity,
    },
    /// It failed.
    Failed(Failure),
}

impl Account {
    /// An account with safe defaults that works and is polled at once.
    pub fn new(name: AccountName, now: Timestamp) -> Self {
        Self {
            name,
            limits: Limits::default(),
            agent: None,
            pace: Pace::default(),
            health: Health::Working,
            next_poll: now,
            list: ListWeight::default(),
            activity_reads: BTreeMap::new(),
            passed_over: BTreeMap::new(),
            counters: PollCounters::default(),
            budget: Budget::default(),
        }
    }

    /// Whether the account is polled at its tick: no poll of it needs to be brought forward.
    pub fn is_busy(&self) -> bool {
        self.gap().is_some_and(|gap| gap <= self.pace.tick)
    }

    /// Whether its daily budget put the next poll off: otherwise it would come at the tick, or when the account has rested.
    pub fn is_slowed(&self) -> bool {
        let decided = self.counters.last.map(|last| self.budget.gap(last));
        !self.is_busy() && decided.is_some() && decided == self.gap()
    }

    /// What the last poll has decided to wait for the next one; none before the first.
    fn gap(&self) -> Option<SignedDuration> {
        Some(self.next_poll.duration_since(self.counters.last?))
    }
}

/// The second poll in a row that finds no job lets the account rest: what the first one has just missed is seen by the second.
fn nothing_gap(account: &Account) -> SignedDuration {
    // A wait after an error was no rest.
    let rested = account.health == Health::Working
        && account.gap().is_some_and(|gap| gap >= account.pace.idle);
    if rested {
        account.pace.idle.max(NOTHING_GAP)
    } else {
        account.pace.idle
    }
}

/// Decides what a poll's outcome means for the account. Announces an error once, until it is over.
pub fn polled(account: &Account, poll: &Poll, now: Timestamp) -> Step<Account> {
    let mut step = Step::unchanged(account.clone());
    let next = &mut step.aggregate;
    let gap = match poll {
        Poll::Answered {
            list,
            reads,
            activity,
        } => {
            next.health = Health::Working;
            next.list = list.clone();
            next.activity_reads.clone_from(reads);
            match activity {
                AccountActivity::Active => working_gap(account, now),
                AccountActivity::Resting => account.pace.idle,
                AccountActivity::NoJobs => nothing_gap(account),
            }
        }
        Poll::Failed(failure) => {
            let (health, event) = health_after(account, failure, now);
            let gap = gap_after(account, &health, failure);
            next.health = health;
            step.events.extend(event);
            gap
        }
    };
    for short in account.budget.unannounced(now) {
        step.aggregate.budget = step.aggregate.budget.announced(short, now);
        step.events.push(short_of(account, short, now));
    }
    // A scarce budget makes polls rarer, never more frequent.
    let gap = gap.max(account.budget.gap(now));
    step.aggregate.counters = account.counters.after(poll, gap, account.pace.tick, now);
    step.aggregate.next_poll = plus(now, gap);
    step.due = Some(step.aggregate.next_poll);
    step
}

/// A refused key stays refused until a poll is answered: another error in between proves nothing about it.
fn health_after(account: &Account, failure: &Failure, now: Timestamp) -> (Health, Option<Event>) {
    if let Health::Unauthorized { since } = account.health {
        return (Health::Unauthorized { since }, None);
    }
    match failure.class {
        FailureClass::Unauthorized | FailureClass::Forbidden => {
            let reason = format!(
                "Jules does not accept the key of account `{}`: put a working one in the secret `jules/{}`",
                account.name, account.name
            );
            let event = trouble(account, ErrorCause::Auth, reason, now, now);
            (Health::Unauthorized { since: now }, Some(event))
        }
        FailureClass::Network => unreachable(account, failure, now),
        FailureClass::Throttled
        | FailureClass::Unavailable
        | FailureClass::Garbled
        | FailureClass::NotFound
        | FailureClass::Precondition
        | FailureClass::Conflict
        | FailureClass::Invalid => {
            let streak = match account.health {
                Health::Throttled { streak } => streak.saturating_add(1),
                Health::Working | Health::Unreachable { .. } | Health::Unauthorized { .. } => 1,
            };
            (Health::Throttled { streak }, None)
        }
    }
}

fn unreachable(account: &Account, failure: &Failure, now: Timestamp) -> (Health, Option<Event>) {
    let (streak, since) = match account.health {
        Health::Unreachable { streak, since } => (streak.saturating_add(1), since),
        Health::Working | Health::Throttled { .. } | Health::Unauthorized { .. } => (1, now),
    };
    let reason = format!(
        "Jules has not answered {streak} polls in a row: {}",
        failure.message
    );
    let event = (streak == NETWORK_FAILURES_MAX)
        .then(|| trouble(account, ErrorCause::Network, reason, since, now));
    (Health::Unreachable { streak, since }, event)
}

/// Today's budget for watching is used up. People decide about that, and no agent.
fn short_of(account: &Account, short: ExhaustedBudget, now: Timestamp) -> Event {
    let name = &account.name;
    let reason = match short {
        ExhaustedBudget::Requests => format!(
            "Account `{name}` has made the requests that its polls may make today, and is polled again tomorrow; a higher limit of the account's requests a day allows more"
        ),
        ExhaustedBudget::Money => format!(
            "What running may cost today is spent, and account `{name}` is polled every 15 minutes until tomorrow; a higher limit of the cost of a day allows more"
        ),
    };
    let day = day_of(now);
    let event = trouble(account, ErrorCause::Budget, reason, day, now);
    let id = match short {
        ExhaustedBudget::Requests => event.id,
        // Both may be used up on one day, and each is an event of its own.
        ExhaustedBudget::Money => EventId::from_name(&format!("account:{name}:money:{day}")),
    };
    Event {
        id,
        audience: Audience::Human,
        ..event
    }
}

fn trouble(
    account: &Account,
    cause: ErrorCause,
    reason: String,
    since: Timestamp,
    now: Timestamp,
) -> Event {
    Event::new(
        EventId::from_name(&format!(
            "account:{}:{}:{since}",
            account.name,
            cause.as_str()
        )),
        account.name.clone(),
        now,
        Occurrence::Error { cause, reason },
    )
}

/// The tick, or up to a tenth less: installations do not march in step, and nothing waits longer than the tick.
fn working_gap(account: &Account, now: Timestamp) -> SignedDuration {
    let tick = account.pace.tick;
    tick - tick / 1_000 * jitter(&account.name, now.as_millisecond())
}

/// Gaps double from the tick, with up to a quarter more for the same reason, and never undercut what the service asks.
fn gap_after(account: &Account, health: &Health, failure: &Failure) -> SignedDuration {
    let asked = failure.asked_wait().unwrap_or(SignedDuration::ZERO);
    let streak = match health {
        Health::Unauthorized { .. } => return UNAUTHORIZED_GAP.max(asked),
        Health::Working => 0,
        Health::Throttled { streak } | Health::Unreachable { streak, .. } => *streak,
    };
    let doubled = account
        .pace
        .tick
        .saturating_mul(1 << streak.min(10))
        .min(GAP_MAX);
    let jittered = doubled + doubled * jitter(&account.name, i64::from(streak)) / 400;
    jittered.max(asked)
}

/// 0 to 100, the same for the same account and turn: `domain` draws no random numbers.
fn jitter(account: &AccountName, turn: i64) -> i32 {
    let digest = digest(&format!("{account}:{turn}"));
    let byte = u8::from_str_radix(&digest[..2], 16).unwrap_or(0);
    i32::from(byte) * 100 / 255
}

#[cfg(test)]
mod tests;
