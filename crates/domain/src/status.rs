//! What is going on, as every surface shows it: the engine fills it in, and the HTTP API answers it as it is.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::account::Health;
use crate::github_access::{GitHubBudget, GitHubUsage};
use crate::ids::{AccountName, RepoName, SprintNumber};
use crate::reasoned::Reasoned;
use crate::redelivery::{self, RedeliveryState, WebhookLog};
use crate::sprint::{Figures, Sprint};
use crate::webhook_activity::WebhookHealth;

/// Without a tick for this long, no process ticks.
pub const TICKS_WITHIN: SignedDuration = SignedDuration::from_mins(4);

/// `GET /status`: what is going on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Status {
    /// The time of the answer.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Moment"))]
    pub now: Timestamp,
    /// Since when everything is paused.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Moment>"))]
    pub paused_since: Option<Timestamp>,
    /// Whether the process only observes.
    pub observe_only: bool,
    /// How many jobs are in each state.
    pub jobs: BTreeMap<String, u64>,
    /// Who is waited for, by open deliveries and by jobs of none whose session is watched or that a pause holds: `person`,
    /// `agent`, `jules`, `github`, `gaffer` or `nobody`; `not_read` are deliveries beyond the first 200, and jobs in review beyond the
    /// first 500 open pull requests.
    #[serde(default)]
    pub waits_for: BTreeMap<String, u64>,
    /// How many open deliveries are at each place, for example `plan/running`.
    #[serde(default)]
    pub deliveries: BTreeMap<String, u64>,
    /// How many runs of pipelines are at each place, for example `observers/running`.
    #[serde(default)]
    pub pipelines: BTreeMap<String, u64>,
    /// How many requirements are in each state, of sources whose pipeline is on.
    #[serde(default)]
    pub requirements: BTreeMap<String, u64>,
    /// The newest sprint of each source that has had one.
    #[serde(default)]
    pub sprints: Vec<SprintGlimpse>,
    /// The accounts.
    pub accounts: Vec<AccountView>,
    /// Sources that are paused.
    pub paused_sources: Vec<RepoName>,
    /// Sources whose issues could not be read.
    #[serde(default)]
    pub unread_issues: Vec<UnreadIssuesView>,
    /// The queue of wake-ups.
    pub queue: QueueView,
    /// Since when the row is due that waits longest; none when nothing is due.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Moment>"))]
    pub overdue_since: Option<Timestamp>,
    /// When an account was last polled.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Moment>"))]
    pub last_tick: Option<Timestamp>,
    /// How news of each source reaches us.
    #[serde(default)]
    pub feeds: Vec<WebhookFeedView>,
    /// Failed webhook deliveries and their redelivery.
    #[serde(default)]
    pub hooks: Vec<DeliveryLogView>,
    /// How GitHub lets us work.
    #[serde(default)]
    pub github: GitHubView,
    /// What running on AWS has cost today.
    #[serde(default)]
    pub spending: SpendingView,
}

/// The newest sprint of a source, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SprintGlimpse {
    /// The repository.
    pub repo: RepoName,
    /// Its number.
    pub number: SprintNumber,
    /// How far it is.
    pub state: String,
    /// Whether nothing more happens.
    pub is_over: bool,
    /// How often it went on to work, weave or mend.
    pub ticks: u32,
    /// How many weaves were asked for.
    pub weaves: u32,
    /// What is counted of it.
    pub figures: Figures,
}

/// A source whose last reading of issues failed: what became of its issues since is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnreadIssuesView {
    /// Its repository.
    pub repo: RepoName,
    /// When the reading failed.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Moment"))]
    pub at: Timestamp,
    /// That the issues could not be read, and why.
    pub sentence: String,
}

/// Failed webhook deliveries and their redelivery, by GitHub's log of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeliveryLogView {
    /// The log: `app` or a repository.
    pub log: WebhookLog,
    /// When it was last read.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Moment>"))]
    pub looked_at: Option<Timestamp>,
    /// What is wrong, as a sentence.
    pub trouble: Option<String>,
    /// Deliveries that failed and have not arrived since.
    pub failed: u64,
    /// Number of redelivery requests so far.
    pub asked: u64,
    /// Deliveries that never arrived.
    pub given_up: u64,
}

/// How news of one source reaches us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WebhookFeedView {
    /// The repository.
    pub repo: RepoName,
    /// How its news reaches us: `polled`, `webhooks` or `silent`.
    #[serde(flatten)]
    pub health: WebhookHealth,
}

/// How GitHub lets us work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GitHubView {
    /// Obstacles, and repositories that were renamed; empty when all is well.
    pub trouble: Vec<Reasoned>,
    /// What is left of its budgets.
    pub budgets: Vec<GitHubBudget>,
    /// When that was known.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Moment>"))]
    pub budgets_at: Option<Timestamp>,
    /// What the process that knew it had asked until then.
    #[serde(default)]
    pub usage: GitHubUsage,
}

/// One account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccountView {
    /// Its name.
    pub name: AccountName,
    /// How its polls go.
    #[serde(flatten)]
    pub health: Health,
    /// When it is polled next.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Moment"))]
    pub next_poll: Timestamp,
    /// Until when a poll that has begun keeps others away, should it never end; absent while none goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Moment>"))]
    pub held_until: Option<Timestamp>,
    /// Sessions at once.
    pub slots: Used,
    /// Sessions of the last 24 hours.
    pub today: Used,
    /// Requests to Jules of today's polls, where a day has an allowance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<Used>,
}

/// What running on AWS has cost today, in US dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpendingView {
    /// So much.
    pub dollars_today: f64,
    /// The daily limit; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dollars_a_day: Option<f64>,
}

/// How much of an allowance is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Used {
    /// How many.
    pub used: u64,
    /// Of how many.
    pub of: u32,
}

/// How many messages there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueueView {
    /// Messages that wait.
    pub waiting: u64,
    /// Messages that were given up.
    pub dead: u64,
    /// Send time of the oldest message; absent when there is none, and where the queue does not report it.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Moment>"))]
    pub oldest: Option<Timestamp>,
}

impl Status {
    /// Sprints that are under way while they are paused: only a person ends that.
    pub fn held_sprints(&self) -> impl Iterator<Item = &SprintGlimpse> {
        let is_all = self.paused_since.is_some() || self.observe_only;
        let is_held = move |it: &&SprintGlimpse| is_all || self.paused_sources.contains(&it.repo);
        self.sprints.iter().filter(|it| !it.is_over).filter(is_held)
    }

    /// Whether some process ticks: the last tick is recent enough.
    pub fn is_ticking(&self) -> bool {
        self.last_tick
            .is_some_and(|at| self.now.duration_since(at) < TICKS_WITHIN)
    }
}

impl From<Sprint> for SprintGlimpse {
    fn from(sprint: Sprint) -> Self {
        Self {
            state: sprint.state.word().to_owned(),
            is_over: sprint.is_over(),
            ticks: sprint.ticks,
            weaves: sprint.weaves,
            figures: Figures::of_sprint(&sprint),
            repo: sprint.repo,
            number: sprint.number,
        }
    }
}

impl From<RedeliveryState> for DeliveryLogView {
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

impl SpendingView {
    /// Whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.dollars_a_day
            .is_some_and(|allowed| self.dollars_today >= allowed)
    }
}

impl Used {
    /// How many are left.
    pub fn left(self) -> u64 {
        u64::from(self.of).saturating_sub(self.used)
    }
}
