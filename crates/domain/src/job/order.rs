//! What can be ordered about a job.

use serde::{Deserialize, Serialize};

/// An order about a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// It is created.
    Create,
    /// Its session, which was begun elsewhere, is handed over.
    Adopt,
    /// A message to its session.
    Say,
    /// Its plan is approved.
    Approve,
    /// Its pull request may be merged.
    Merge,
    /// It gets another session.
    Retry,
    /// It is cancelled.
    Cancel,
}

impl Order {
    /// The finished order, as part of a sentence.
    pub fn done(self) -> &'static str {
        match self {
            Self::Create => "created",
            Self::Adopt => "adopted",
            Self::Say => "said",
            Self::Approve => "plan approved",
            Self::Merge => "merge approved",
            Self::Retry => "tried again",
            Self::Cancel => "cancelled",
        }
    }

    /// The order as it is given, as part of a sentence: what goes to a session has yet to be sent.
    pub(super) fn given(self) -> &'static str {
        match self {
            Self::Say => "to be said",
            Self::Approve => "plan to be approved",
            Self::Create | Self::Adopt | Self::Merge | Self::Retry | Self::Cancel => self.done(),
        }
    }

    /// The order in one word, as it travels.
    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Adopt => "adopt",
            Self::Say => "say",
            Self::Approve => "approve",
            Self::Merge => "merge",
            Self::Retry => "retry",
            Self::Cancel => "cancel",
        }
    }
}
