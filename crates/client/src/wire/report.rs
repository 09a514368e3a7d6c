//! What is going on in one job or pull request, and at the API itself.

use domain::ids::{JobId, PullRef};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form;
use super::job::{AsRead, WaitsFor};
use super::problem::{Next, Reason};

pub use domain::why::PlannedStep;

/// `GET /jobs/{id}/why` and `GET /pulls/{owner}/{name}/{number}/why`: why it does not move, and what will be done when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Why {
    /// The job; none for a pull request that no job of ours made.
    pub job_id: Option<JobId>,
    /// The pull request, if one is known.
    pub pull_request: Option<PullRef>,
    /// Its state, in one word.
    pub state: String,
    /// Who is waited for; none for a pull request that no job of ours made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<WaitsFor>,
    /// Age of what is shown of the pull request; absent where nothing of a reading is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_read: Option<AsRead>,
    /// What is the case.
    pub because: Vec<Reason>,
    /// The checks of its head when that was last judged, those that failed first; at most twenty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckView>,
    /// What will be done, the soonest first.
    pub then: Vec<PlannedStep>,
    /// Advice: orders that would be accepted now.
    #[serde(default)]
    pub next: Vec<Next>,
    /// The latest time of its next check.
    #[schemars(with = "Option<form::Moment>")]
    pub next_look: Option<Timestamp>,
}

/// A check of a pull request's head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckView {
    /// Its name: text from outside.
    pub name: String,
    /// How far it is: `pending`, `passed`, `neutral`, `skipped`, `failed` or `action_required`.
    pub state: String,
    /// Its page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// `GET /healthz`: the process answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Always true: a process that cannot say so does not answer.
    pub ok: bool,
    /// The version of Gaffer.
    pub version: String,
    /// Webhook deliveries since the process began.
    pub webhooks: WebhookCounts,
}

/// Webhook deliveries since the process began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebhookCounts {
    /// Signed, understood and put in the queue.
    pub accepted: u64,
    /// Signed, and about nothing that is followed.
    pub ignored: u64,
    /// Not signed, signed wrongly, too large or not readable.
    pub refused: u64,
}
