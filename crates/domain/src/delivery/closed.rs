//! How a delivery comes to its end.

use serde::{Deserialize, Serialize};

/// How a delivery closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closed {
    /// It came to its endpoint.
    Finished,
    /// All its parts are closed.
    PartsClosed,
    /// Its issue was closed.
    IssueClosed,
    /// The delivery that it is a part of was cancelled.
    Cancelled,
    /// A person gave it up.
    Abandoned,
    /// Its change is merged, and a person gave up what was to follow.
    MergedOnly,
}

impl Closed {
    /// For people: a merge, also by hand, may be how it came to its end.
    pub(super) fn sentence(self, is_merged: bool) -> &'static str {
        match self {
            Self::Finished if is_merged => {
                "It is closed: its change is merged, and it came to its end."
            }
            Self::Finished => "It is closed: it came to its end.",
            Self::PartsClosed => "It is closed, since all its parts are.",
            Self::IssueClosed => "It is closed, since its issue was closed.",
            Self::Cancelled => "It is closed, since what it is a part of was cancelled.",
            Self::Abandoned => "It is closed, since a person gave it up.",
            Self::MergedOnly => {
                "It is closed: its change is merged, and a person gave up what was to follow."
            }
        }
    }
}
