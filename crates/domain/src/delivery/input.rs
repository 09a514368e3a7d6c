//! What a delivery is told: commands of people and agents, and what was seen of its job, its pull request, its issue
//! and whatever deploys it.

use std::fmt;

use jiff::Timestamp;

use super::glimpse::{JobSight, PullGlimpse};
use super::{Actor, DeliveryKind, Part, Phase, Ref, RunResult, Verdict};
use crate::ids::{CommitSha, DeliveryId, JobId, PlanId, RunId, SessionId};
use crate::priority::Priority;
use crate::pull::MergeStyle;

/// What came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryInput {
    /// A command of a person or an agent.
    Command(Command),
    /// Its job was looked at, whose session itself was last read at a time, if that is known.
    Job(Box<JobSight>, Option<Timestamp>),
    /// The job that reviews for it was looked at.
    Review(ReviewSight),
    /// Its pull request was looked at, as it was read at a time.
    Pull(Box<PullGlimpse>, Timestamp),
    /// The issue that triggered it was read by its number.
    Issue(IssueSight),
    /// A delivery into which it was split was looked at.
    Child(DeliveryId, ChildState),
    /// All deliveries into which it was split were looked at.
    Parts(PartsSight),
    /// What it needs next was asked for, and refused for a reason, if there is one.
    AskedFor(Option<String>),
    /// The workflow that deploys it was started at a time.
    Dispatched(Timestamp),
    /// Whether that workflow cannot be started, since the name of the repository leads to another one, or to none that can be read.
    StartHeld(bool),
    /// Whatever deploys or observes it was asked.
    Provider(Phase, ProviderReport),
    /// Its parent delivery was cancelled.
    Cancelled(Actor),
    /// Time has passed.
    Deadline,
}

/// What a command does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The same id twice is one command.
    pub id: String,
    /// Who wants it.
    pub by: Actor,
    /// What.
    pub act: Act,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Begin.
    Start,
    /// Go on from a checkpoint.
    Approve {
        /// The reviewed head that the approver looked at.
        head: Option<CommitSha>,
        /// The plan that the approver read.
        plan: Option<PlanId>,
    },
    /// Go back from a checkpoint.
    Reject {
        /// Why.
        reason: String,
    },
    /// Try a failed phase again.
    Retry {
        /// What to do otherwise.
        reason: Option<String>,
    },
    /// Call it off.
    Cancel,
    /// Say what the review came to.
    Verdict(ReviewResult),
    /// Send the plan.
    Plan {
        /// The plan.
        content: String,
        /// The files that it wants to change.
        target_files: Vec<String>,
    },
    /// Split it into smaller deliveries.
    Split {
        /// Which.
        children: Vec<Part>,
    },
    /// Approve the merge of a head.
    Merge {
        /// The head; the present one if none is named.
        head: Option<CommitSha>,
        /// How it is to be merged.
        style: MergeStyle,
    },
    /// Change what it says of itself.
    Edit(Edit),
    /// Add a session that was begun elsewhere as a run.
    Collect {
        /// The job that adopted it.
        job: JobId,
        /// The session, if it has one.
        session: Option<SessionId>,
        /// What the session came to.
        result: RunResult,
    },
    /// Say what a failure came from.
    Analyse {
        /// The failed run; the last one if none is named.
        run: Option<RunId>,
        /// What was found out.
        text: String,
        /// What to do about it.
        suggestion: Option<String>,
    },
}

/// What a review came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewResult {
    /// The verdict.
    pub verdict: Verdict,
    /// The reviewed head.
    pub head: CommitSha,
    /// In a few words.
    pub summary: Option<String>,
    /// What has to change; needed with `not_pass`.
    pub feedback: Option<String>,
}

/// Changes of what a delivery says of itself; what is none stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    /// What it is about.
    pub summary: Option<String>,
    /// When it is done.
    pub acceptance_criteria: Option<Vec<String>>,
    /// How much it matters.
    pub priority: Option<Priority>,
    /// References to add.
    pub refs: Vec<Ref>,
}

/// The kind of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommandKind {
    /// [`Act::Start`].
    Start,
    /// [`Act::Approve`].
    Approve,
    /// [`Act::Reject`].
    Reject,
    /// [`Act::Retry`].
    Retry,
    /// [`Act::Cancel`].
    Cancel,
    /// [`Act::Verdict`].
    Verdict,
    /// [`Act::Plan`].
    Plan,
    /// [`Act::Split`].
    Split,
    /// [`Act::Merge`].
    Merge,
    /// [`Act::Edit`].
    Edit,
    /// [`Act::Collect`].
    Collect,
    /// [`Act::Analyse`].
    Analyse,
}

