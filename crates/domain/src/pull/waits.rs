//! Who is waited for at a pull request whose session rests.

use super::{Pull, PullPhase};
use crate::event::ErrorCause;
use crate::ids::{AgentName, CommitSha};
use crate::job::{WaitParty, WaitReason, WaitsFor};
use crate::merge::{self, Judgement, Reason};

/// Who must act before it is merged, or woven with others. `on_woven` says whether it goes to the branch that those are woven into.
pub(crate) fn waits_for(pull: &Pull, on_woven: bool, woken: Option<&AgentName>) -> WaitsFor {
    match &pull.phase {
        PullPhase::Merging { since, .. } => {
            WaitsFor::new(WaitParty::Gaffer, WaitReason::Merge, *since)
        }
        PullPhase::Closed { since, .. } => {
            WaitsFor::new(WaitParty::Person, WaitReason::Reopening, *since)
        }
        PullPhase::Settled { at, .. } => WaitsFor::new(WaitParty::Gaffer, WaitReason::Reading, *at),
        PullPhase::Open => open(pull, on_woven, woken),
    }
}

fn open(pull: &Pull, on_woven: bool, woken: Option<&AgentName>) -> WaitsFor {
    let Some(verdict) = &pull.verdict else {
        return WaitsFor::new(WaitParty::Gaffer, WaitReason::Reading, pull.since);
    };
    let (who, what) = match &verdict.judgement {
        Judgement::Merge { .. } => (Whom::Is(WaitParty::Gaffer), WaitReason::Merge),
        Judgement::Conflict { .. } => of_reason(pull, &verdict.sha, &Reason::Conflict),
        Judgement::Wait { reasons, .. } | Judgement::Refuse { reasons } => {
            let first = decisive(pull, &verdict.sha, &awaited(reasons, on_woven));
            first.map_or(
                (Whom::Is(WaitParty::Gaffer), WaitReason::Reading),
                |reason| of_reason(pull, &verdict.sha, reason),
            )
        }
    };
    match who {
        Whom::Is(who) => WaitsFor::new(who, what, verdict.at),
        Whom::Woken => WaitsFor::woken(woken, what, verdict.at),
    }
}

/// Who is waited for, before the agent is determined.
enum Whom {
    Is(WaitParty),
    /// The agent, else a person.
    Woken,
}

/// What keeps it from being woven, or blocks its merge where it is merged by itself, or what of it could not be read; none where
/// nothing stands in the way.
pub(crate) fn hindrance(pull: &Pull, on_woven: bool) -> Option<&Reason> {
    let verdict = pull.verdict.as_ref()?;
    let reasons = verdict.judgement.reasons();
    let first = decisive(pull, &verdict.sha, &awaited(reasons, on_woven))?;
    let is_member = reasons.iter().any(is_woven);
    let is_blocked = || of_reason(pull, &verdict.sha, first).1 == WaitReason::Blocked;
    let is_unread = matches!(first, Reason::Unknown { .. });
    let is_told = pull.phase == PullPhase::Open && (is_member || is_unread || is_blocked());
    (is_told && !is_woven(first)).then_some(first)
}

fn is_woven(reason: &Reason) -> bool {
    matches!(reason, Reason::Woven { .. })
}

/// The reasons that have to pass: its sprint weaves what a weave passes over, and waits for the rest.
fn awaited(reasons: &[Reason], on_woven: bool) -> Vec<&Reason> {
    let Some(woven) = reasons.iter().find(|it| is_woven(it)) else {
        return reasons.iter().collect();
    };
    let hindering = merge::hindering_weave(reasons, on_woven);
    match hindering.is_empty() {
        true => vec![woven],
        false => hindering,
    }
}

/// The reason that has to pass first: while something moves by itself no one else is waited for, and the approval
/// comes last.
fn decisive<'a>(pull: &Pull, sha: &CommitSha, reasons: &[&'a Reason]) -> Option<&'a Reason> {
    let find = |is_it: &dyn Fn(&Reason) -> bool| reasons.iter().copied().find(|&it| is_it(it));
    let hangs = |reason: &Reason| {
        matches!(reason, Reason::ChecksPending { .. })
            && is_told(pull, sha, &[ErrorCause::MergeBlocked])
    };
    // While its session works, its delivery waits for that too.
    let working = || find(&|it| *it == Reason::SessionWorking);
    let moving = find(&|it| it.moves() && !hangs(it));
    let moving = moving.map(|first| {
        working()
            .filter(|_| first.is_of_delivery())
            .unwrap_or(first)
    });
    let blocking = || find(&|it| !it.leaves_green());
    moving
        .or_else(blocking)
        .or_else(|| reasons.first().copied())
}

fn is_told(pull: &Pull, sha: &CommitSha, causes: &[ErrorCause]) -> bool {
    let of_head = pull.alarms.iter().filter(|alarm| alarm.sha == *sha);
    of_head
        .into_iter()
        .any(|alarm| causes.contains(&alarm.cause))
}

