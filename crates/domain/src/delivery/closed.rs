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
