//! The only things that may wake an agent.

mod cursor;

pub use cursor::{Cursor, NoCursor, OVERLAP};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ids::{AccountName, EventId, JobId, PullRef};
use crate::page::Page;
use crate::session::Plan;

/// One occurrence that somebody has to know about. Its id names the occurrence, so it is recorded once however often it is seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The occurrence.
    pub id: EventId,
    /// The job it is about; none when a whole account is affected.
    pub job: Option<JobId>,
    /// The account.
    pub account: AccountName,
    /// Which of the job's sessions, from 1; 0 when a whole account is affected.
    pub attempt: u32,
    /// When we saw it.
    pub observed_at: Timestamp,
    /// The session's state in Jules's spelling at that moment; empty without a session.
    pub status: String,
    /// When the session last did anything.
    pub last_activity: Option<Timestamp>,
    /// What happened.
    pub what: Occurrence,
    /// Who has to know.
    pub audience: Audience,
    /// What else helps whoever has to act on it.
    #[serde(default, skip_serializing_if = "Aid::is_nothing")]
    pub aid: Aid,
}

/// What helps whoever has to act on an event. All of it comes from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Aid {
    /// The session's page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Page>,
    /// The pull request it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull: Option<PullRef>,
    /// The check that fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<FailedCheck>,
}

impl Aid {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// A check that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedCheck {
    /// Its name, untrusted.
    pub name: String,
    /// The end of its log, or of what it says of itself, untrusted.
    pub output: String,
    /// Its page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<Page>,
}

/// Who has to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// The job's agent; a person if the job has none.
    Agent,
    /// A person.
    Human,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occurrence {
    /// Jules asked something.
    Question {
        /// Its words; none when they did not come in time.
        text: Option<String>,
    },
    /// A plan waits for approval.
    PlanApproval {
        /// The plan; none when it did not come in time.
        plan: Option<Plan>,
    },
    /// The session finished.
    Completed {
        /// Pull requests it made.
        pulls: Vec<PullRef>,
    },
    /// Something went wrong.
    Error {
        /// What, for programs.
        cause: ErrorCause,
        /// Why, for people.
        reason: String,
    },
    /// No status change and no new activity for a whole window.
    Stuck {
        /// The last thing the session said or did.
        last_words: Option<String>,
    },
}

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCause {
    /// The session failed.
    SessionFailed,
    /// The session is gone: 404 beyond the grace window.
    InvalidJob,
    /// Jules refused to create the session for good.
    CreateRefused,
    /// The account's key does not work.
    Auth,
    /// Jules has not been reachable for several polls.
    Network,
    /// What watching may spend today is spent.
    Budget,
    /// Checks fail and the session was told as often as allowed.
    CiFailed,
    /// No check has appeared on the head.
    CiNeverStarted,
    /// The pull request conflicts with its base.
    Conflict,
    /// The pull request was closed without a merge.
    PullClosed,
    /// It was merged onto another base than judged.
    WrongBase,
    /// It is green, and GitHub refuses to merge it.
    MergeRefused,
    /// Something stands in the way of a merge that neither time nor its session takes away.
    MergeBlocked,
    /// A message to the session could not be delivered.
    MessageFailed,
    /// The approval of a plan could not be delivered.
    ApprovalFailed,
    /// Somebody was told of the same thing as often as allowed.
    TooOften,
    /// GitHub does not let us work: the credential, a repository or a pull request.
    #[serde(rename = "github")]
    GitHub,
}

impl Occurrence {
    /// The seed's event name: `question`, `completed`, `error` or `stuck`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Question { .. } | Self::PlanApproval { .. } => "question",
            Self::Completed { .. } => "completed",
            Self::Error { .. } => "error",
            Self::Stuck { .. } => "stuck",
        }
    }

    /// What kind of that event it is, for programs that tell them apart.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Question { .. } => "question",
            Self::PlanApproval { .. } => "plan_approval",
            Self::Completed { .. } => "completed",
            Self::Error { cause, .. } => cause.as_str(),
            Self::Stuck { .. } => "stuck",
        }
    }
}

impl ErrorCause {
    /// The cause as it stands in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionFailed => "session_failed",
            Self::InvalidJob => "invalid_job",
            Self::CreateRefused => "create_refused",
            Self::Auth => "auth",
            Self::Network => "network",
            Self::Budget => "budget",
            Self::CiFailed => "ci_failed",
            Self::CiNeverStarted => "ci_never_started",
            Self::Conflict => "conflict",
            Self::PullClosed => "pull_closed",
            Self::WrongBase => "wrong_base",
            Self::MergeRefused => "merge_refused",
            Self::MergeBlocked => "merge_blocked",
            Self::MessageFailed => "message_failed",
            Self::ApprovalFailed => "approval_failed",
            Self::TooOften => "too_often",
            Self::GitHub => "github",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../docs/agents.md");

    /// All variants by their stored names: serde lists them when it meets one that it does not know.
    fn causes() -> Vec<ErrorCause> {
        let error = serde_json::from_str::<ErrorCause>("\"?\"").unwrap_err();
        let error = error.to_string();
        let names = error.split('`').skip(3).step_by(2);
        names
            .map(|name| serde_json::from_str(&format!("\"{name}\"")).unwrap())
            .collect()
    }

    #[test]
    fn the_page_for_agents_names_every_kind() {
        let causes = causes();
        assert!(
            causes.contains(&ErrorCause::SessionFailed) && causes.contains(&ErrorCause::GitHub)
        );
        let kinds = causes.iter().map(|cause| cause.as_str());
        for kind in kinds.chain(["question", "plan_approval", "completed", "stuck"]) {
            assert!(PAGE.contains(&format!("`{kind}`")), "{kind}");
        }
    }
}
