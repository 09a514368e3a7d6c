//! Which reasons are announced, and after how long: what passes by itself wakes no one. What else they say of a pull request.

use jiff::{SignedDuration, Timestamp};

use super::reason::Reason;
use crate::ids::SprintNumber;
use crate::policy::Timing;

/// Whether a reason is announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnnounceWhen {
    /// It will not pass by itself.
    Now,
    /// If it has lasted this long.
    Later(SignedDuration),
    /// While it holds, things move by themselves, and the other reasons may go with it.
    Moves,
    /// It is known already: a person or an agent decided it, or another event announced it.
    Known,
}

/// A check that runs for longer hangs: as long as GitHub lets a job run on its own machines.
const CHECKS_HANG_AFTER: SignedDuration = SignedDuration::from_hours(6);

impl Reason {
    /// Whether things move by themselves while it holds.
    pub(crate) fn moves(&self) -> bool {
        let telling = self.announce_when(SignedDuration::ZERO, &Timing::default());
        telling == AnnounceWhen::Moves
    }

    /// Whether and when the reason is announced.
    pub(crate) fn announce_when(&self, lasts: SignedDuration, timing: &Timing) -> AnnounceWhen {
        let after = |wait: SignedDuration| {
            if lasts >= wait {
                AnnounceWhen::Now
            } else {
                AnnounceWhen::Later(wait)
            }
        };
        match self {
            Self::WrongBase { .. }
            | Self::Stacked { .. }
            | Self::ProtectedPath { .. }
            | Self::ActionRequired { .. }
            | Self::MergeQueue
            | Self::MailUnreadable
            | Self::Forbidden { .. } => AnnounceWhen::Now,
            Self::Draft
            | Self::MergeableUnknown
            | Self::ChangesRequested
            | Self::ApprovalsMissing { .. }
            | Self::TooFewChecks { .. }
            | Self::RequiredMissing { .. }
            | Self::Unknown { .. }
            | Self::ChecksFailed {
                others_pending: false,
                ..
            }
            | Self::Conflict => after(timing.stuck_after),
            Self::ChecksPending { .. } if lasts >= CHECKS_HANG_AFTER => AnnounceWhen::Now,
            Self::ChecksPending { .. }
            | Self::ChecksFailed {
                others_pending: true,
                ..
            }
            | Self::DailyCap { .. }
            | Self::DeliveryNotInVerify { .. }
            | Self::VerdictOfAnotherHead
            | Self::Woven { .. }
            | Self::MailUncollected
            | Self::SessionWorking
            | Self::NoChecksYet { .. }
            | Self::Behind { .. }
            | Self::FactsStale
            | Self::MergeRefused { until: Some(_), .. }
            | Self::MergeThrottled { .. }
            | Self::Settling { .. } => AnnounceWhen::Moves,
            Self::NotOurs
            | Self::AdoptedMayNotMerge
            | Self::Fork
            | Self::Closed
            | Self::AlreadyMerged
            | Self::NeedsApproval
            | Self::Collected { .. }
            | Self::TakenBack
            | Self::SprintOver
            | Self::PlanUnreviewed
            | Self::UnexpectedPush { .. }
            | Self::Paused
            | Self::ObserveOnly
            | Self::SessionFailed
            | Self::JobCancelled
            | Self::BlockingLabel { .. }
            | Self::CiNeverStarted { .. }
            | Self::MergeRefused { until: None, .. } => AnnounceWhen::Known,
        }
    }
}

impl Reason {
    /// Whether its delivery holds the merge, and not the pull request itself.
    pub fn is_of_delivery(&self) -> bool {
        matches!(
            self,
            Self::DeliveryNotInVerify { .. } | Self::VerdictOfAnotherHead | Self::Collected { .. }
        )
    }

    /// The sprint that weaves it into one pull request with others.
    pub(crate) fn woven_by(&self) -> Option<SprintNumber> {
        if let Self::Woven { sprint } = self {
            return Some(*sprint);
        }
        None
    }

    /// Whether a head stays green in spite of it: it says nothing about the head, only whether and when Gaffer may merge.
    pub(crate) fn leaves_green(&self) -> bool {
        match self {
            Self::AdoptedMayNotMerge
            | Self::NeedsApproval
            | Self::DeliveryNotInVerify { .. }
            | Self::VerdictOfAnotherHead
            | Self::Woven { .. }
            | Self::MailUncollected
            | Self::MailUnreadable
            | Self::TakenBack
            | Self::SprintOver
            | Self::ProtectedPath { .. }
            | Self::PlanUnreviewed
            | Self::UnexpectedPush { .. }
            | Self::Paused
            | Self::ObserveOnly
            | Self::DailyCap { .. }
            | Self::FactsStale
            | Self::MergeRefused { .. }
            | Self::MergeThrottled { .. }
            | Self::Settling { .. } => true,
            Self::NotOurs
            | Self::Fork
            | Self::Closed
            | Self::AlreadyMerged
            // Nothing else of it is judged.
            | Self::Collected { .. }
            | Self::SessionWorking
            | Self::SessionFailed
            | Self::JobCancelled
            | Self::Draft
            | Self::WrongBase { .. }
            | Self::Stacked { .. }
            | Self::BlockingLabel { .. }
            | Self::MergeableUnknown
            | Self::Conflict
            | Self::ChangesRequested
            | Self::ApprovalsMissing { .. }
            | Self::NoChecksYet { .. }
            | Self::CiNeverStarted { .. }
            | Self::ChecksPending { .. }
            | Self::ChecksFailed { .. }
            | Self::ActionRequired { .. }
            | Self::TooFewChecks { .. }
            | Self::RequiredMissing { .. }
            | Self::Behind { .. }
            | Self::MergeQueue
            | Self::Forbidden { .. }
            | Self::Unknown { .. } => false,
        }
    }

    /// Whether it passes by itself within moments, so that a pull request without any other reason keeps its turn to merge.
    pub(crate) fn is_brief(&self) -> bool {
        matches!(
            self,
            Self::Settling { .. } | Self::MergeThrottled { .. } | Self::MergeableUnknown
        )
    }

    /// When it passes, if that is known.
    pub fn until(&self) -> Option<Timestamp> {
        if let Self::NoChecksYet { until }
        | Self::Settling { until }
        | Self::MergeThrottled { until, .. } = self
        {
            return Some(*until);
        }
        if let Self::MergeRefused { until, .. } | Self::DailyCap { until, .. } = self {
            return *until;
        }
        None
    }
}
