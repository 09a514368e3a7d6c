//! What went wrong, as an event says it.

use serde::{Deserialize, Serialize};

/// Longest name of an unknown cause that is kept, in characters: it is stored, and shown in events.
const OTHER_CHARS_MAX: usize = 80;

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ErrorCause {
    /// The session failed.
    SessionFailed,
    /// The session does not exist: 404 beyond the grace window.
    InvalidJob,
    /// Jules refused permanently to create the session.
    CreateRefused,
    /// Jules has paused the session.
    SessionPaused,
    /// The session is in a state that this version does not know.
    UnknownState,
    /// The account's key does not work.
    Auth,
    /// Jules has not been reachable for several polls.
    Network,
    /// What watching may spend today is spent.
    Budget,
    /// Checks fail, and the session received as many repair messages as allowed.
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
    /// A merge is blocked by something that neither time nor the session removes.
    MergeBlocked,
    /// A message to the session could not be delivered.
    MessageFailed,
    /// The approval of a plan could not be delivered.
    ApprovalFailed,
    /// The limit of events about the same thing is reached.
    TooOften,
    /// GitHub does not let us work: the credential, a repository or a pull request.
    GitHub,
    /// A phase of a delivery failed.
    PhaseFailed,
    /// The schedule of a pipeline cannot be read.
    Schedule,
    /// A step of a run of a pipeline failed.
    Pipeline,
    /// A cause that a newer version stored and this one does not know; kept as it is, cut to 80 characters.
    Other(String),
}

impl From<String> for ErrorCause {
    fn from(text: String) -> Self {
        let known = Self::KNOWN.into_iter().find(|cause| cause.as_str() == text);
        known.unwrap_or_else(|| Self::Other(text.chars().take(OTHER_CHARS_MAX).collect()))
    }
}

impl From<ErrorCause> for String {
    fn from(cause: ErrorCause) -> Self {
        cause.as_str().to_owned()
    }
}

impl ErrorCause {
    /// Every cause that this version knows.
    pub const KNOWN: [Self; 22] = [
        Self::SessionFailed,
        Self::SessionPaused,
        Self::UnknownState,
        Self::InvalidJob,
        Self::CreateRefused,
        Self::Auth,
        Self::Network,
        Self::Budget,
        Self::CiFailed,
        Self::CiNeverStarted,
        Self::Conflict,
        Self::PullClosed,
        Self::WrongBase,
        Self::MergeRefused,
        Self::MergeBlocked,
        Self::MessageFailed,
        Self::ApprovalFailed,
        Self::TooOften,
        Self::GitHub,
        Self::PhaseFailed,
        Self::Schedule,
        Self::Pipeline,
    ];

    /// The cause as written in events and in the store.
    pub fn as_str(&self) -> &str {
        match self {
            Self::SessionFailed => "session_failed",
            Self::SessionPaused => "session_paused",
            Self::UnknownState => "unknown_state",
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
            Self::PhaseFailed => "phase_failed",
            Self::Schedule => "schedule",
            Self::Pipeline => "pipeline",
            Self::Other(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Occurrence;

    #[test]
    fn a_cause_of_a_newer_version_is_kept_as_it_is() {
        let newer = r#"{"error":{"cause":"no_such_yet","reason":"x"}}"#;
        let what: Occurrence = serde_json::from_str(newer).unwrap();
        assert_eq!((what.name(), what.kind()), ("error", "no_such_yet"));
        assert_eq!(serde_json::to_string(&what).unwrap(), newer);
        let long = format!("\"{}\"", "x".repeat(10_000));
        let long: ErrorCause = serde_json::from_str(&long).unwrap();
        assert_eq!(long.as_str().len(), OTHER_CHARS_MAX);
        assert!(serde_json::from_str::<ErrorCause>("7").is_err());
    }

    /// The closed match adds each new variant to the known ones.
    #[test]
    fn every_known_cause_is_read_as_what_it_was_written() {
        for cause in ErrorCause::KNOWN {
            let text = serde_json::to_string(&cause).unwrap();
            assert_eq!(serde_json::from_str::<ErrorCause>(&text).unwrap(), cause);
        }
    }
}
