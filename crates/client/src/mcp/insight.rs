//! The toolset `insight`: the present state, explanations, and a job's events.

use std::collections::BTreeMap;

use domain::ids::PullRef;
use domain::status::{AccountView, Status, Used};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answers::{EventSummary, to_value};
use super::arguments::{OneJob, read};
use super::next;
use super::tool_error::ToolError;
use crate::Client;
use crate::wire::{Reason, Why};

/// `jules_status`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoArguments {}

/// `jules_why`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AskWhy {
    /// Job or session.
    #[serde(default)]
    pub(super) job_id: Option<String>,
    /// `owner/name#number`, instead of a job.
    #[serde(default)]
    pub(super) pull_request: Option<PullRef>,
}

/// What is going on.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StatusSummary {
    /// How many jobs are in each state.
    jobs: BTreeMap<String, u64>,
    /// How many of them wait for whom.
    waits_for: BTreeMap<String, u64>,
    /// How many open deliveries are at each place.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    deliveries: BTreeMap<String, u64>,
    /// How many runs of pipelines are at each place.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pipelines: BTreeMap<String, u64>,
    /// How many requirements are in each state.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    requirements: BTreeMap<String, u64>,
    accounts: Vec<Account>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    paused_since: Option<Timestamp>,
    /// Nothing is written to Jules or GitHub.
    observe_only: bool,
    paused_sources: Vec<String>,
    /// Messages that wait, and that were given up.
    waiting: u64,
    dead: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    overdue_since: Option<Timestamp>,
    /// Obstacles at GitHub.
    github: Vec<String>,
}

/// An account of Jules.
#[derive(Debug, Serialize, JsonSchema)]
struct Account {
    name: String,
    /// How its polls go.
    health: Value,
    slots: Share,
    /// Sessions of the last 24 hours.
    today: Share,
}

/// How much of an allowance is used.
#[derive(Debug, Serialize, JsonSchema)]
struct Share {
    used: u64,
    of: u32,
}

/// An explanation.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WhyAnswer {
    state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    waits_for: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pull_request: Option<String>,
    /// Age of what is shown of the pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    as_read: Option<String>,
    because: Vec<String>,
    /// What will be done, the soonest first.
    then: Vec<Step>,
    /// What you, or others, can do about it now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    next: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    next_look: Option<Timestamp>,
}

/// What will be done.
#[derive(Debug, Serialize, JsonSchema)]
struct Step {
    /// When; absent if that depends on others.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    at: Option<Timestamp>,
    sentence: String,
}

/// A job's events.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Journal {
    job_id: String,
    /// The oldest first.
    events: Vec<EventSummary>,
}

/// `jules_status`.
pub(super) async fn status(client: &Client, given: Value) -> Result<Value, ToolError> {
    let NoArguments {} = read(given)?;
    to_value(StatusSummary::from(client.status().await?))
}

/// `jules_why`.
pub(super) async fn why(client: &Client, given: Value) -> Result<Value, ToolError> {
    let found = match read(given)? {
        AskWhy {
            job_id: Some(job),
            pull_request: None,
        } => client.why(&job).await?,
        AskWhy {
            job_id: None,
            pull_request: Some(pull),
        } => client.pull_why(&pull).await?,
        AskWhy { .. } => {
            let wrong = "give it, or `pull_request`, and not both";
            return Err(ToolError::argument("job_id", wrong));
        }
    };
    to_value(WhyAnswer::from(found))
}

/// `jules_list_events`.
pub(super) async fn events(client: &Client, given: Value) -> Result<Value, ToolError> {
    let OneJob { job_id } = read(given)?;
    let found = client.events(&job_id).await?;
    to_value(Journal {
        job_id: found.job_id.to_string(),
        events: found.events.into_iter().map(EventSummary::from).collect(),
    })
}

impl From<Status> for StatusSummary {
    fn from(status: Status) -> Self {
        let trouble = status.github.trouble.into_iter();
        let trouble = trouble.map(|reason: Reason| reason.sentence);
        let unread = status.unread_issues.into_iter().map(|it| it.sentence);
        Self {
            jobs: status.jobs,
            waits_for: status.waits_for,
            deliveries: status.deliveries,
            pipelines: status.pipelines,
            requirements: status.requirements,
            accounts: status.accounts.into_iter().map(Account::from).collect(),
            paused_since: status.paused_since,
            observe_only: status.observe_only,
            paused_sources: status
                .paused_sources
                .iter()
                .map(ToString::to_string)
                .collect(),
            waiting: status.queue.waiting,
            dead: status.queue.dead,
            overdue_since: status.overdue_since,
            github: trouble.chain(unread).collect(),
        }
    }
}

impl From<AccountView> for Account {
    fn from(account: AccountView) -> Self {
        Self {
            name: account.name.to_string(),
            // Plain fields with text keys always serialize.
            health: serde_json::to_value(account.health).unwrap_or_default(),
            slots: account.slots.into(),
            today: account.today.into(),
        }
    }
}

impl From<Used> for Share {
    fn from(Used { used, of }: Used) -> Self {
        Self { used, of }
    }
}

impl From<Why> for WhyAnswer {
    fn from(why: Why) -> Self {
        let step = |planned: crate::wire::PlannedStep| Step {
            at: planned.at,
            sentence: planned.sentence,
        };
        Self {
            state: why.state,
            waits_for: why.waits_for.map(|waits| waits.sentence),
            job_id: why.job_id.map(|job| job.to_string()),
            pull_request: why.pull_request.map(|pull| pull.to_string()),
            as_read: why.as_read.map(|read| read.sentence),
            because: why.because.into_iter().map(|it| it.sentence).collect(),
            then: why.then.into_iter().map(step).collect(),
            next: why.next.iter().map(next::sentence).collect(),
            next_look: why.next_look,
        }
    }
}