impl CommandKind {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 12] = [
        Self::Start,
        Self::Approve,
        Self::Reject,
        Self::Retry,
        Self::Cancel,
        Self::Verdict,
        Self::Plan,
        Self::Split,
        Self::Merge,
        Self::Edit,
        Self::Collect,
        Self::Analyse,
    ];

    /// In one word, as it travels.
    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Retry => "retry",
            Self::Cancel => "cancel",
            Self::Verdict => "verdict",
            Self::Plan => "plan",
            Self::Split => "split",
            Self::Merge => "merge",
            Self::Edit => "edit",
            Self::Collect => "collect",
            Self::Analyse => "analyse",
        }
    }
}

impl fmt::Display for CommandKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Act {
    /// Go on from the checkpoint that is reached, whatever head and plan are there.
    pub const APPROVE: Self = Self::Approve {
        head: None,
        plan: None,
    };

    /// Its kind.
    pub fn kind(&self) -> CommandKind {
        match self {
            Self::Start => CommandKind::Start,
            Self::Approve { .. } => CommandKind::Approve,
            Self::Reject { .. } => CommandKind::Reject,
            Self::Retry { .. } => CommandKind::Retry,
            Self::Cancel => CommandKind::Cancel,
            Self::Verdict(_) => CommandKind::Verdict,
            Self::Plan { .. } => CommandKind::Plan,
            Self::Split { .. } => CommandKind::Split,
            Self::Merge { .. } => CommandKind::Merge,
            Self::Edit(_) => CommandKind::Edit,
            Self::Collect { .. } => CommandKind::Collect,
            Self::Analyse { .. } => CommandKind::Analyse,
        }
    }
}

/// What was seen of the job that reviews.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewSight {
    /// Which job.
    pub job: JobId,
    /// Its session.
    pub session: Option<SessionId>,
    /// How far it is.
    pub state: ReviewState,
}

/// How far a job is that reviews.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewState {
    /// It works.
    Working,
    /// It asked something, and has no answer yet.
    Asking,
    /// It rests, and this is the last it said; nothing if it said nothing.
    Said(String),
    /// It ended without an answer.
    Failed(String),
}

/// What was read of the issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueSight {
    /// When.
    pub read_at: Timestamp,
    /// What.
    pub state: IssueState,
}

/// The state of an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IssueState {
    /// It is open.
    Open,
    /// It is closed, by whom if that is known.
    Closed(Option<String>),
    /// It was deleted or moved, or may not be read.
    Unreadable(String),
}

/// How far a part of a delivery is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildState {
    /// It is not over.
    Open,
    /// One of its phases failed.
    Failed,
    /// It is closed.
    Closed,
    /// It was cancelled with the delivery that it is a part of.
    Cancelled,
    /// A person gave it up: it is waited for no longer.
    Abandoned,
}

impl ChildState {
    /// How far a part is.
    pub fn of(child: &super::Delivery) -> Self {
        let failed = child.run_status == super::RunStatus::Failed;
        match child.closed {
            Some(super::Closed::Finished | super::Closed::PartsClosed) => Self::Closed,
            // What it was to change is merged: nothing of it has to be made anew.
            Some(super::Closed::MergedOnly) => Self::Closed,
            Some(super::Closed::IssueClosed | super::Closed::Cancelled) => Self::Cancelled,
            Some(super::Closed::Abandoned) => Self::Abandoned,
            None if failed => Self::Failed,
            None => Self::Open,
        }
    }
}

/// What is known of all parts of a delivery together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartsSight {
    /// Whether one of them is merged.
    pub is_any_merged: bool,
    /// As of when that is known of each of them; none where it is not.
    pub read_at: Option<Timestamp>,
}

/// What whatever deploys or observes said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderReport {
    /// Nothing is known yet.
    Nothing,
    /// It is under way.
    Running,
    /// It is well.
    Good,
    /// It is not.
    Bad(String),
}

/// What is needed for a new delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// Its id.
    pub id: DeliveryId,
    /// Its number.
    pub seq: u64,
    /// What kind it is.
    pub kind: DeliveryKind,
    /// The repository.
    pub repo: crate::ids::RepoName,
    /// The issue that triggers it.
    pub issue: Option<super::IssueRef>,
    /// The requirement of the pipeline that it implements.
    pub requirement: Option<crate::pipeline::RequirementRef>,
    /// What it is about.
    pub summary: String,
    /// More about it.
    pub description: Option<String>,
    /// When it is done.
    pub acceptance_criteria: Vec<String>,
    /// What it refers to, besides its issue.
    pub refs: Vec<Ref>,
    /// How much it matters.
    pub priority: Priority,
    /// The delivery that it is a part of.
    pub parent: Option<DeliveryId>,
    /// Who wants it.
    pub by: Actor,
}
