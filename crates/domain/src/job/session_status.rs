//! Whether a session may still push to its pull request.

use jiff::Timestamp;

use super::completion::{self, new_word};
use super::watch::{Attention, Watch};
use super::{EndReason, Job, JobPhase};
use crate::ids::SessionId;
use crate::merge::SessionStatus;
use crate::policy::Timing;
use crate::session::SessionState;

/// What the session that made a pull request does. One that said it is done, or has been silent for a whole window,
/// will not push by itself.
pub fn session_status(
    job: &Job,
    session: Option<&SessionId>,
    timing: &Timing,
    now: Timestamp,
) -> SessionStatus {
    // No session works on a pull request of an earlier attempt any more.
    if job.session() != session {
        return SessionStatus::Cancelled;
    }
    match &job.phase {
        JobPhase::Queued { .. } | JobPhase::Creating { .. } => SessionStatus::Working,
        JobPhase::Watching(watch) if is_resting(watch, timing, now) => SessionStatus::Resting,
        JobPhase::Watching(_) => SessionStatus::Working,
        // No session pushes to what Gaffer wrote itself.
        JobPhase::Proposed { .. } => SessionStatus::Resting,
        JobPhase::Ended(ending) => match ending.how {
            EndReason::Merged { .. }
            | EndReason::Woven { .. }
            | EndReason::PullClosed
            | EndReason::Completed => SessionStatus::Resting,
            EndReason::Failed { .. } => SessionStatus::Failed,
            EndReason::Lost
            | EndReason::Refused { .. }
            | EndReason::Left
            | EndReason::Cancelled { .. } => SessionStatus::Cancelled,
        },
    }
}

fn is_resting(watch: &Watch, timing: &Timing, now: Timestamp) -> bool {
    match watch.state {
        // A completion that still waits for its text must be announced before anything ends the job.
        SessionState::Completed => {
            let announced = !matches!(watch.attention, Attention::Expecting { .. });
            let returns = watch.unconfirmed_since.is_some() || watch.awaits_return(now, timing);
            announced && !returns
        }
        // The state lags behind the log, sometimes for ever. A completion message must be announced before anything
        // ends the job.
        // Silence counts only after the log was read: it was announced after a read, and nothing was said since.
        SessionState::InProgress => {
            let done = watch.log.completed.as_ref().map(|done| done.at);
            let last_word = done.is_some() && done >= watch.log.through;
            let told = watch.announced.stuck_at;
            let silent = told >= Some(watch.progress_at) && told >= watch.log.user_at;
            let heard = new_word(watch).is_none() && watch.unconfirmed_since.is_none();
            heard && (last_word || silent || completion::stands(watch))
        }
        SessionState::Unspecified
        | SessionState::Queued
        | SessionState::Planning
        | SessionState::AwaitingPlanApproval
        | SessionState::AwaitingUserFeedback
        | SessionState::Paused
        | SessionState::Failed
        | SessionState::Other(_) => false,
    }
}
