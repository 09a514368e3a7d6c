//! What a sprint can see of the jobs and the pull requests of its members, and of the one that it makes itself.

use jiff::{SignedDuration, Timestamp};

use super::{Offer, Woven};
use crate::facts::PullState;
use crate::ids::{CommitSha, PersonaName};
use crate::job::{self, EndReason, Job, Phase, Watch};
use crate::merge::{Judgement, MissingChecksCause, Reason, SessionStatus};
use crate::policy::Timing;
use crate::pull::{Pull, PullPhase};
use crate::redact::storable;
use crate::when::plus;

/// How long a session that is done is waited for a pull request: Jules lists one late.
const LATE_OUTPUTS: SignedDuration = SignedDuration::from_secs(120);

/// Longest reason that a sprint keeps, in bytes as JSON: each member may have one.
pub(super) const REASON_BYTES_MAX: usize = 200;

/// What a sprint can see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sights {
    /// Of its members: those whose jobs are there.
    pub members: Vec<(PersonaName, Sight)>,
    /// Of the one pull request that it makes.
    pub landing: Option<Landing>,
}

/// What a sprint can see of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    /// How far its work is.
    pub work: Work,
    /// When its session last said that it is done.
    pub rested_at: Option<Timestamp>,
}

/// How far the work of a member is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Its job waits for a slot.
    Queued,
    /// Its session works, or its pull request is not ready to be woven.
    Working,
    /// Its pull request is ready to be woven.
    Ready(Offer),
    /// Its session ended without a pull request.
    Nothing,
    /// Nothing comes of it.
    Failed {
        /// Why.
        reason: String,
    },
}

/// What a sprint can see of the one pull request that it makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landing {
    /// It is open.
    Open,
    /// It is behind its base or conflicts with it: it has to be woven again.
    Stale,
    /// It is merged.
    Merged,
    /// It was closed without a merge.
    Closed,
}

/// What a sprint can see of the one pull request that it makes. What was judged of an older head says nothing of what the
/// newest weave pushed.
pub fn landing(pull: &Pull, newest: Option<&Woven>) -> Landing {
    match &pull.phase {
        PullPhase::Settled {
            state: PullState::Merged { .. },
            ..
        } => Landing::Merged,
        PullPhase::Settled { .. } => Landing::Closed,
        PullPhase::Open | PullPhase::Merging { .. } | PullPhase::Closed { .. } => {
            let is_newest = |sha: &CommitSha| newest.is_some_and(|it| it.commit == *sha);
            let judged = pull.verdict.as_ref().filter(|it| is_newest(&it.sha));
            match judged.is_some_and(|it| is_stale(&it.judgement)) {
                true => Landing::Stale,
                false => Landing::Open,
            }
        }
    }
}

/// What of a pull request its sprint is called for when it changes: how far it is, and the head that has to be woven again.
pub fn glimpse(pull: &Pull) -> (Work, Option<CommitSha>) {
    let stale = pull.verdict.as_ref().filter(|it| is_stale(&it.judgement));
    (work_of_pull(pull), stale.map(|it| it.sha.clone()))
}

fn is_stale(judgement: &Judgement) -> bool {
    let is_old = |reason: &Reason| matches!(reason, Reason::Behind { .. } | Reason::Conflict);
    match judgement {
        Judgement::Conflict { .. } => true,
        Judgement::Wait { reasons, .. } | Judgement::Refuse { reasons } => {
            reasons.iter().any(is_old)
        }
        Judgement::Merge { .. } => false,
    }
}

/// How soon a sprint is to be read again because of what it sees: of a session that is done, a pull request may come late.
pub fn soon(sights: &Sights, now: Timestamp) -> Option<Timestamp> {
    let rested = sights.members.iter().filter_map(|(_, sight)| {
        let rested = sight.rested_at.filter(|_| sight.work == Work::Working)?;
        Some(plus(rested, LATE_OUTPUTS))
    });
    rested.filter(|at| *at > now).min()
}

/// What a sprint can see of the job of a member and of its pull request.
pub fn sight(job: &Job, pull: Option<&Pull>, timing: &Timing, now: Timestamp) -> Sight {
    let (work, rested_at) = match &job.phase {
        Phase::Queued { .. } | Phase::Creating { .. } => (Work::Queued, None),
        Phase::Proposed { .. } => (Work::Working, None),
        Phase::Watching(watch) => (
            watched((job, watch), pull, timing, now),
            watch.announced.completed_at,
        ),
        Phase::Ended(ending) => (ended(&ending.how), None),
    };
    Sight { work, rested_at }
}

