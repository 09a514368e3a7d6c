//! What works by itself at intervals: the readings of issues.

use domain::ids::RepoName;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form;

/// `GET /api/worker/status`: the workers, one for each source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Workers {
    /// All of them.
    pub workers: Vec<WorkerView>,
}

/// One worker: the reading of a source's issues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerView {
    /// Its name: `intake:` and the repository.
    pub name: String,
    /// What it does, for people.
    pub label: String,
    /// Its source.
    pub repo: RepoName,
    /// Whether it reads: the source has an intake label and is not paused.
    pub enabled: bool,
    /// How often it reads now, in seconds: seldom while webhooks arrive and nothing fails, or while its source is paused.
    pub interval_seconds: u64,
    /// When it last read, or left the reading out.
    #[schemars(with = "Option<form::Moment>")]
    pub last_poll_at: Option<Timestamp>,
    /// What the last reading came to; none after one that failed or was left out.
    pub last_result: Option<IntakeResult>,
    /// Why the last reading failed; none after another one.
    pub last_error: Option<String>,
    /// When it reads next.
    #[schemars(with = "Option<form::Moment>")]
    pub next_poll_at: Option<Timestamp>,
}

/// What a reading of issues came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntakeResult {
    /// How many issues became deliveries.
    pub created: u32,
    /// How many closed theirs.
    pub closed: u32,
}
