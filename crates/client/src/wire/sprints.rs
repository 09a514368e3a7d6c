//! Sprints: what they are asked to be, how far they are, and what came of their weaves.

mod calls;

use domain::ids::{BranchName, CommitSha, JobId, PersonaName, PullRef, RepoName, SprintNumber};
use domain::sprint::Figures;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Next, Reason, form};

/// How many sprints a list holds when nothing else is asked for.
pub const SPRINTS_LIMIT: u32 = 20;

/// How many sprints a list holds at most.
pub const SPRINTS_LIMIT_MAX: u32 = 200;

/// `POST /api/sprints/{owner}/{name}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartSprint {
    /// Its number; the next one without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<SprintNumber>,
    /// Who takes part; every persona that starts with a sprint without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub personas: Vec<PersonaName>,
    /// Whether only the plan is wanted: nothing is created then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// `POST …/integrate`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntegrateSprint {
    /// Whether no member is waited for any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub now: bool,
}

/// `POST …/tick` and `…/abort`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderSprint {}

/// What a sprint would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SprintPlanView {
    /// The repository.
    pub repo: RepoName,
    /// Its number.
    pub number: SprintNumber,
    /// The branch that everything goes to.
    pub target: BranchName,
    /// The branch that its members are woven into.
    pub branch: BranchName,
    /// How what its members make is merged: `consolidated` or `individual`.
    pub merges: String,
    /// How many members work at once; all of them without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// The commit whose files say who the personas are.
    pub personas_at: CommitSha,
    /// Who takes part.
    pub members: Vec<PersonaName>,
    /// Files of personas that cannot be used, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// How many sessions it needs: one for each member.
    pub sessions: u32,
    /// How many of them begin now.
    pub begin_now: u32,
    /// How many begin when others are through, or when a pause ends.
    pub begin_later: u32,
    /// How many wait for a slot.
    pub wait_for_slots: u32,
    /// How many wait until the account has tasks left again.
    pub wait_for_quota: u32,
}

/// `GET /api/sprints/{owner}/{name}`: the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sprints {
    /// The sprints, without the reports of their weaves.
    pub sprints: Vec<SprintView>,
}

/// One sprint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SprintView {
    /// The repository.
    pub repo: RepoName,
    /// Its number.
    pub number: SprintNumber,
    /// `working`, `integrating`, `fixing`, `verifying`, `done`, `partially_done` or `aborted`.
    pub state: String,
    /// Whether nothing more happens.
    pub is_over: bool,
    /// Why not all of it is merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The branch that everything goes to.
    pub target: BranchName,
    /// The branch that its members are woven into.
    pub branch: BranchName,
    /// Who started it.
    pub by: String,
    /// The job of the one pull request.
    pub integration: JobId,
    /// How what its members make is merged: `consolidated` or `individual`.
    pub merges: String,
    /// How many members work at once; all of them without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// How often it went on to work, weave or mend.
    pub ticks: u32,
    /// How many weaves were asked for.
    pub weaves: u32,
    /// Its members, in the order of their names.
    pub members: Vec<SprintMemberView>,
    /// Files of personas that cannot be used, and why; only where it was just started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// What is counted of it.
    pub figures: Figures,
    /// What the newest weave pushed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub woven: Option<WovenView>,
    /// What came of each weave, in order; only where one sprint is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<WeaveView>,
    /// When it was started.
    #[schemars(with = "form::Moment")]
    pub created_at: Timestamp,
    /// When it changed last.
    #[schemars(with = "form::Moment")]
    pub updated_at: Timestamp,
    /// When it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<form::Moment>")]
    pub ended_at: Option<Timestamp>,
}

/// One persona that takes part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SprintMemberView {
    /// Who.
    pub persona: PersonaName,
    /// Its job.
    pub job_id: JobId,
    /// `pending`, `waiting`, `working`, `pr_open`, `applied`, `conflicted`, `rerunning`, `timed_out`, `no_change`, `skipped`,
    /// `unresolved`, `delegated`, `withdrawn` or `failed`; `left_out` once the sprint is over, if it was not through.
    pub state: String,
    /// Its pull request: for one sprint the one of its job, in lists once it was ready to be woven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull: Option<PullRef>,
    /// How it came in, while it is in: `taken`, `applied`, `three_way`, `answered` or `merged`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<String>,
    /// How often it was asked for a change: once by its prompt, and once by each conflict that was sent to it.
    pub attempts: u32,
    /// How many of its weaves ended in a conflict.
    pub conflicts: u32,
    /// Why what it was to make is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Since when it is waited for.
    #[schemars(with = "form::Moment")]
    pub since: Timestamp,
}

/// What a weave pushed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WovenView {
    /// Which weave.
    pub weave: u32,
    /// The tip of the target that it began at.
    pub base: CommitSha,
    /// The commit that it made.
    pub commit: CommitSha,
    /// The one pull request.
    pub pull: PullRef,
}

/// What came of a weave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WeaveView {
    /// Which weave.
    pub weave: u32,
    /// What it pushed; none if no member is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub woven: Option<WovenView>,
    /// What became of each pull request, in the order in which they were tried.
    pub verdicts: Vec<VerdictView>,
}

/// What became of a pull request in a weave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictView {
    /// Which.
    pub pull: PullRef,
    /// `in`, `out`, `moved`, `nothing` or `skipped`.
    pub verdict: String,
    /// Its head, where it was woven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitSha>,
    /// How it came in: `taken`, `applied`, `three_way` or `answered`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<String>,
    /// How many files it changes, if it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u32>,
    /// With which pull requests it conflicts; with none of them it conflicts with the target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts_with: Vec<u64>,
    /// Where it conflicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<PlaceView>,
    /// How many other places there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub other_places: u32,
    /// Why it took no part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A place of a conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlaceView {
    /// The file: text from outside.
    pub path: String,
    /// What kind it is, and which lines.
    pub words: String,
}

/// `GET …/why`: what a sprint waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SprintWhy {
    /// The sprint.
    pub number: SprintNumber,
    /// How far it is.
    pub state: String,
    /// What is the case: pauses first, then what it waits for.
    pub because: Vec<Reason>,
    /// Each member.
    pub members: Vec<SprintMemberWhy>,
    /// Orders that would be accepted now: about the sprint, its one pull request, or jobs of its members.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<Next>,
    /// The latest time at which it is looked at again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<form::Moment>")]
    pub next_look: Option<Timestamp>,
}

/// What a member waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SprintMemberWhy {
    /// Which.
    pub persona: PersonaName,
    /// Its job.
    pub job_id: JobId,
    /// How far it is.
    pub state: String,
    /// What is the case.
    pub sentence: String,
    /// Until when it is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<form::Moment>")]
    pub until: Option<Timestamp>,
}
