//! A run of a repository's pipeline: its steps, the agents of each step, and when the next step begins.
//!
//! A run owns neither jobs nor pull requests: it asks for jobs under ids that are saved with the decision, and reads how
//! they end.

mod again;
mod announcing;
mod apply;
mod ask;
mod mock_tag;
mod part;
mod requirement;
mod requirement_ask;
mod requirement_file;
mod requirement_state;
mod rules;
mod sight;
mod summary;
#[cfg(test)]
pub(crate) mod tests;

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::failure::Hindrance;
use crate::ids::{BranchName, CommitSha, JobId, PipelineId, RepoName, RoleName, StreamName};
use crate::layer::{InvalidLayer, Layer};

pub use announcing::{announcement, failed_step, is_known};
pub use apply::{
    PipelineInput, StepPlan, apply, cancel, due, ended, given_up, held, hindered, late_at, start,
};
pub use ask::{ASK_CHARS_MAX, EntryPoint, InvalidEntry, OddAsk, PipelineAsk};
pub use mock_tag::MockTag;
pub use part::{Agent, PartWork, PipelinePart, Recipe, SprintPart};
pub use requirement::Requirement;
pub use requirement_ask::RequirementAsk;
pub use requirement_file::{FoundRequirement, RequirementRef};
pub use requirement_state::{RequirementOutcome, RequirementState};
pub use rules::{
    DOCTOR_CHECK, EXCHANGE_MERGES_PER_DAY, Exchange, Implement, OWN_CHECKS, PipelineRules,
    SCOPE_CHECK,
};
pub use sight::{MemberSight, refused, sight, unrepaired};

/// How many jobs one step has at most: each costs a task. It is not counted over a run, since one with that many observers would not get to
/// its decider, and what they wrote would wait.
pub const MEMBERS_MAX: usize = 20;

/// How long a step is waited for while the repository's settings are not read, in minutes.
pub const WAIT_MINUTES: u32 = 30;

/// One run of a repository's pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pipeline {
    /// Ours.
    pub id: PipelineId,
    /// The repository.
    pub repo: RepoName,
    /// The branch whose code is looked at and changed.
    pub target: BranchName,
    /// The branch that has the exchange.
    pub worker: BranchName,
    /// What was asked for.
    pub ask: PipelineAsk,
    /// The settings of its source, as they were last seen.
    pub rules: PipelineRules,
    /// Who began it.
    pub by: String,
    /// Its steps, in their order.
    pub steps: Vec<PipelineStep>,
    /// The longest wait for a step, in minutes.
    pub wait_minutes: u32,
    /// The commit of the target branch up to which the code was summed up before it began, if a run knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summed_up: Option<CommitSha>,
    /// When it began.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineStep {
    /// What it does.
    pub kind: StepKind,
    /// How far it is.
    pub state: StepState,
    /// Its agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Member>,
    /// The commits whose files its prompts are made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trees: Option<TreeShas>,
    /// What a narrator sums up: subjects of commits with their SHAs, untrusted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub range: String,
    /// Why it does not go on now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hindrance: Option<Hindrance>,
    /// What there is to say of one that is done.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum StepKind {
    /// Brings the worker branch and the system's files up to date.
    Bootstrap,
    /// Lets the agents of a layer work.
    Layer(Layer),
    /// Hands on the requirements that are ready.
    Requirements,
    /// Publishes the proposals that wait, each as an issue.
    Proposals,
    /// Removes what a trial run made.
    Clean,
    /// Makes the labels of requirements in the repository.
    Labels,
}

/// How far a step is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum StepState {
    /// It waits for the step before it.
    Pending,
    /// Its agents work.
    Running {
        /// Since when.
        since: Timestamp,
    },
    /// Its agents have finished, and their pull requests are not all merged.
    WaitingMerge {
        /// Since when the step runs.
        since: Timestamp,
    },
    /// It is through.
    Done {
        /// Since when.
        at: Timestamp,
    },
    /// There was nothing to do.
    Skipped {
        /// Since when.
        at: Timestamp,
        /// Why.
        reason: String,
    },
    /// It did not reach its end.
    Failed {
        /// Since when.
        at: Timestamp,
        /// Why.
        reason: String,
    },
}

/// The commits whose files a prompt is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeShas {
    /// The commit of the target branch.
    pub target: CommitSha,
    /// The commit of the worker branch.
    pub worker: CommitSha,
}

/// One agent of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its role, in a layer of roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    /// The stream that it works in.
    #[serde(default, skip_serializing_if = "StreamName::is_generic")]
    pub stream: StreamName,
    /// The file of its requirement, for a planner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement: Option<String>,
    /// Its job.
    pub job: JobId,
    /// How far it is.
    pub state: AgentState,
    /// What there is to say about its prompt: events that had no room in it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// How far an agent is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "member")]
pub enum AgentState {
    /// It works.
    Working,
    /// Its pull request is open.
    Merging,
    /// Its pull request is merged.
    Merged,
    /// It ended without a pull request.
    Nothing,
    /// Its pull request is open and stays so: a trial run made its code up.
    Open,
    /// It came to no end of its own.
    Failed {
        /// Why.
        reason: String,
    },
    /// It failed before it had a job.
    Refused {
        /// Why.
        reason: String,
    },
}

