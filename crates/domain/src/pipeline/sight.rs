//! What a run can see of a job and its pull request.

use super::AgentState;
use crate::event::ErrorCause;
use crate::job::{EndReason, Job, JobPhase};
use crate::pull::{Alarm, Pull};
use crate::redact::{clause, presentable};
use crate::sprint::failed_checks;

/// Longest reason in a run, in characters.
pub(super) const REASON_CHARS_MAX: usize = 300;

/// What a run can see of an agent whose job is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberSight {
    /// How far it is.
    pub state: AgentState,
    /// The checks of its pull request that failed and are not repaired, as [`unrepaired`] has them, with what those of our own found.
    pub red: Vec<String>,
}

impl MemberSight {
    /// What can be seen of a job and its pull request.
    pub fn of(job: &Job, pull: Option<&Pull>) -> Self {
        Self {
            state: sight(job),
            red: pull.map_or_else(Vec::new, red),
        }
    }

    /// What is seen of one whose job can never be made.
    pub fn refused(reason: &str) -> Self {
        Self {
            state: refused(reason),
            red: Vec::new(),
        }
    }
}

/// The failed checks of a pull request that are not repaired: its session was told of this head, or as often as it may be of all
/// heads, and then people were. Gaffer has nothing left to try.
pub fn unrepaired(pull: &Pull) -> &[String] {
    let Some(verdict) = &pull.verdict else {
        return &[];
    };
    let causes = [ErrorCause::CiFailed, ErrorCause::MergeBlocked];
    let is_it = |alarm: &Alarm| alarm.sha == verdict.sha && causes.contains(&alarm.cause);
    let is_told = pull.alarms.iter().any(is_it);
    match is_told && pull.repairs.ci_sent.contains(&verdict.sha) {
        true => failed_checks(pull),
        false => &[],
    }
}

/// The checks that are not repaired, each with what it found where it is one of our own.
pub(super) fn red(pull: &Pull) -> Vec<String> {
    let head = pull.verdict.as_ref().map(|verdict| &verdict.sha);
    let found = head.map_or_else(Vec::new, |head| pull.own_findings(head));
    let of = |found: &String, name: &str| found.split_once(": ").is_some_and(|(of, _)| of == name);
    let told = |name: &String| {
        let own = found.iter().find(|found| of(found, name));
        own.unwrap_or(name).clone()
    };
    unrepaired(pull).iter().map(told).collect()
}

/// How far a job is, as its run sees it.
pub fn sight(job: &Job) -> AgentState {
    match &job.phase {
        JobPhase::Queued { .. } | JobPhase::Creating { .. } => AgentState::Working,
        JobPhase::Watching(watch) if watch.pull.is_none() => AgentState::Working,
        JobPhase::Proposed { pull: None, .. } => AgentState::Working,
        // Code that was made up is never merged, so its merge is not awaited.
        JobPhase::Proposed { .. } if is_mock_code(job) => AgentState::Open,
        JobPhase::Watching(_) | JobPhase::Proposed { .. } => AgentState::Merging,
        JobPhase::Ended(ending) => ended(&ending.how),
    }
}

fn is_mock_code(job: &Job) -> bool {
    job.part.as_ref().is_some_and(|part| part.is_mock_code())
}

/// A member whose job can never be made.
pub fn refused(reason: &str) -> AgentState {
    AgentState::Refused {
        reason: presentable(reason, REASON_CHARS_MAX),
    }
}

/// A member that came to no end of its own.
pub(super) fn failed(reason: &str) -> AgentState {
    AgentState::Failed {
        reason: presentable(clause(reason), REASON_CHARS_MAX),
    }
}

fn ended(how: &EndReason) -> AgentState {
    let reason = match how {
        EndReason::Merged { .. } => return AgentState::Merged,
        EndReason::Completed => return AgentState::Nothing,
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
