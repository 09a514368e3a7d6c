//! Why a phase of a delivery failed, and what is odd about its issue.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::event::ErrorCause;

/// Why a phase failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// For programs.
    pub code: Fault,
    /// For people.
    pub text: String,
}

/// What is odd about the issue of a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueTrouble {
    /// It is closed. The pull request has to be read before that means anything, since a merge closes issues, too.
    Closed {
        /// When that was read.
        at: Timestamp,
        /// Who closed it.
        by: Option<String>,
    },
    /// It was deleted or moved, or may not be read.
    Unreadable(String),
    /// The delivery is over, and the issue could not be closed.
    LeftOpen(String),
}

/// Why a phase failed, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// It was cancelled.
    Canceled,
    /// Its job was cancelled.
    JobCanceled,
    /// Its session failed.
    SessionFailed,
    /// Its session is gone.
    SessionLost,
    /// Jules would not create its session.
    SessionRefused,
    /// Jules took no message to its session.
    MessageRefused,
    /// Jules did not take the approval of its plan.
    ApprovalRefused,
    /// Its session was finished without a pull request.
    NoPullRequest,
    /// Its session was finished without anything new after it was sent back.
    NoNewCommit,
    /// Its pull request was closed without a merge.
    PullClosed,
    /// Checks failed, and its session is not asked to repair them any more.
    ChecksFailed,
    /// Its review sent it back too often.
    RoundsUsedUp,
    /// Its review failed.
    ReviewFailed,
    /// What its review said cannot be understood.
    MalformedReview,
    /// It could not be deployed.
    DeployFailed,
    /// What was deployed is not well.
    ObserveFailed,
    /// Its session, or its parts, could not even be asked for.
    NotBegun,
    /// All parts into which it was split were given up.
    PartsAbandoned,
    /// Too much has happened to it.
    HistoryFull,
}

impl Fault {
    /// Whether an error of a job or of its pull request announces it.
    pub(super) fn is_told_as(self, cause: &ErrorCause) -> bool {
        match self {
            Self::SessionFailed => *cause == ErrorCause::SessionFailed,
            Self::SessionLost => *cause == ErrorCause::InvalidJob,
            Self::SessionRefused => *cause == ErrorCause::CreateRefused,
            Self::PullClosed => *cause == ErrorCause::PullClosed,
            Self::ChecksFailed => {
                [ErrorCause::CiFailed, ErrorCause::CiNeverStarted].contains(cause)
            }
            Self::Canceled
            | Self::JobCanceled
            | Self::MessageRefused
            | Self::ApprovalRefused
            | Self::NoPullRequest
            | Self::NoNewCommit
            | Self::RoundsUsedUp
            | Self::ReviewFailed
            | Self::MalformedReview
            | Self::DeployFailed
            | Self::ObserveFailed
            | Self::NotBegun
            | Self::PartsAbandoned
            | Self::HistoryFull => false,
        }
    }

    /// Whether some phase fails by what an event of its job tells.
    pub(super) fn is_told(cause: &ErrorCause) -> bool {
        let told = [
            Self::SessionFailed,
            Self::SessionLost,
            Self::SessionRefused,
            Self::PullClosed,
            Self::ChecksFailed,
        ];
        told.iter().any(|fault| fault.is_told_as(cause))
    }

    /// Whether no session can go on from there: another attempt has to be made.
    pub(crate) fn ends_session(self) -> bool {
        match self {
            Self::Canceled
            | Self::JobCanceled
            | Self::SessionFailed
            | Self::SessionLost
            | Self::SessionRefused
            | Self::MessageRefused
            | Self::ApprovalRefused
            | Self::NotBegun
            | Self::PullClosed => true,
            Self::NoPullRequest
            | Self::NoNewCommit
            | Self::ChecksFailed
            | Self::RoundsUsedUp
            | Self::ReviewFailed
            | Self::MalformedReview
            | Self::DeployFailed
            | Self::ObserveFailed
            | Self::PartsAbandoned
            | Self::HistoryFull => false,
        }
    }

    /// What happened, in words that are the same for everybody and ask for nothing.
    pub(super) fn what(self) -> &'static str {
        match self {
            Self::Canceled => "it was cancelled",
            Self::JobCanceled => "its job was cancelled",
            Self::SessionFailed => "its session failed",
            Self::SessionLost => "its session is gone",
            Self::SessionRefused => "its session could not be created",
            Self::ApprovalRefused => "the approval of its plan was not taken",
            Self::MessageRefused => "its session could not be told what has to change",
            Self::NoPullRequest => "its session was finished without a pull request",
            Self::NoNewCommit => "its session was finished without anything new",
            Self::PullClosed => "its pull request was closed without a merge",
            Self::ChecksFailed => "checks of its pull request failed",
            Self::RoundsUsedUp => "it did not pass its review",
            Self::ReviewFailed => "its review came to no verdict",
            Self::MalformedReview => "the answer of its review was malformed",
            Self::DeployFailed => "its change could not be deployed",
            Self::ObserveFailed => "what was deployed is not well",
            Self::NotBegun => "what it needs was refused",
            Self::PartsAbandoned => "all its parts were given up",
            Self::HistoryFull => "too much has happened to it",
        }
    }

    /// In one word, as it travels.
    pub fn word(self) -> &'static str {
        match self {
            Self::Canceled => "canceled",
            Self::JobCanceled => "job_canceled",
            Self::SessionFailed => "session_failed",
            Self::SessionLost => "session_lost",
            Self::SessionRefused => "session_refused",
            Self::MessageRefused => "message_refused",
            Self::ApprovalRefused => "approval_refused",
            Self::NoPullRequest => "no_pull_request",
            Self::NoNewCommit => "no_new_commit",
            Self::PullClosed => "pull_closed",
            Self::ChecksFailed => "checks_failed",
            Self::RoundsUsedUp => "rounds_used_up",
            Self::ReviewFailed => "review_failed",
            Self::MalformedReview => "malformed_review",
            Self::DeployFailed => "deploy_failed",
            Self::ObserveFailed => "observe_failed",
            Self::NotBegun => "not_begun",
            Self::PartsAbandoned => "parts_abandoned",
            Self::HistoryFull => "history_full",
        }
    }
}
