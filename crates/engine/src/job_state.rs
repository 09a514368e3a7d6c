//! The state of a job in one word.

use domain::job::{self, Attention, EndReason, Job, JobPhase};
use domain::session::SessionState;

/// The words of [`state_of`], in the order in which a job reaches them.
pub const STATES: [&str; 19] = [
    "queued",
    "starting",
    "proposed",
    "working",
    "asking",
    "plan-waits",
    "answered",
    "paused",
    "unknown",
    "in-review",
    "completed",
    "merged",
    "closed",
    "failed",
    "lost",
    "refused",
    "woven",
    "left",
    "cancelled",
];

/// Those of jobs that are over.
pub const ENDED: [&str; 9] = [
    "merged",
    "closed",
    "completed",
    "failed",
    "lost",
    "refused",
    "woven",
    "left",
    "cancelled",
];

/// A job's state in one word, for people and for lists.
pub fn state_of(job: &Job) -> &'static str {
    match &job.phase {
        JobPhase::Queued { .. } => "queued",
        JobPhase::Creating { .. } => "starting",
        JobPhase::Proposed { pull: None, .. } => "proposed",
        JobPhase::Proposed { .. } => "in-review",
        JobPhase::Ended(ending) => match ending.how {
            EndReason::Merged { .. } => "merged",
            EndReason::PullClosed => "closed",
            EndReason::Completed => "completed",
            EndReason::Failed { .. } => "failed",
            EndReason::Lost => "lost",
            EndReason::Refused { .. } => "refused",
            EndReason::Woven { .. } => "woven",
            EndReason::Left => "left",
            EndReason::Cancelled { .. } => "cancelled",
        },
        JobPhase::Watching(watch) if job::answered_at(watch).is_some() => "answered",
        JobPhase::Watching(watch) => match (&watch.attention, &watch.state) {
            (Attention::Question { .. }, _) => "asking",
            (Attention::Plan { .. }, _) => "plan-waits",
            (_, SessionState::Completed) if watch.pull.is_some() => "in-review",
            (_, SessionState::Completed) => "completed",
            (_, SessionState::Paused) => "paused",
            (_, SessionState::Unspecified | SessionState::Other(_)) => "unknown",
            (Attention::None | Attention::Expecting { .. } | Attention::Answered { .. }, _) => {
                "working"
            }
        },
    }
}
