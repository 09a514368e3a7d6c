//! What is going on: in one job, in all of them, and at the API itself.

use std::collections::BTreeMap;

use domain::account;
use domain::ids::{AccountName, JobId, PullRef, RepoName};
use domain::redelivery::WebhookLog;
use domain::webhook_activity::WebhookHealth;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form;
use super::job::{AsRead, WaitsFor};
use super::problem::{Next, Reason};
use super::sprints::SprintGlimpse;

/// `GET /jobs/{id}/why` and `GET /pulls/{owner}/{name}/{number}/why`: why it does not move, and what will be done when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Why {
    /// The job; none for a pull request that no job of ours made.
    pub job_id: Option<JobId>,
    /// The pull request, if one is known.
    pub pull_request: Option<PullRef>,
    /// Its state, in one word.
    pub state: String,
    /// Who is waited for; none for a pull request that no job of ours made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<WaitsFor>,
    /// Age of what is shown of the pull request; absent where nothing of a reading is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_read: Option<AsRead>,
    /// What is the case.
    pub because: Vec<Reason>,
    /// The checks of its head when that was last judged, those that failed first; at most twenty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckView>,
    /// What will be done, the soonest first.
    pub then: Vec<PlannedStep>,
    /// Advice: orders that would be accepted now.
    #[serde(default)]
    pub next: Vec<Next>,
    /// The latest time of its next check.
    #[schemars(with = "Option<form::Moment>")]
    pub next_look: Option<Timestamp>,
}

/// A check of a pull request's head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckView {
    /// Its name: text from outside.
    pub name: String,
    /// How far it is: `pending`, `passed`, `neutral`, `skipped`, `failed` or `action_required`.
    pub state: String,
    /// Its page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// A planned action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedStep {
    /// When; absent if that depends on others.
    #[schemars(with = "Option<form::Moment>")]
    pub at: Option<Timestamp>,
    /// What, as a sentence.
    pub sentence: String,
}

/// `GET /status`: what is going on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// The time of the answer.
    #[schemars(with = "form::Moment")]
    pub now: Timestamp,
    /// Since when everything is paused.
    #[schemars(with = "Option<form::Moment>")]
    pub paused_since: Option<Timestamp>,
    /// Whether the process only observes.
    pub observe_only: bool,
    /// How many jobs are in each state.
    pub jobs: BTreeMap<String, u64>,
    /// Who is waited for, by open deliveries and by jobs of none whose session is watched: `person`, `agent`, `jules`,
    /// `github`, `gaffer` or `nobody`; `not_read` are deliveries beyond the first 200, and jobs in review beyond the
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
    #[schemars(with = "Option<form::Moment>")]
    pub overdue_since: Option<Timestamp>,
    /// When an account was last polled.
    #[serde(default)]
    #[schemars(with = "Option<form::Moment>")]
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

/// A source whose last reading of issues failed: what became of its issues since is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadIssuesView {
    /// Its repository.
    pub repo: RepoName,
    /// When the reading failed.
    #[schemars(with = "form::Moment")]
    pub at: Timestamp,
    /// That the issues could not be read, and why.
    pub sentence: String,
}

/// Failed webhook deliveries and their redelivery, by GitHub's log of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryLogView {
    /// The log: `app` or a repository.
    pub log: WebhookLog,
    /// When it was last read.
    #[schemars(with = "Option<form::Moment>")]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebhookFeedView {
    /// The repository.
    pub repo: RepoName,
    /// How its news reaches us: `polled`, `webhooks` or `silent`.
    #[serde(flatten)]
    #[schemars(with = "form::WebhookHealth")]
    pub health: WebhookHealth,
}

/// How GitHub lets us work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GitHubView {
    /// Obstacles, and repositories that were renamed; empty when all is well.
    pub trouble: Vec<Reason>,
    /// What is left of its budgets.
    pub budgets: Vec<BudgetView>,
    /// When that was known.
    #[schemars(with = "Option<form::Moment>")]
    pub budgets_at: Option<Timestamp>,
    /// What the process that knew it had asked until then.
    #[serde(default)]
    pub usage: UsageView,
}

/// What a process has asked of GitHub since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageView {
    /// Requests that GitHub answered, or may have.
    pub requests: u64,
    /// How many of them were answered "not modified", which costs none of the budget.
    pub not_modified: u64,
}

/// What is left of one of GitHub's budgets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetView {
    /// Whose it is: `token`, `app` or `installation 7`.
    pub owner: String,
    /// Of what: `core`, `graphql` and so on.
    pub resource: String,
    /// Requests granted until the reset.
    pub limit: u64,
    /// Requests left.
    pub remaining: u64,
    /// When it is full again.
    #[schemars(with = "form::Moment")]
    pub reset: Timestamp,
    /// Until when GitHub asked to stay away altogether.
    #[schemars(with = "Option<form::Moment>")]
    pub stay_away: Option<Timestamp>,
}

/// One account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccountView {
    /// Its name.
    pub name: AccountName,
    /// How its polls go.
    #[serde(flatten)]
    #[schemars(with = "form::AccountHealth")]
    pub health: account::Health,
    /// When it is polled next.
    #[schemars(with = "form::Moment")]
    pub next_poll: Timestamp,
    /// Until when a poll that has begun keeps others away, should it never end; absent while none goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<form::Moment>")]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpendingView {
    /// So much.
    pub dollars_today: f64,
    /// The daily limit; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dollars_a_day: Option<f64>,
}

/// How much of an allowance is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Used {
    /// How many.
    pub used: u64,
    /// Of how many.
    pub of: u32,
}

/// How many messages there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueView {
    /// Messages that wait.
    pub waiting: u64,
    /// Messages that were given up.
    pub dead: u64,
    /// Send time of the oldest message; absent when there is none, and where the queue does not report it.
    #[serde(default)]
    #[schemars(with = "Option<form::Moment>")]
    pub oldest: Option<Timestamp>,
}

/// `GET /healthz`: the process answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Always true: a process that cannot say so does not answer.
    pub ok: bool,
    /// The version of Gaffer.
    pub version: String,
    /// Webhook deliveries since the process began.
    pub webhooks: WebhookCounts,
}

/// Webhook deliveries since the process began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebhookCounts {
    /// Signed, understood and put in the queue.
    pub accepted: u64,
    /// Signed, and about nothing that is followed.
    pub ignored: u64,
    /// Not signed, signed wrongly, too large or not readable.
    pub refused: u64,
}