impl Member {
    /// Its job; none if it failed before it had one.
    pub fn known_job(&self) -> Option<&JobId> {
        match self.state {
            AgentState::Refused { .. } => None,
            AgentState::Working
            | AgentState::Merging
            | AgentState::Merged
            | AgentState::Nothing
            | AgentState::Open
            | AgentState::Failed { .. } => Some(&self.job),
        }
    }

    /// What people call it in its step: its requirement, else its stream and its role; nothing in a layer that is one agent.
    pub fn name(&self) -> Option<String> {
        let named = Some(&self.stream).filter(|stream| !stream.is_generic());
        match (&self.requirement, named, &self.role) {
            (Some(requirement), _, _) => Some(requirement.clone()),
            (None, Some(stream), Some(role)) => Some(format!("{stream}/{role}")),
            (None, Some(stream), None) => Some(stream.to_string()),
            (None, None, role) => role.as_ref().map(RoleName::to_string),
        }
    }
}

impl AgentState {
    /// Whether nothing more is awaited of it.
    pub fn is_over(&self) -> bool {
        match self {
            Self::Working | Self::Merging => false,
            Self::Merged
            | Self::Nothing
            | Self::Open
            | Self::Failed { .. }
            | Self::Refused { .. } => true,
        }
    }

    /// One word for lists.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Merging => "merging",
            Self::Merged => "merged",
            Self::Nothing => "nothing",
            Self::Open => "open",
            Self::Failed { .. } | Self::Refused { .. } => "failed",
        }
    }

    /// Why it failed.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Failed { reason } | Self::Refused { reason } => Some(reason),
            Self::Working | Self::Merging | Self::Merged | Self::Nothing | Self::Open => None,
        }
    }
}

impl StepState {
    /// Since when it is so; none while it waits for the step before it.
    pub fn since(&self) -> Option<Timestamp> {
        match self {
            Self::Pending => None,
            Self::Running { since } | Self::WaitingMerge { since } => Some(*since),
            Self::Done { at } | Self::Skipped { at, .. } | Self::Failed { at, .. } => Some(*at),
        }
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        match self {
            Self::Pending | Self::Running { .. } | Self::WaitingMerge { .. } => false,
            Self::Done { .. } | Self::Skipped { .. } | Self::Failed { .. } => true,
        }
    }

    /// One word for lists.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running { .. } => "running",
            Self::WaitingMerge { .. } => "waiting_merge",
            Self::Done { .. } => "done",
            Self::Skipped { .. } => "skipped",
            Self::Failed { .. } => "failed",
        }
    }

    /// Why it was skipped or failed.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Skipped { reason, .. } | Self::Failed { reason, .. } => Some(reason),
            Self::Pending
            | Self::Running { .. }
            | Self::WaitingMerge { .. }
            | Self::Done { .. } => None,
        }
    }
}

impl PipelineStep {
    /// Why it was skipped or failed, or does not go on now; what there is to say of one that is done.
    pub fn reason(&self) -> Option<&str> {
        let hindered = || self.hindrance.as_ref().map(|it| it.why.as_str());
        let noted = Some(self.note.as_str()).filter(|note| !note.is_empty());
        self.state.reason().or_else(hindered).or(noted)
    }
}

impl Pipeline {
    /// The place of the step that is not over; none once all are.
    pub fn current(&self) -> Option<usize> {
        self.steps.iter().position(|step| !step.state.is_over())
    }

    /// Whether all steps are over.
    pub fn is_over(&self) -> bool {
        self.current().is_none()
    }

    /// Its agents that are not through.
    pub fn open_members(&self) -> impl Iterator<Item = &Member> {
        let members = self.steps.iter().flat_map(|step| &step.members);
        members.filter(|member| !member.state.is_over())
    }

    /// How far it is, in one word.
    pub fn word(&self) -> &'static str {
        let failed = |step: &PipelineStep| matches!(step.state, StepState::Failed { .. });
        match self.current() {
            Some(place) => self.steps[place].state.word(),
            None if self.steps.iter().any(failed) => "failed",
            None => "done",
        }
    }
}

impl StepKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bootstrap => "bootstrap",
            Self::Layer(layer) => layer.name(),
            Self::Requirements => "requirements",
            Self::Proposals => "proposals",
            Self::Clean => "clean",
            Self::Labels => "labels",
        }
    }
}

impl TryFrom<String> for StepKind {
    type Error = InvalidLayer;

    fn try_from(name: String) -> Result<Self, InvalidLayer> {
        match name.as_str() {
            "bootstrap" => Ok(Self::Bootstrap),
            "requirements" => Ok(Self::Requirements),
            "proposals" => Ok(Self::Proposals),
            "clean" => Ok(Self::Clean),
            "labels" => Ok(Self::Labels),
            layer => layer.parse().map(Self::Layer),
        }
    }
}

impl From<StepKind> for &'static str {
    fn from(kind: StepKind) -> Self {
        kind.name()
    }
}

impl fmt::Display for StepKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
