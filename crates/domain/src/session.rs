//! A session as Jules shows it, in our own terms and tolerant of everything new.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::ids::{ActivityId, BranchName, PlanId, PullRef, RepoName, SessionId};

/// Activities are requested from this long before the newest known one: several may share a timestamp.
pub(crate) const ACTIVITY_OVERLAP: SignedDuration = SignedDuration::from_secs(1);

/// Longest name of an unknown state that is kept, in characters: it is stored with the job and shown in events.
const OTHER_CHARS_MAX: usize = 80;

/// The state that Jules reports. It is advisory: the activities are the better truth.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum SessionState {
    /// Unspecified, or the field was missing.
    Unspecified,
    /// Waiting for a machine.
    Queued,
    /// Cloning, setting up, planning.
    Planning,
    /// A plan waits for approval.
    AwaitingPlanApproval,
    /// Jules asked a question.
    AwaitingUserFeedback,
    /// Working, or stuck after the last word.
    InProgress,
    /// Paused in the web page.
    Paused,
    /// Failed; final.
    Failed,
    /// Finished; a message can wake it again.
    Completed,
    /// A state this version does not know, kept as it came, cut to 80 characters.
    Other(String),
}

impl From<String> for SessionState {
    fn from(text: String) -> Self {
        match text.as_str() {
            "" | "STATE_UNSPECIFIED" => Self::Unspecified,
            "QUEUED" => Self::Queued,
            "PLANNING" => Self::Planning,
            "AWAITING_PLAN_APPROVAL" => Self::AwaitingPlanApproval,
            "AWAITING_USER_FEEDBACK" => Self::AwaitingUserFeedback,
            "IN_PROGRESS" => Self::InProgress,
            "PAUSED" => Self::Paused,
            "FAILED" => Self::Failed,
            "COMPLETED" => Self::Completed,
            _ => Self::Other(text.chars().take(OTHER_CHARS_MAX).collect()),
        }
    }
}

impl From<SessionState> for String {
    fn from(state: SessionState) -> String {
        state.as_str().to_owned()
    }
}

impl SessionState {
    /// The state in Jules's spelling.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Unspecified => "STATE_UNSPECIFIED",
            Self::Queued => "QUEUED",
            Self::Planning => "PLANNING",
            Self::AwaitingPlanApproval => "AWAITING_PLAN_APPROVAL",
            Self::AwaitingUserFeedback => "AWAITING_USER_FEEDBACK",
            Self::InProgress => "IN_PROGRESS",
            Self::Paused => "PAUSED",
            Self::Failed => "FAILED",
            Self::Completed => "COMPLETED",
            Self::Other(text) => text,
        }
    }
}

/// What a session shows when it is listed or read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionView {
    /// Jules's id.
    pub id: SessionId,
    /// The title as given at creation, with our marker if it is ours.
    pub title: String,
    /// Its state.
    pub state: SessionState,
    /// Address of its web page, as given.
    pub url: Option<String>,
    /// When it was created.
    pub created_at: Option<Timestamp>,
    /// When it entered its state; not a heartbeat.
    pub updated_at: Option<Timestamp>,
    /// The repository it works on; `None` for a repoless session or one whose source is not on GitHub.
    pub repo: Option<RepoName>,
    /// The branch it started from, which is also the base of its pull request.
    pub branch: Option<BranchName>,
    /// Pull requests among its outputs; they may come late and may vanish again.
    pub pulls: Vec<PullRef>,
    /// Whether it is archived.
    pub archived: bool,
}

/// Who wrote an activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Originator {
    /// A person or we.
    User,
    /// Jules.
    Agent,
    /// The service, or unknown.
    System,
}

/// One entry of a session's log. Immutable once written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// Jules's id of it.
    pub id: ActivityId,
    /// When it was written.
    pub at: Timestamp,
    /// Who wrote it.
    pub originator: Originator,
    /// Its content.
    pub kind: ActivityKind,
}

/// What an activity says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActivityKind {
    /// A message from Jules.
    AgentMessaged {
        /// Its text.
        text: String,
    },
    /// A message from a person or from us.
    UserMessaged {
        /// The text.
        text: String,
    },
    /// Jules made a plan.
    PlanGenerated(Plan),
    /// A plan was approved, by a person, an agent or itself.
    PlanApproved {
        /// Which plan; missing in rare answers.
        plan: Option<PlanId>,
    },
    /// The session made progress.
    Progressed {
        /// A short line.
        title: String,
        /// More, often empty.
        description: String,
    },
    /// The session says it is done; may appear several times.
    Completed,
    /// The session failed.
    Failed {
        /// Why, in Jules's words.
        reason: String,
    },
    /// A kind this version does not know, or none at all.
    Other {
        /// Its field name or description, for people.
        label: String,
    },
}

/// A plan that Jules made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Its id; some answers lack it, then the activity's id replaces it.
    pub id: PlanId,
    /// Its steps in order.
    pub steps: Vec<PlanStep>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    /// The step in a few words.
    pub title: String,
    /// More, often empty.
    pub description: String,
}
