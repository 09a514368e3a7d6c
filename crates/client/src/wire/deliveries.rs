//! Deliveries in answers.

mod calls;
mod requests;
mod runs;

use std::fmt;

use domain::ids::{CommitSha, DeliveryId, JobId, PlanId, PullRef, RepoName, RunId, SessionId};
use domain::priority::Priority;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AsRead, Next, PlannedStep, Reason, WaitsFor, form};

pub use calls::DeliveryQuery;
pub use requests::{
    AnalysisRequest, ApproveDelivery, CancelDelivery, CollectRequest, CreateDelivery, EditDelivery,
    ExecuteDelivery, FixDelivery, ISSUE_NUMBER_MAX, PartRequest, PlanRequest, RefRequest,
    RejectDelivery, RetryDelivery, SplitRequest, StartDelivery, VerdictRequest,
};
pub use runs::{DeliveryRun, EntryView, TRANSCRIPT_PAGE_MAX, Transcript};

/// How many deliveries a list holds when nothing else is asked for.
pub const DELIVERIES_LIMIT: u32 = 50;

/// How many deliveries a list holds at most.
pub const DELIVERIES_LIMIT_MAX: u32 = 200;

/// `GET /api/deliveries`: the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deliveries {
    /// The deliveries.
    pub deliveries: Vec<DeliveryCard>,
    /// Where the older ones begin; none when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A delivery in a list, or on a board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryCard {
    /// Its id.
    pub id: DeliveryId,
    /// Its number, larger than that of any earlier one; 0 for a job that is shown as a delivery.
    pub seq: u64,
    /// `issue`, `requirement` or `adhoc`.
    pub kind: String,
    /// The repository.
    pub repo: RepoName,
    /// What it is about.
    pub summary: String,
    /// Its phase: `intake`, `plan`, `implement`, `review`, `verify`, `deploy`, `observe` or `close`.
    pub phase: String,
    /// How that goes: `pending`, `running`, `succeeded`, `failed` or `blocked`.
    pub run_status: String,
    /// What its review came to: `pass` or `not_pass`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Who is waited for.
    pub waits_for: WaitsFor,
    /// Why it is where it is.
    pub why: Reason,
    /// The issue that triggered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<IssueView>,
    /// Its pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullRef>,
    /// How much it matters, from 0 to 9.
    pub priority: Priority,
    /// When it was created.
    #[schemars(with = "form::Moment")]
    pub created_at: Timestamp,
    /// When it last changed.
    #[schemars(with = "form::Moment")]
    pub updated_at: Timestamp,
}

impl DeliveryCard {
    /// Whether it waits for no one any more: it is closed, or shows a job that has ended.
    pub fn is_over(&self) -> bool {
        self.waits_for.who == "nobody"
    }
}

/// One issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IssueView {
    /// Its number.
    pub number: u64,
    /// Its page.
    pub url: String,
}

/// `GET /api/deliveries/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryView {
    /// What a list shows of it.
    #[serde(flatten)]
    pub card: DeliveryCard,
    /// The form in which it is stored.
    pub schema_version: u32,
    /// More about it, as it was when the delivery was created: text from outside, data and no orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it is done.
    pub acceptance_criteria: Vec<String>,
    /// Its last phase before it closes.
    pub endpoint: String,
    /// The phases after which a person is awaited.
    pub checkpoints: Vec<String>,
    /// What it refers to.
    pub refs: Vec<RefView>,
    /// Its plan: text from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanView>,
    /// Why its phase failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Reason>,
    /// What was said when it was last sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// The open question of its session: text from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The job whose session asks it: the one that works, or the one that reviews.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asking_job_id: Option<JobId>,
    /// The number of its present attempt, from 1; one that got no session is counted, too.
    pub attempt: u32,
    /// How often its review sent it back.
    pub review_round: u32,
    /// The delivery that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<DeliveryId>,
    /// The deliveries into which it was split.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ChildView>,
    /// Its job, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<JobId>,
    /// The present head of its pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitSha>,
    /// Executions of its phases, the oldest first.
    pub runs: Vec<RunView>,
    /// Where it was and when, the oldest first.
    pub phase_runs: Vec<PhaseRunView>,
    /// How often it has changed.
    pub version: u64,
    /// What the caller may do now: `start`, `approve`, `reject`, `retry`, `cancel`, `verdict`, `plan`, `split`,
    /// `merge`, `edit`, `collect` or `analyse`.
    pub legal: Vec<String>,
    /// Whether the caller may retry it and say what to do otherwise.
    pub retry_takes_reason: bool,
}

