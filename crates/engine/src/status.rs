//! What is going on, all in all.

mod reading;

use std::collections::BTreeMap;

use domain::account::{Health, PollCounters};
use domain::ids::{AccountName, RepoName, SprintNumber};
use domain::redelivery::{self, RedeliveryState, WebhookLog};
use domain::sprint::Figures;
use domain::webhook_activity::WebhookHealth;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::ports::{Budget, Usage};
use crate::sources::UnreadIssues;
use crate::usage::Spending;
use crate::why::Reasoned;

/// Without a tick for this long, no process ticks.
const TICKS_WITHIN: SignedDuration = SignedDuration::from_mins(4);

/// What is going on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The time of the answer.
    pub now: Timestamp,
    /// Since when everything is paused.
    pub paused_since: Option<Timestamp>,
    /// Whether this process only observes.
    pub observe_only: bool,
    /// Jobs by state.
    pub jobs: BTreeMap<String, u64>,
    /// Who is waited for by deliveries, by watched jobs that work for none, or [`NOT_READ`](crate::counts::NOT_READ).
    pub waits_for: BTreeMap<String, u64>,
    /// Open deliveries by their place, for example `plan/running`.
    pub deliveries: BTreeMap<String, u64>,
    /// Runs of pipelines that are under way by their place, for example `observers/running`.
    pub pipelines: BTreeMap<String, u64>,
    /// Requirements of sources whose pipeline is on, by their state.
    pub requirements: BTreeMap<String, u64>,
    /// The newest sprint of each source that has had one.
    pub sprints: Vec<SprintStatus>,
    /// Accounts.
    pub accounts: Vec<AccountStatus>,
    /// Sources that are paused.
    pub paused_sources: Vec<RepoName>,
    /// Sources whose issues could not be read.
    pub unread_issues: Vec<UnreadIssues>,
    /// Messages that wait, and dead letters.
    pub queue: (u64, u64),
    /// Send time of the oldest message, where the queue reports it.
    pub oldest: Option<Timestamp>,
    /// Due time of the most overdue row; `None` when nothing is due. It shows whether any process ticks, also where
    /// the queue reports no age.
    pub overdue_since: Option<Timestamp>,
    /// Time of the last tick.
    pub last_tick: Option<Timestamp>,
    /// How news of each source reaches us.
    pub feeds: Vec<WebhookFeedStatus>,
    /// Failed webhook deliveries and their redelivery.
    pub hooks: Vec<HookStatus>,
    /// How GitHub lets us work.
    pub github: GitHubStatus,
    /// What running on AWS has cost today, and may cost.
    pub spending: Spending,
}

/// How GitHub lets us work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitHubStatus {
    /// Obstacles, and renamed repositories; empty when all is well.
    pub trouble: Vec<Reasoned>,
    /// What is left of its budgets.
    pub budgets: Vec<Budget>,
    /// The time of that.
    pub budgets_at: Option<Timestamp>,
    /// What the process that knew it had asked until then.
    pub usage: Usage,
}

/// How news of one source reaches us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookFeedStatus {
    /// The repository.
    pub repo: RepoName,
    /// How its news reaches us.
    #[serde(flatten)]
    pub health: WebhookHealth,
}

/// The newest sprint of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SprintStatus {
    /// The repository.
    pub repo: RepoName,
    /// Its number.
    pub number: SprintNumber,
    /// How far it is, in one word.
    pub state: String,
    /// Whether nothing more happens.
    pub is_over: bool,
    /// What is counted of it.
    pub figures: Figures,
}

/// Failed webhook deliveries and their redelivery, by GitHub's log of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookStatus {
    /// The log: the App's or a repository's.
    pub log: WebhookLog,
    /// When it was last read.
    pub looked_at: Option<Timestamp>,
    /// What is wrong, as a sentence; `None` when nothing is.
    pub trouble: Option<String>,
    /// Deliveries that failed and have not arrived since.
    pub failed: u64,
    /// Number of redelivery requests so far.
    pub asked: u64,
    /// Deliveries that never arrived.
    pub given_up: u64,
}

/// One account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountStatus {
    /// Its name.
    pub name: AccountName,
    /// How its polls go.
    pub health: Health,
    /// When it is polled next.
    pub next_poll: Timestamp,
    /// Until when a poll that has begun keeps others away, should it never end; `None` while none goes on.
    pub held_until: Option<Timestamp>,
    /// Slots taken and allowed.
    pub slots: (u64, u32),
    /// Tasks of the last 24 hours and allowed.
    pub today: (u64, u32),
    /// Counters of its polls.
    pub counters: PollCounters,
    /// Requests to Jules of today's polls, where they are counted, and allowed.
    pub requests: Option<(u64, u32)>,
}

impl From<RedeliveryState> for HookStatus {
    fn from(repair: RedeliveryState) -> Self {
        Self {
            trouble: redelivery::problem(&repair),
            looked_at: repair.looked_at,
            failed: repair.failed.len() as u64,
            asked: repair.asked,
            given_up: repair.given_up,
            log: repair.log,
        }
    }
}

fn is_ticking(last_tick: Option<Timestamp>, now: Timestamp) -> bool {
    last_tick.is_some_and(|at| now.duration_since(at) < TICKS_WITHIN)
}

impl Status {
    /// Whether the last tick is recent enough.
    pub fn is_ticking(&self) -> bool {
        is_ticking(self.last_tick, self.now)
    }
}
