//! Runs of pipelines, and requirements.

mod calls;

use domain::ids::{
    ArtefactId, BranchName, CommitSha, DeliveryId, JobId, PipelineId, RepoName, RoleName,
    SessionId, StreamName,
};
use domain::pipeline::MockTag;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Next, Reason, ScheduleView, WaitsFor, form};

/// How many runs a list holds when nothing else is asked for.
pub const PIPELINES_LIMIT: u32 = 20;

/// How many runs a list holds at most.
pub const PIPELINES_LIMIT_MAX: u32 = 200;

/// `POST /api/pipelines`: a run of the whole pipeline, from a step on, or of one layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartPipeline {
    /// The repository; it has to be a source whose pipeline is on.
    pub repo: RepoName,
    /// With which step it begins: `narrator`, `observers`, `decider`, `requirements` (and planners), `innovators`, `proposals` or `labels`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The only layer that runs: `narrator`, `observers`, `decider`, `planner`, `implementer` or `innovators`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// The only role that runs, in a layer of roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    /// The only stream that observers or a decider work in. Without one all are, or with a role that of every repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamName>,
    /// The file of the only requirement that is worked on, for a planner or an implementer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = domain::pipeline::ASK_CHARS_MAX))]
    pub requirement: Option<String>,
    /// The task of the layer, if it is not the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = domain::pipeline::ASK_CHARS_MAX))]
    pub task: Option<String>,
    /// A trial run of this name, which holds `mock`, for one layer: no session runs, and Gaffer makes up what it would have written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mock: Option<MockTag>,
    /// The name of a trial run that is removed, with all that it made. Nothing else can be asked for with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clean: Option<MockTag>,
    /// The file of a requirement that is removed, with the events that led to it. Nothing else can be asked for with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = domain::pipeline::ASK_CHARS_MAX))]
    pub clean_requirement: Option<String>,
    /// Whether the files of the requirement stay after the merge, for an implementer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_files: bool,
}

impl StartPipeline {
    /// A run of the whole pipeline.
    pub fn whole(repo: RepoName) -> Self {
        Self {
            repo,
            from: None,
            layer: None,
            role: None,
            stream: None,
            requirement: None,
            task: None,
            mock: None,
            clean: None,
            clean_requirement: None,
            keep_files: false,
        }
    }
}

/// `POST /api/pipelines/{pipeline}/cancel`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelPipeline {}

/// `GET /api/pipelines`: the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pipelines {
    /// The runs.
    pub pipelines: Vec<PipelineView>,
    /// When runs begin by themselves; none while the pipeline is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<ScheduleView>,
}

/// One run of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PipelineView {
    /// Its id.
    pub id: PipelineId,
    /// The repository.
    pub repo: RepoName,
    /// How far it is: the state of its present step, or `done` or `failed` once it is over.
    pub state: String,
    /// Whether nothing more happens.
    pub is_over: bool,
    /// The branch whose code is looked at and changed.
    pub target: BranchName,
    /// The branch that has the exchange.
    pub worker: BranchName,
    /// The only layer that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// The only role that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    /// The only stream that is worked in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamName>,
    /// The file of the only requirement that is worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement: Option<String>,
    /// The task of the layer, if it is not the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The tag of a trial run, in which no session works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mock: Option<MockTag>,
    /// Who decides that its pull requests of the exchange are merged: `human` or `auto`.
    pub exchange: String,
    /// Who decides that a requirement is implemented: `human` or `auto`.
    pub implement: String,
    /// Who began it.
    pub by: String,
    /// The longest wait for a step, in minutes.
    pub wait_minutes: u32,
    /// The commit of the target branch up to which narrators had summed the code up before it began, if a run knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summed_up: Option<CommitSha>,
    /// Its steps, in their order.
    pub steps: Vec<StepView>,
    /// When it began.
    #[schemars(with = "form::Moment")]
    pub created_at: Timestamp,
    /// When it changed last.
    #[schemars(with = "form::Moment")]
    pub updated_at: Timestamp,
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepView {
    /// `bootstrap`, the name of a layer, or `requirements`.
    pub step: String,
    /// `pending`, `running`, `waiting_merge`, `done`, `skipped` or `failed`.
    pub state: String,
    /// Why it was skipped or failed, or does not go on now; what there is to say of one that is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Since when it is so; none while it waits for the step before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<form::Moment>")]
    pub since: Option<Timestamp>,
    /// Its agents.
    pub members: Vec<MemberView>,
}

/// One agent of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemberView {
    /// Its role, in a layer of roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    /// The stream that it works in, if that is a named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamName>,
    /// The file of its requirement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement: Option<String>,
    /// Its job; none if it failed before it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<JobId>,
    /// Its session, where one run is shown; none until it is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// `working`, `merging`, `merged`, `nothing`, `open` or `failed`.
    pub state: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What there is to say about its prompt: how many pending events are left for the next decider, and which fit into no prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// `GET /api/pipelines/{pipeline}/why`: what a run waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PipelineWhy {
    /// The run.
    pub pipeline_id: PipelineId,
    /// How far it is.
    pub state: String,
    /// What is the case: pauses first, then the present step, then its agents that are not through; once it is over, each step that failed.
    pub because: Vec<Reason>,
    /// Each step in a sentence.
    pub steps: Vec<StepWhy>,
    /// Advice about what stands in the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<Next>,
    /// The latest time at which it is looked at again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<form::Moment>")]
    pub next_look: Option<Timestamp>,
}

/// One step of a run, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepWhy {
    /// `bootstrap`, the name of a layer, or `requirements`.
    pub step: String,
    /// How far it is.
    pub state: String,
    /// What is the case.
    pub sentence: String,
}

/// `GET /api/requirements`: the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Requirements {
    /// The requirements that Gaffer follows.
    pub requirements: Vec<RequirementView>,
}

/// One requirement that Gaffer follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequirementView {
    /// Its id.
    pub id: ArtefactId,
    /// The repository.
    pub repo: RepoName,
    /// Its title: text from outside.
    pub title: String,
    /// Its label.
    pub label: String,
    /// Its file on the worker branch.
    pub path: String,
    /// The files of the events that led to it.
    pub events: Vec<String>,
    /// `planning`, `unplanned`, `ready`, `implementing`, `in_review`, `merged`, `tidying`, `tidied`, `removing` or `failed`.
    pub state: String,
    /// Why it was not planned or implemented, or does not go on: its delivery may have failed, or its pull request waits for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The job that plans it, or that removes its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<JobId>,
    /// Who is waited for at that job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<WaitsFor>,
    /// The delivery that implements it, or did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<DeliveryGlimpse>,
    /// How many deliveries it has had.
    pub attempt: u32,
    /// Whether its files stay after the merge.
    pub keep_files: bool,
    /// What people can ask of it now: `start`, `plan` (another planner) and `remove`.
    pub takes: Vec<String>,
    /// When it was first seen.
    #[schemars(with = "form::Moment")]
    pub created_at: Timestamp,
    /// When it changed last.
    #[schemars(with = "form::Moment")]
    pub updated_at: Timestamp,
}

/// The delivery of a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryGlimpse {
    /// Its id.
    pub id: DeliveryId,
    /// Its phase; none until it is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// How that goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_status: Option<String>,
}

/// `POST /api/requirements/{owner}/{name}/{requirement}/start`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartRequirement {
    /// Whether its files stay after the merge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_files: bool,
}
