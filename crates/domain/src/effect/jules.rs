//! Actions on sessions of Jules.

use std::fmt;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::ids::{JobId, PlanId, SessionId};

/// An action on a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "jules_action")]
pub enum JulesAction {
    /// Create the session of a job's attempt.
    CreateSession {
        /// The job.
        job: JobId,
        /// Which attempt.
        attempt: u32,
    },
    /// Send a message to a session.
    Say {
        /// The session.
        session: SessionId,
        /// The text; never empty.
        text: String,
        /// Its purpose: the same cause is sent once.
        cause: String,
    },
    /// Approve a plan.
    ApprovePlan {
        /// The session.
        session: SessionId,
        /// Which plan.
        plan: PlanId,
    },
    /// Put a session away.
    Archive {
        /// The session.
        session: SessionId,
    },
}

impl fmt::Display for JulesAction {
    /// Its purpose: the text whose hash is the effect's id.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateSession { job, attempt } => write!(f, "create:{job}#{attempt}"),
            Self::Say { session, cause, .. } => write!(f, "say:{session}:{cause}"),
            Self::ApprovePlan { session, plan } => write!(f, "approve:{session}:{plan}"),
            Self::Archive { session } => write!(f, "archive:{session}"),
        }
    }
}

impl JulesAction {
    /// How long to wait before a read settles an unknown outcome: Jules's lists lag behind creates, and activities
    /// behind messages.
    pub(super) fn settle_after(&self) -> SignedDuration {
        match self {
            Self::CreateSession { .. } => SignedDuration::from_secs(180),
            Self::Say { .. } | Self::ApprovePlan { .. } => SignedDuration::from_secs(60),
            Self::Archive { .. } => SignedDuration::from_secs(10),
        }
    }

    /// Whether a repeated attempt would double the effect.
    pub(super) fn may_double(&self) -> bool {
        match self {
            Self::CreateSession { .. } | Self::Say { .. } | Self::ApprovePlan { .. } => true,
            Self::Archive { .. } => false,
        }
    }

    /// Whether only a decision of its aggregate begins another attempt.
    pub(super) fn is_retried_by_decision(&self) -> bool {
        match self {
            Self::CreateSession { .. } => true,
            Self::Say { .. } | Self::ApprovePlan { .. } | Self::Archive { .. } => false,
        }
    }

    /// Whether a 404 may pass: a fresh session answers it for a while, and `:sendMessage` does so while the session is queued.
    pub(super) fn may_be_invisible(&self) -> bool {
        match self {
            Self::Say { .. } | Self::ApprovePlan { .. } => true,
            Self::CreateSession { .. } | Self::Archive { .. } => false,
        }
    }

    /// Its name in lists of effects and in answers.
    pub fn word(&self) -> &'static str {
        match self {
            Self::CreateSession { .. } => "create_session",
            Self::Say { .. } => "say",
            Self::ApprovePlan { .. } => "approve_plan",
            Self::Archive { .. } => "archive",
        }
    }

    /// A description for people.
    pub fn does(&self) -> String {
        match self {
            Self::CreateSession { .. } => "create a session".to_owned(),
            Self::Say { .. } => "send the session a message".to_owned(),
            Self::ApprovePlan { .. } => "approve the plan".to_owned(),
            Self::Archive { .. } => "archive the session".to_owned(),
        }
    }
}