fn watched(
    (job, watch): (&Job, &Watch),
    pull: Option<&Pull>,
    timing: &Timing,
    now: Timestamp,
) -> Work {
    let rests = job::session_status(job, Some(&watch.session), timing, now);
    if rests != SessionStatus::Resting {
        return Work::Working;
    }
    match (&watch.pull, pull) {
        (Some(_), Some(pull)) => work_of_pull(pull),
        (Some(_), None) => Work::Working,
        (None, _) => {
            let done = watch.announced.completed_at;
            let long = |at| now.duration_since(at) >= LATE_OUTPUTS;
            match done.is_some_and(long) {
                true => Work::Nothing,
                false => Work::Working,
            }
        }
    }
}

/// How far a pull request is whose session rests.
fn work_of_pull(pull: &Pull) -> Work {
    match &pull.phase {
        PullPhase::Open | PullPhase::Merging { .. } => {}
        PullPhase::Closed { .. } => return Work::Working,
        PullPhase::Settled { state, .. } => {
            let reason = match state {
                PullState::Merged { .. } => "its pull request was merged by itself",
                PullState::Open | PullState::Closed => "its pull request was closed",
            };
            return failed(reason);
        }
    }
    let (Some(head), Some(verdict)) = (&pull.head, &pull.verdict) else {
        return Work::Working;
    };
    match verdict.sha == head.sha && is_ready(&verdict.judgement) {
        true => Work::Ready(Offer {
            pull: pull.pull.number,
            head: head.sha.clone(),
        }),
        false => Work::Working,
    }
}

/// Whether nothing stands in the way of a weave.
fn is_ready(judgement: &Judgement) -> bool {
    match judgement {
        Judgement::Merge { .. } | Judgement::Conflict { .. } => true,
        Judgement::Wait { reasons, .. } | Judgement::Refuse { reasons } => {
            let conflicts = reasons.contains(&Reason::Conflict);
            let passes = |reason: &Reason| is_passed_over(reason, conflicts);
            reasons.iter().all(passes)
        }
    }
}

/// Whether a reason against a merge is none against a weave. GitHub starts no checks of a head that conflicts.
fn is_passed_over(reason: &Reason, conflicts: bool) -> bool {
    match reason {
        Reason::Woven { .. }
        | Reason::NeedsApproval
        | Reason::ApprovalsMissing { .. }
        | Reason::ProtectedPath { .. }
        | Reason::Draft
        | Reason::Behind { .. }
        | Reason::DailyCap { .. }
        | Reason::Conflict
        | Reason::Settling { .. }
        | Reason::CiNeverStarted {
            cause: MissingChecksCause::Conflict,
        } => true,
        Reason::NoChecksYet { .. }
        | Reason::TooFewChecks { .. }
        | Reason::RequiredMissing { .. }
        | Reason::CiNeverStarted {
            cause:
                MissingChecksCause::ActionsToken
                | MissingChecksCause::ApprovalPending
                | MissingChecksCause::NoWorkflow
                | MissingChecksCause::Unknown,
        } => conflicts,
        Reason::NotOurs
        | Reason::AdoptedMayNotMerge
        | Reason::Fork
        | Reason::Closed
        | Reason::AlreadyMerged
        | Reason::DeliveryNotInVerify { .. }
        | Reason::VerdictOfAnotherHead
        | Reason::Paused
        | Reason::ObserveOnly
        | Reason::SessionWorking
        | Reason::SessionFailed
        | Reason::JobCancelled
        | Reason::WrongBase { .. }
        | Reason::Stacked { .. }
        | Reason::BlockingLabel { .. }
        | Reason::PlanUnreviewed
        | Reason::UnexpectedPush { .. }
        | Reason::MergeableUnknown
        | Reason::ChangesRequested
        | Reason::ChecksPending { .. }
        | Reason::ChecksFailed { .. }
        | Reason::ActionRequired { .. }
        | Reason::MergeQueue
        | Reason::Forbidden { .. }
        | Reason::Unknown { .. }
        | Reason::FactsStale
        | Reason::MergeRefused { .. }
        | Reason::MergeThrottled { .. } => false,
    }
}

fn ended(how: &EndReason) -> Work {
    match how {
        EndReason::Completed => Work::Nothing,
        EndReason::Merged { .. } => failed("its pull request was merged by itself"),
        EndReason::Woven { .. } => failed("it is in another pull request already"),
        EndReason::PullClosed => failed("its pull request was closed"),
        EndReason::Lost => failed("its session disappeared"),
        EndReason::Left => failed("it was left to people"),
        EndReason::Failed { reason } => failed(&format!("it failed: {reason}")),
        EndReason::Refused { reason } => failed(&format!("Jules refused it: {reason}")),
        EndReason::Cancelled { by } => failed(&format!("{by} cancelled it")),
    }
}

fn failed(reason: &str) -> Work {
    Work::Failed {
        reason: storable(reason, REASON_BYTES_MAX),
    }
}
