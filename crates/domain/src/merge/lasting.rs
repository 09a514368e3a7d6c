//! Which reasons last until a person, an agent or a session acts, in words for everybody: fixed ones of ours, which repeat nothing from
//! outside and ask for nothing.

use serde::{Deserialize, Serialize};

use super::Reason;

/// A reason that lasts, without what others wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastingReason {
    /// Its session was adopted and the source does not let those merge.
    AdoptedMayNotMerge,
    /// It comes from a fork.
    Fork,
    /// People merge here, and no one approved this head.
    NeedsApproval,
    /// Enough merges for one day.
    DailyCap,
    /// Its session failed.
    SessionFailed,
    /// Its job was cancelled.
    JobCancelled,
    /// It is a draft.
    Draft,
    /// It goes to another branch than its job asked for.
    WrongBase,
    /// It is part of a stack.
    Stacked,
    /// It carries a label that forbids merging.
    BlockingLabel,
    /// It changes what only a person may merge.
    ProtectedPath,
    /// Its session worked on a plan without an approval.
    PlanUnreviewed,
    /// Its head contains unexpected changes.
    UnexpectedPush,
    /// It conflicts with its base.
    Conflict,
    /// A reviewer wants changes.
    ChangesRequested,
    /// Approvals are missing.
    ApprovalsMissing,
    /// No check has appeared, and it is late.
    CiNeverStarted,
    /// Checks failed.
    ChecksFailed,
    /// Workflow runs wait for a person's approval.
    ActionRequired,
    /// Fewer checks succeeded than the source demands.
    TooFewChecks,
    /// Checks that must pass have not.
    RequiredMissing,
    /// The branch merges through a merge queue.
    MergeQueue,
    /// The credential may not read a fact that a merge depends on.
    Forbidden,
    /// GitHub refused to merge this head, and it is not tried again.
    MergeRefused,
}

impl LastingReason {
    /// All of them.
    pub const ALL: [Self; 24] = [
        Self::AdoptedMayNotMerge,
        Self::Fork,
        Self::NeedsApproval,
        Self::DailyCap,
        Self::SessionFailed,
        Self::JobCancelled,
        Self::Draft,
        Self::WrongBase,
        Self::Stacked,
        Self::BlockingLabel,
        Self::ProtectedPath,
        Self::PlanUnreviewed,
        Self::UnexpectedPush,
        Self::Conflict,
        Self::ChangesRequested,
        Self::ApprovalsMissing,
        Self::CiNeverStarted,
        Self::ChecksFailed,
        Self::ActionRequired,
        Self::TooFewChecks,
        Self::RequiredMissing,
        Self::MergeQueue,
        Self::Forbidden,
        Self::MergeRefused,
    ];

    /// For programs: the code of the reason.
    pub fn code(self) -> &'static str {
        match self {
            Self::AdoptedMayNotMerge => "adopted_may_not_merge",
            Self::Fork => "fork",
            Self::NeedsApproval => "needs_approval",
            Self::DailyCap => "daily_cap",
            Self::SessionFailed => "session_failed",
            Self::JobCancelled => "job_cancelled",
            Self::Draft => "draft",
            Self::WrongBase => "wrong_base",
            Self::Stacked => "stacked",
            Self::BlockingLabel => "blocking_label",
            Self::ProtectedPath => "protected_path",
            Self::PlanUnreviewed => "plan_unreviewed",
            Self::UnexpectedPush => "unexpected_push",
            Self::Conflict => "conflict",
            Self::ChangesRequested => "changes_requested",
            Self::ApprovalsMissing => "approvals_missing",
            Self::CiNeverStarted => "ci_never_started",
            Self::ChecksFailed => "checks_failed",
            Self::ActionRequired => "action_required",
            Self::TooFewChecks => "too_few_checks",
            Self::RequiredMissing => "required_missing",
            Self::MergeQueue => "merge_queue",
            Self::Forbidden => "forbidden",
            Self::MergeRefused => "merge_refused",
        }
    }

    /// For everybody: what is the case.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::AdoptedMayNotMerge => {
                "Its session was adopted, and people merge what those make here."
            }
            Self::Fork => "Its pull request comes from a fork.",
            Self::NeedsApproval => {
                "People decide what is merged here, and the approval of its head is awaited."
            }
            Self::DailyCap => {
                "As many pull requests were merged here in 24 hours as its source allows."
            }
            Self::SessionFailed => "Its session failed.",
            Self::JobCancelled => "Its job is not followed any more.",
            Self::Draft => "Its pull request is a draft.",
            Self::WrongBase => "Its pull request goes to another branch than its job asked for.",
            Self::Stacked => "Its pull request is part of a stack of pull requests.",
            Self::BlockingLabel => "Its pull request carries a label that forbids merging.",
            Self::ProtectedPath => {
                "It changes files that only people merge, and the approval of its head is awaited."
            }
            Self::PlanUnreviewed => "Its session worked on a plan that no one approved.",
            Self::UnexpectedPush => {
                "Its head holds unexpected changes, and the approval of that is awaited."
            }
            Self::Conflict => "Its pull request conflicts with its base.",
            Self::ChangesRequested => "A reviewer of its pull request wants changes.",
            Self::ApprovalsMissing => "Approvals are missing that the branch rules demand.",
            Self::CiNeverStarted => "No check has appeared on its pull request.",
            Self::ChecksFailed => "Checks of its pull request failed.",
            Self::ActionRequired => {
                "Workflow runs of its pull request wait for approval on GitHub."
            }
            Self::TooFewChecks => {
                "Fewer checks of its pull request succeeded than its source demands."
            }
            Self::RequiredMissing => "Required checks of its pull request have not passed.",
            Self::MergeQueue => {
                "Its base merges through a merge queue, which Gaffer does not use yet."
            }
            Self::Forbidden => "Gaffer may not read all that the merge depends on.",
            Self::MergeRefused => "GitHub refused to merge it.",
        }
    }
}