/// Who mends a head: its session if it was told of it, else the one that is woken.
fn repaired(
    pull: &Pull,
    sha: &CommitSha,
    told: &[CommitSha],
    cause: ErrorCause,
) -> (Whom, WaitReason) {
    let is_sent = told.contains(sha);
    // Once its repairs are used up, later heads are only recorded as sent.
    let is_given_up = pull.alarms.iter().any(|alarm| alarm.cause == cause);
    let is_left = is_sent && (pull.session.is_none() || is_given_up);
    if is_left || is_told(pull, sha, &[cause, ErrorCause::MergeBlocked]) {
        (Whom::Woken, WaitReason::Blocked)
    } else if is_sent {
        (Whom::Is(WaitParty::Jules), WaitReason::Repair)
    } else {
        // The session is about to be informed, unless it repairs that by itself.
        (Whom::Is(WaitParty::Gaffer), WaitReason::Reading)
    }
}

fn of_reason(pull: &Pull, sha: &CommitSha, reason: &Reason) -> (Whom, WaitReason) {
    let own = |what| (Whom::Is(WaitParty::Gaffer), what);
    let repair = |told: &[CommitSha], cause| repaired(pull, sha, told, cause);
    // What should have passed by itself and did not was announced.
    let unless_told = |who, what| {
        if is_told(pull, sha, &[ErrorCause::MergeBlocked]) {
            (Whom::Woken, WaitReason::Blocked)
        } else {
            (Whom::Is(who), what)
        }
    };
    let approval = |who| (who, WaitReason::Approval);
    match reason {
        Reason::NeedsApproval | Reason::ProtectedPath { .. } => {
            approval(Whom::Is(WaitParty::Person))
        }
        Reason::DeliveryNotInVerify { .. } | Reason::VerdictOfAnotherHead => {
            own(WaitReason::Delivery)
        }
        Reason::Collected { .. } => (Whom::Is(WaitParty::Person), WaitReason::Collected),
        Reason::Woven { .. } => own(WaitReason::Sprint),
        Reason::MailUncollected => own(WaitReason::Reading),
        Reason::PlanUnreviewed | Reason::UnexpectedPush { .. } => approval(Whom::Woken),
        Reason::ChangesRequested | Reason::ApprovalsMissing { .. } => {
            (Whom::Is(WaitParty::Person), WaitReason::Review)
        }
        Reason::NotOurs
        | Reason::AdoptedMayNotMerge
        | Reason::Fork
        | Reason::Closed
        | Reason::MailUnreadable
        | Reason::TakenBack
        | Reason::SprintOver
        | Reason::BlockingLabel { .. }
        | Reason::ActionRequired { .. }
        | Reason::MergeQueue
        | Reason::Stacked { .. }
        | Reason::Forbidden { .. } => (Whom::Is(WaitParty::Person), WaitReason::Blocked),
        Reason::SessionFailed
        | Reason::JobCancelled
        | Reason::WrongBase { .. }
        | Reason::CiNeverStarted { .. }
        | Reason::MergeRefused { until: None, .. } => (Whom::Woken, WaitReason::Blocked),
        Reason::Conflict => repair(&pull.repairs.conflict_sent, ErrorCause::Conflict),
        Reason::ChecksFailed {
            others_pending: false,
            ..
        } => repair(&pull.repairs.ci_sent, ErrorCause::CiFailed),
        // Of the one pull request of a sprint it says that another weave may be pushed.
        Reason::SessionWorking if pull.session.is_none() => own(WaitReason::Sprint),
        Reason::SessionWorking => (Whom::Is(WaitParty::Jules), WaitReason::Work),
        Reason::ChecksPending { .. }
        | Reason::TooFewChecks { .. }
        | Reason::RequiredMissing { .. }
        | Reason::MergeableUnknown => unless_told(WaitParty::GitHub, WaitReason::Checks),
        Reason::NoChecksYet { .. }
        | Reason::ChecksFailed {
            others_pending: true,
            ..
        } => (Whom::Is(WaitParty::GitHub), WaitReason::Checks),
        Reason::Draft | Reason::Unknown { .. } => {
            unless_told(WaitParty::Gaffer, WaitReason::Reading)
        }
        // Once it is resumed, it is judged again.
        Reason::FactsStale | Reason::Paused | Reason::ObserveOnly => own(WaitReason::Reading),
        Reason::DailyCap { .. } => own(WaitReason::MergeCap),
        Reason::AlreadyMerged
        | Reason::MergeThrottled { .. }
        | Reason::Behind { .. }
        | Reason::MergeRefused { until: Some(_), .. }
        | Reason::Settling { .. } => (Whom::Is(WaitParty::Gaffer), WaitReason::Merge),
    }
}
