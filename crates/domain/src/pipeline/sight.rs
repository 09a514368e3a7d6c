//! What a run can see of a job.

use super::MemberState;
use crate::job::{EndReason, Job, Phase};
use crate::redact::presentable;

/// Longest reason in a run, in characters.
pub(super) const REASON_CHARS_MAX: usize = 300;

/// What a run can see of a job: nothing while the job is not there.
pub type MemberSight = Option<MemberState>;

/// How far a job is, as its run sees it.
pub fn sight(job: &Job) -> MemberState {
    match &job.phase {
        Phase::Queued { .. } | Phase::Creating { .. } => MemberState::Working,
        Phase::Watching(watch) if watch.pull.is_none() => MemberState::Working,
        Phase::Proposed { pull: None, .. } => MemberState::Working,
        // Code that was made up is never merged, so its merge is not awaited.
        Phase::Proposed { .. } if is_mock_code(job) => MemberState::Nothing,
        Phase::Watching(_) | Phase::Proposed { .. } => MemberState::Merging,
        Phase::Ended(ending) => ended(&ending.how),
    }
}

fn is_mock_code(job: &Job) -> bool {
    job.part.as_ref().is_some_and(|part| part.is_mock_code())
}

/// A member whose job can never be made.
pub fn failed(reason: &str) -> MemberState {
    MemberState::Failed {
        reason: presentable(reason, REASON_CHARS_MAX),
    }
}

fn ended(how: &EndReason) -> MemberState {
    let reason = match how {
        EndReason::Merged { .. } => return MemberState::Merged,
        EndReason::Completed => return MemberState::Nothing,
        EndReason::Woven { into } => format!("it is part of {into}"),
        EndReason::PullClosed => "its pull request was closed without a merge".to_owned(),
        EndReason::Lost => "its session disappeared".to_owned(),
        EndReason::Left => "it was left to people".to_owned(),
        EndReason::Failed { reason } => format!("it failed: {reason}"),
        EndReason::Refused { reason } => format!("Jules refused it: {reason}"),
        EndReason::Cancelled { by } => format!("{by} cancelled it"),
    };
    failed(&reason)
}
