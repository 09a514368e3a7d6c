//! How far the checks of a head are, as its last judgement tells.

use serde::{Deserialize, Serialize};

use crate::event::ErrorCause;
use crate::ids::CommitSha;
use crate::merge::{Judgement, LastingReason, MergeInput, Reason, lasting};
use crate::pull::{Alarm, Pull};

/// How far the checks of a head are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checks {
    /// They have not been read, or could not be.
    Unknown,
    /// None has appeared, and it is early.
    Awaited,
    /// None has appeared, and it is late.
    Missing,
    /// Some run.
    Running,
    /// All have passed.
    Passed,
    /// Some failed, and the session is asked to repair them.
    Failed,
    /// Some failed, and no more repair is requested.
    GivenUp,
}

impl Checks {
    /// Whether a reviewer may be called: nothing runs, and nothing failed.
    pub fn are_settled(self) -> bool {
        match self {
            Self::Passed | Self::Missing => true,
            Self::Unknown | Self::Awaited | Self::Running | Self::Failed | Self::GivenUp => false,
        }
    }

    /// Whether checks of the head have appeared.
    pub fn have_appeared(self) -> bool {
        match self {
            Self::Running | Self::Passed | Self::Failed | Self::GivenUp => true,
            Self::Unknown | Self::Awaited | Self::Missing => false,
        }
    }
}

/// The last judgement of the present head.
fn judgement(pull: &Pull) -> Option<&Judgement> {
    let of_head = |sha: &CommitSha| pull.head.as_ref().is_some_and(|head| head.sha == *sha);
    let verdict = pull.verdict.as_ref().filter(|it| of_head(&it.sha))?;
    Some(&verdict.judgement)
}

/// Why the present head is not merged, by the last judgement of it; `None` before there is one.
fn reasons(pull: &Pull) -> Option<&[Reason]> {
    let reasons: &[Reason] = match judgement(pull)? {
        Judgement::Merge { .. } => &[],
        // It is only a conflict when nothing else stands in the way.
        Judgement::Conflict { .. } => &[],
        Judgement::Wait { reasons, .. } | Judgement::Refuse { reasons } => reasons,
    };
    Some(reasons)
}

/// What lasts of that which keeps the present head from being merged, by the last judgement of it.
pub(super) fn held_by(pull: &Pull) -> Vec<LastingReason> {
    match judgement(pull) {
        Some(Judgement::Conflict { .. }) => vec![LastingReason::Conflict],
        Some(Judgement::Wait { reasons, .. } | Judgement::Refuse { reasons }) => lasting(reasons),
        Some(Judgement::Merge { .. }) | None => Vec::new(),
    }
}

/// Whether nothing but an approval of the present head keeps it from being merged.
pub(super) fn lacks_approval(pull: &Pull) -> bool {
    reasons(pull).is_some_and(|reasons| *reasons == [Reason::NeedsApproval])
}

/// How far the checks of the present head are, by the last judgement of it.
pub(super) fn checks(pull: &Pull) -> Checks {
    let Some(reasons) = reasons(pull) else {
        return Checks::Unknown;
    };
    let has = |is: fn(&Reason) -> bool| reasons.iter().any(is);
    // It is told of one head only: the repairs that there are for a pull request are used up by then.
    let is_ci = |alarm: &Alarm| alarm.cause == ErrorCause::CiFailed;
    let is_given_up = pull.alarms.iter().any(is_ci);
    if has(|it| matches!(it, Reason::ChecksFailed { .. })) {
        return if is_given_up {
            Checks::GivenUp
        } else {
            Checks::Failed
        };
    }
    if has(|it| {
        matches!(
            it,
            Reason::ChecksPending { .. } | Reason::ActionRequired { .. }
        )
    }) {
        return Checks::Running;
    }
    if has(is_unread) {
        return Checks::Unknown;
    }
    if has(|it| matches!(it, Reason::CiNeverStarted { .. })) {
        return Checks::Missing;
    }
    if has(|it| matches!(it, Reason::NoChecksYet { .. })) {
        return Checks::Awaited;
    }
    Checks::Passed
}

/// Whether a judgement was made without the checks.
fn is_unread(reason: &Reason) -> bool {
    let is_checks = |what: &MergeInput| *what == MergeInput::Checks;
    matches!(reason, Reason::NotOurs | Reason::Collected { .. })
        || matches!(reason, Reason::Unknown { what, .. } | Reason::Forbidden { what, .. } if is_checks(what))
}
