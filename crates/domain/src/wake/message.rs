//! What an agent gets: the event in the seed's schema, and what is needed to answer.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::event::{Event, Occurrence};
use crate::fence::encoded_len;
use crate::ids::{EventId, JobId};
use crate::redact::{presentable, storable};
use crate::session::Plan;

/// Longest text in a wake, in bytes as JSON: with the plan the whole stays under the specification's 20 kB.
const TEXT_BYTES_MAX: usize = 6_000;

/// Longest status in a wake, in characters; Jules may name new states as it likes.
const STATUS_CHARS_MAX: usize = 80;

/// Longest plan in a wake, in bytes as JSON without the field names.
const PLAN_BYTES_MAX: usize = 6_000;

/// Longest title or description of a step in a wake, in bytes as JSON.
const STEP_BYTES_MAX: usize = 300;

/// The message that an agent gets: the seed's event schema, and what is needed to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionableEvent {
    /// `question`, `completed`, `error` or `stuck`.
    pub event: String,
    /// What kind of that, for programs.
    pub kind: String,
    /// The occurrence; the same over all tries.
    pub event_id: EventId,
    /// The job; none when a whole account is affected.
    pub job_id: Option<JobId>,
    /// The account.
    pub account: String,
    /// The repository, `owner/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// Which of the job's sessions, from 1.
    pub attempt: u32,
    /// When it was seen.
    pub observed_at: Timestamp,
    /// The session's state in Jules's spelling.
    pub status: String,
    /// The question, the reason or the last words; written by others, so it is data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// More of it: plan steps or pull requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<serde_json::Value>,
    /// When the session last did anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_activity: Option<Timestamp>,
}

/// As many steps of a plan as fit.
fn steps(plan: &Plan) -> Vec<serde_json::Value> {
    let mut left = PLAN_BYTES_MAX;
    let mut steps = Vec::new();
    for step in &plan.steps {
        let title = storable(&step.title, STEP_BYTES_MAX);
        let description = storable(&step.description, STEP_BYTES_MAX);
        let bytes = encoded_len(&title) + encoded_len(&description);
        if bytes > left {
            break;
        }
        left -= bytes;
        steps.push(serde_json::json!({ "title": title, "description": description }));
    }
    steps
}

/// Writes an event as its receiver gets it: redacted and clipped.
pub fn message(event: &Event, repo: Option<&str>) -> ActionableEvent {
    let text = |text: &str| Some(storable(text, TEXT_BYTES_MAX));
    let (words, payload) = match &event.what {
        Occurrence::Question { text: words } => (words.as_deref().and_then(text), None),
        Occurrence::PlanApproval { plan } => {
            let payload = plan
                .as_ref()
                .map(|plan| serde_json::json!({ "plan_id": plan.id, "steps": steps(plan) }));
            (text("A plan waits for approval."), payload)
        }
        Occurrence::Completed { pulls } => {
            (None, Some(serde_json::json!({ "pull_requests": pulls })))
        }
        Occurrence::Error { reason, .. } => (text(reason), None),
        Occurrence::Stuck { last_words } => (last_words.as_deref().and_then(text), None),
    };
    ActionableEvent {
        event: event.what.name().to_owned(),
        kind: event.what.kind().to_owned(),
        event_id: event.id.clone(),
        job_id: event.job.clone(),
        account: event.account.to_string(),
        repo: repo.map(str::to_owned),
        attempt: event.attempt,
        observed_at: event.observed_at,
        status: presentable(&event.status, STATUS_CHARS_MAX),
        message: words,
        payload,
        last_activity: event.last_activity,
    }
}
