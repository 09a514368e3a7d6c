//! When a pull request is read again if nothing announces a change.

use jiff::{SignedDuration, Timestamp};

use super::{Pull, hint};
use crate::merge::{Judgement, Reason};
use crate::policy::Timing;
use crate::when::plus;

/// After a merge call, the pull request is read back this soon.
pub(super) const READ_BACK: SignedDuration = SignedDuration::from_secs(10);

/// A pull request that only a person can move is read this many times less often.
const REFUSED_SLOWER: i32 = 5;

/// GitHub works out within seconds whether a pull request conflicts: it is read again this soon, then less and less often.
const MERGEABLE_AGAIN: SignedDuration = SignedDuration::from_secs(3);

/// One whose job is over is left to people, who may leave it open for ever: it is read less and less often, at last this often.
const LEFT_AGAIN_MAX: SignedDuration = SignedDuration::from_hours(24);

/// How long it may go unread. What takes long, or is left to people, is read the less often the longer it stays the same.
pub(super) fn patience(
    pull: &Pull,
    judgement: &Judgement,
    timing: &Timing,
    now: Timestamp,
) -> SignedDuration {
    let usual = hint::patience(pull, judgement, timing, now);
    let last = pull.verdict.as_ref();
    let same = last.filter(|last| last.judgement == *judgement && hint::is_at(pull, &last.sha));
    let lasts = same.map_or(SignedDuration::ZERO, |last| now.duration_since(last.at));
    if is_left(judgement) && pull.closing.is_none() {
        return lasts.min(LEFT_AGAIN_MAX).max(refused(timing));
    }
    match judgement.reasons() {
        [Reason::MergeableUnknown] => lasts.max(MERGEABLE_AGAIN).min(usual),
        _ => usual,
    }
}

/// Whether its job is over, so that Gaffer does nothing about it.
fn is_left(judgement: &Judgement) -> bool {
    judgement.reasons().contains(&Reason::JobCancelled)
}

fn refused(timing: &Timing) -> SignedDuration {
    timing.pull_poll.saturating_mul(REFUSED_SLOWER)
}

/// When to read it again if nothing announces a change.
pub(super) fn next_look(
    judgement: &Judgement,
    timing: &Timing,
    patience: SignedDuration,
    now: Timestamp,
) -> Timestamp {
    let poll = plus(now, patience);
    match judgement {
        Judgement::Merge { .. } => plus(now, READ_BACK),
        Judgement::Conflict { .. } => poll,
        Judgement::Wait { until, .. } => until.map_or(poll, |until| until.min(poll).max(now)),
        Judgement::Refuse { reasons } => {
            let repairable =
                |reason: &Reason| matches!(reason, Reason::ChecksFailed { .. } | Reason::Conflict);
            if reasons.iter().any(repairable) || is_left(judgement) {
                poll
            } else {
                plus(now, refused(timing))
            }
        }
    }
}