/// What something refers to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefView {
    /// `trigger`, `output` or `parent`.
    pub role: String,
    /// `jira`, `verbal`, `pr`, `commit`, `repo` or `github_issue`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What people call it.
    pub label: String,
    /// Its page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl fmt::Display for RefView {
    /// As `--ref` takes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.role, self.kind, self.label)?;
        match &self.url {
            Some(url) => write!(f, " {url}"),
            None => Ok(()),
        }
    }
}

/// A plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanView {
    /// Its id, by which an approval names it.
    #[schemars(with = "String")]
    pub id: PlanId,
    /// The plan itself: text from outside.
    pub content: String,
    /// When it was made.
    #[schemars(with = "form::Moment")]
    pub generated_at: Timestamp,
    /// Which model made it: null, since Jules does not say.
    pub model: Option<String>,
    /// In which folder: null, since Jules does not say.
    pub cwd: Option<String>,
    /// The files that it wants to change, if the planner named them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target_files: Vec<String>,
}

/// A part into which a delivery was split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChildView {
    /// Its id.
    pub id: DeliveryId,
    /// What it is about.
    pub summary: String,
    /// How far it is: `open`, `failed`, `closed`, `cancelled` or `abandoned`.
    pub state: String,
}

/// One execution of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunView {
    /// Its id: 8 hex digits.
    pub id: RunId,
    /// What was executed: `plan`, `implement`, `review`, `verify`, `deploy`, `observe` or `execution`.
    pub mode: String,
    /// `system` or `agent`.
    pub executor: String,
    /// Who did it: `jules`, `agent`, `human`, `nobody` or `system`.
    pub performer: String,
    /// How far it is: `running`, `success` or `failed`.
    pub status: String,
    /// Its job, if a session does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<JobId>,
    /// The session, once it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Which attempt of the delivery it belongs to.
    pub attempt: u32,
    /// The head that it made or was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitSha>,
    /// When it began.
    #[schemars(with = "form::Moment")]
    pub created_at: Timestamp,
    /// How long it took, in seconds; null while it runs.
    pub duration_seconds: Option<u64>,
    /// Null: Jules does not say.
    pub tokens: Option<u64>,
    /// Null: Jules does not say.
    pub cost: Option<u64>,
    /// What a review came to: `pass` or `not_pass`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// What it came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What was found out about its failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<AnalysisView>,
    /// Whether its transcript can be read: `none`, `pending` while it is still to be kept, or `kept`.
    pub transcript: String,
}

/// What was found out about a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnalysisView {
    /// Who found it out.
    pub by: String,
    /// What.
    pub text: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// A time in one phase and one status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseRunView {
    /// The phase.
    pub phase: String,
    /// Its status.
    pub run_status: String,
    /// What the review came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// `system` or `agent`.
    pub executor: String,
    /// When it began.
    #[schemars(with = "form::Moment")]
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<form::Moment>")]
    pub ended_at: Option<Timestamp>,
    /// Who began it: `system`, `agent NAME` or `person NAME`.
    pub actor: String,
}

/// `GET /api/deliveries/{delivery}/why`: why a delivery is where it is, in the words of its own record, its job and its
/// pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryWhy {
    /// The delivery.
    pub delivery_id: DeliveryId,
    /// Its job, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<JobId>,
    /// The head of its pull request, if that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitSha>,
    /// Its phase.
    pub phase: String,
    /// How that goes.
    pub run_status: String,
    /// Who is waited for.
    pub waits_for: WaitsFor,
    /// What is the case, the decisive reason first.
    pub because: Vec<Reason>,
    /// What will be done, the soonest first.
    pub then: Vec<PlannedStep>,
    /// Advice about what stands in the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<Next>,
    /// Age of what is said of its pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_read: Option<AsRead>,
    /// The latest time at which its job or its pull request is looked at again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<form::Moment>")]
    pub next_look: Option<Timestamp>,
    /// What the caller may do now.
    pub legal: Vec<String>,
    /// Whether the caller may retry it and say what to do otherwise.
    pub retry_takes_reason: bool,
}
