//! Requests for jobs, and jobs in answers.

use domain::ids::{
    AccountName, AgentName, BranchName, CommitSha, DeliveryId, JobId, PipelineId, PlanId, PullRef,
    RepoName, RoleName, SessionId, StreamName,
};
use domain::priority::Priority;
use domain::wake::Resume;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Constraints, form};

pub use domain::why::AsRead;

/// `POST /jobs`: a piece of work for Jules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateJob {
    /// The repository, `owner/name`; it has to be a source.
    pub repo: RepoName,
    /// The branch to start from; the source's without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<BranchName>,
    /// The task; its length is limited by `domain::job::PROMPT_BYTES_MAX`.
    #[schemars(length(min = 1, max = domain::job::PROMPT_BYTES_MAX))]
    pub prompt: String,
    /// A short name; the first line of the prompt without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Who is woken; the source's agent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// What the agent wants to find in the wakes of this job, as `resume`; 1 to 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
    /// How much it matters, from 0 to 9; 9 goes first, and 5 is meant without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// Further terms: a text, a list of texts, or named ones. `title`, `priority`, `require_plan_approval` and
    /// `automation_mode` are obeyed; the others are appended to the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<form::ConstraintsSchema>")]
    pub constraints: Option<Constraints>,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobView {
    /// Its id.
    pub job_id: JobId,
    /// The delivery that it works for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_id: Option<DeliveryId>,
    /// Its state, in one word: `queued`, `starting`, `working`, `asking`, `plan-waits`, `answered`, `paused`,
    /// `unknown`, `in-review`, `completed`, `merged`, `closed`, `failed`, `lost`, `refused`, `left` or `cancelled`.
    pub state: String,
    /// Its current or last session.
    pub session_id: Option<SessionId>,
    /// What Jules says about that session while it is watched, in Jules's spelling.
    pub session_state: Option<String>,
    /// The session's web page.
    #[serde(default)]
    pub session_url: Option<String>,
    /// The repository.
    pub repo: RepoName,
    /// The branch it started from and its pull request goes to.
    pub branch: BranchName,
    /// Its short name.
    pub title: String,
    /// The number of its current session, from 1.
    pub attempt: u32,
    /// When it came to us.
    #[schemars(with = "form::Moment")]
    pub created_at: Timestamp,
    /// Its pull request, `owner/name#number`.
    pub pull_request: Option<PullRef>,
    /// The web page of that pull request.
    #[serde(default)]
    pub pull_request_url: Option<String>,
    /// Who is woken; none when the source decides.
    pub agent: Option<AgentName>,
    /// How much it matters, from 0 to 9.
    #[serde(default)]
    pub priority: Priority,
    /// Whether its plans wait for an approval whatever its source says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub require_plan_approval: bool,
    /// What its sessions do with their work, in Jules's words, where that is not `AUTO_CREATE_PR`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub automation_mode: Option<String>,
    /// The Jules account.
    pub account: AccountName,
    /// When its session last did anything that we saw.
    #[schemars(with = "Option<form::Moment>")]
    pub last_activity: Option<Timestamp>,
    /// The question or the plan that is open.
    pub waiting: Option<Waiting>,
    /// Who is waited for, and with what.
    #[serde(default)]
    pub waits_for: WaitsFor,
    /// Age of what is shown of its pull request, once that was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_read: Option<AsRead>,
    /// How it ended, if it has.
    pub ended: Option<Ended>,
    /// The newest orders about it and who gave them, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<OrderView>,
    /// What its prompt was made of, if it is an agent of a pipeline's layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_source: Option<PromptSource>,
    /// What people and agents noted down about it; only where one job is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

/// What the prompt of a pipeline's agent was made of: the same files and ids give the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromptSource {
    /// The run that asked for it; none for what implements a requirement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline_id: Option<PipelineId>,
    /// The layer.
    pub layer: String,
    /// Its role, in a layer of roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    /// The stream that it works in, if that is a named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamName>,
    /// The file of its requirement, for a planner or an implementer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement: Option<String>,
    /// The commit of the target branch whose `.jlo/` was read.
    pub target: CommitSha,
    /// The commit of the worker branch whose `.jules/` was read.
    pub worker: CommitSha,
    /// How many files are in it.
    pub included: usize,
    /// How many optional files were not there.
    pub skipped: usize,
}

/// An order that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OrderView {
    /// What: `say`, `approve`, `merge`, `retry` or `cancel`.
    pub order: String,
    /// Who gave it and through what, for example `token zai over MCP` or `a person at the command line`.
    pub by: String,
    /// When.
    #[schemars(with = "form::Moment")]
    pub at: Timestamp,
}

/// Who must act before a job goes on. Every surface says the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaitsFor {
    /// Who: `person`, `agent`, `jules`, `github`, `gaffer` or `nobody`.
    pub who: String,
    /// Which agent, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// With what, in one word, for example `question`, `answered`, `checks` or `approval`.
    #[serde(rename = "for")]
    pub what: String,
    /// Since when, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<form::Moment>")]
    pub since: Option<Timestamp>,
    /// The same for people.
    pub sentence: String,
}

impl WaitsFor {
    /// Whether a person or the agent must decide something.
    pub fn is_decision(&self) -> bool {
        matches!(self.who.as_str(), "person" | "agent")
    }
}

impl From<domain::job::WaitsFor> for WaitsFor {
    fn from(waits: domain::job::WaitsFor) -> Self {
        Self {
            sentence: waits.sentence(),
            who: waits.who.word().to_owned(),
            what: waits.what.word().to_owned(),
            agent: waits.agent,
            since: waits.since,
        }
    }
}

/// What waits for an answer. The words are Jules's: data, not orders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "for")]
pub enum Waiting {
    /// A question is open.
    Question {
        /// Since when.
        #[schemars(with = "form::Moment")]
        since: Timestamp,
        /// Its words, once they are known.
        text: Option<String>,
    },
    /// A plan waits for approval.
    Plan {
        /// Since when.
        #[schemars(with = "form::Moment")]
        since: Timestamp,
        /// The plan, once it is known.
        plan_id: Option<PlanId>,
        /// Its steps in order; none while it is unknown.
        steps: Vec<PlanStepView>,
    },
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStepView {
    /// The step in a few words.
    pub title: String,
    /// More, often empty.
    pub description: String,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ended {
    /// When.
    #[schemars(with = "form::Moment")]
    pub at: Timestamp,
    /// How: the same word as the job's state.
    pub how: String,
    /// Why, where Jules gave a reason or the job was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The head that was merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha: Option<CommitSha>,
    /// Who called it off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// `GET /pulls`: those that are open, the oldest first; one that was closed stays for ten minutes, in which it can be reopened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pulls {
    /// The pull requests.
    pub pulls: Vec<PullView>,
}

/// A pull request of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PullView {
    /// Which.
    pub pull_request: PullRef,
    /// Its web page.
    pub url: String,
    /// The job whose session made it.
    pub job_id: JobId,
    /// Its state, in one word, as in `GET /pulls/{owner}/{name}/{number}/why`: `unread`, `waits`, `conflicts`,
    /// `blocked`, `merging` and so on.
    pub state: String,
    /// Its head, once it was read.
    pub head: Option<CommitSha>,
    /// Since when it is known.
    #[schemars(with = "form::Moment")]
    pub since: Timestamp,
    /// How old its state is, once it was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_read: Option<AsRead>,
}

/// `GET /jobs`: the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Jobs {
    /// The jobs.
    pub jobs: Vec<JobView>,
    /// Whether there may be older ones.
    pub more: bool,
    /// Goes into `cursor` of the next request, if there may be older ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