/// What lasts of the reasons of one judgement.
pub(crate) fn lasting(reasons: &[Reason]) -> Vec<LastingReason> {
    let moves = |it: &Reason| {
        matches!(
            it,
            Reason::NoChecksYet { .. } | Reason::ChecksPending { .. }
        )
    };
    let checks_move = reasons.iter().any(moves);
    let lasts = |it: &Reason| it.lasting(checks_move);
    reasons.iter().filter_map(lasts).collect()
}

impl Reason {
    /// The same for everybody, if it lasts. `checks_move` says whether checks run or may still appear.
    fn lasting(&self, checks_move: bool) -> Option<LastingReason> {
        Some(match self {
            // The checks that are awaited may be those that are missing.
            Self::TooFewChecks { .. } | Self::RequiredMissing { .. } if checks_move => return None,
            Self::TooFewChecks { .. } => LastingReason::TooFewChecks,
            Self::RequiredMissing { .. } => LastingReason::RequiredMissing,
            Self::AdoptedMayNotMerge => LastingReason::AdoptedMayNotMerge,
            Self::Fork => LastingReason::Fork,
            Self::NeedsApproval => LastingReason::NeedsApproval,
            Self::DailyCap { .. } => LastingReason::DailyCap,
            Self::SessionFailed => LastingReason::SessionFailed,
            Self::JobCancelled => LastingReason::JobCancelled,
            Self::Draft => LastingReason::Draft,
            Self::WrongBase { .. } => LastingReason::WrongBase,
            Self::Stacked { .. } => LastingReason::Stacked,
            Self::BlockingLabel { .. } => LastingReason::BlockingLabel,
            Self::ProtectedPath { .. } => LastingReason::ProtectedPath,
            Self::PlanUnreviewed => LastingReason::PlanUnreviewed,
            Self::UnexpectedPush { .. } => LastingReason::UnexpectedPush,
            Self::Conflict => LastingReason::Conflict,
            Self::ChangesRequested => LastingReason::ChangesRequested,
            Self::ApprovalsMissing { .. } => LastingReason::ApprovalsMissing,
            Self::CiNeverStarted { .. } => LastingReason::CiNeverStarted,
            Self::ChecksFailed { .. } => LastingReason::ChecksFailed,
            Self::ActionRequired { .. } => LastingReason::ActionRequired,
            Self::MergeQueue => LastingReason::MergeQueue,
            Self::Forbidden { .. } => LastingReason::Forbidden,
            Self::MergeRefused { until: None, .. } => LastingReason::MergeRefused,
            // They pass by themselves, its delivery tells them or has none, or they are pauses: nothing is told during those.
            Self::NotOurs
            | Self::Closed
            | Self::AlreadyMerged
            | Self::DeliveryNotInVerify { .. }
            | Self::VerdictOfAnotherHead
            | Self::Collected { .. }
            | Self::Woven { .. }
            | Self::MailUncollected
            | Self::MailUnreadable
            | Self::TakenBack
            | Self::SprintOver
            | Self::Paused
            | Self::ObserveOnly
            | Self::SessionWorking
            | Self::MergeableUnknown
            | Self::NoChecksYet { .. }
            | Self::ChecksPending { .. }
            | Self::Behind { .. }
            | Self::Unknown { .. }
            | Self::FactsStale
            | Self::MergeRefused { until: Some(_), .. }
            | Self::MergeThrottled { .. }
            | Self::Settling { .. } => return None,
        })
    }
}
