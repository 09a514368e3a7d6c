//! Webhooks about running checks: reasons to read a pull request now, or to leave it alone while nothing can be decided.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Pull, PullPhase};
use crate::facts::{CheckOutcome, PullFacts};
use crate::ids::CommitSha;
use crate::merge::{Judgement, Reason};
use crate::policy::Timing;
use crate::when::plus;

/// While webhooks report its checks, a waiting pull request is read this many times less often.
const HINTED_SLOWER: i32 = 3;

/// How long after the last webhook about a check the next one is expected: longer than most checks run.
const HINTS_LAST: SignedDuration = SignedDuration::from_mins(10);

/// A pull request that is younger than this at its first webhook has only just got its checks.
const YOUNG: SignedDuration = SignedDuration::from_secs(15);

/// Clues to missing checks are read this much before they are first asked for: a reading is a little older than its judgement.
const CLUES_AHEAD: SignedDuration = SignedDuration::from_secs(30);

/// The news in a webhook. It may come late, twice or never: it moves the next reading, and nothing else depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryHint {
    /// Anything but the following.
    #[default]
    Changed,
    /// One check began.
    CheckBegan,
    /// One check ended.
    CheckEnded,
    /// Checks were asked for or go on, or a branch was pushed: nothing ended.
    UnderWay,
    /// A pull request got another head.
    Pushed,
    /// All checks of one suite ended; where webhooks report single checks, each of them did.
    SuiteEnded,
}

impl DeliveryHint {
    /// Whether it is about the pull request itself, and not only about its checks.
    pub fn is_of_the_pull(self) -> bool {
        match self {
            Self::Changed | Self::Pushed => true,
            Self::CheckBegan | Self::CheckEnded | Self::UnderWay | Self::SuiteEnded => false,
        }
    }
}

/// Check results from webhooks since the last reading.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HintState {
    /// How many checks still run, if known: counted at a reading, and updated by webhooks.
    pub running: Option<u32>,
    /// Time of the last webhook about a check.
    pub at: Option<Timestamp>,
}

impl HintState {
    /// Whether it is empty.
    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// What to do about news.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HintDecision {
    /// Read now.
    Look,
    /// Nothing can be decided yet: record this, and the next reading may wait.
    Wait(HintState),
}

/// Weighs a webhook about a pull request of ours.
///
/// A merge waits for all checks, so the end of one among several decides nothing. A wrong count costs one reading too
/// many, or waits for the next regular reading.
pub fn weigh_hint(
    pull: &Pull,
    news: DeliveryHint,
    told: Option<&CommitSha>,
    now: Timestamp,
) -> HintDecision {
    if !awaits_checks(pull) {
        return HintDecision::Look;
    }
    let known = pull.hints.running;
    // A push of the head that we already have brings nothing new.
    let is_known = news == DeliveryHint::Pushed && told.is_some_and(|sha| is_at(pull, sha));
    let running = match if is_known {
        DeliveryHint::UnderWay
    } else {
        news
    } {
        // One of which only the outline was read is read whole soon.
        DeliveryHint::Changed if pull.verdict.is_none() => {
            return HintDecision::Wait(pull.hints.clone());
        }
        DeliveryHint::Changed | DeliveryHint::Pushed => return HintDecision::Look,
        DeliveryHint::CheckBegan => Some(known.unwrap_or(0).saturating_add(1)),
        DeliveryHint::UnderWay => known,
        DeliveryHint::CheckEnded => match known {
            Some(running) if running > 1 => Some(running.saturating_sub(1)),
            Some(_) | None => return HintDecision::Look,
        },
        DeliveryHint::SuiteEnded => match known {
            Some(running) if running > 0 => Some(running),
            Some(_) | None => return HintDecision::Look,
        },
    };
    let at = Some(now);
    HintDecision::Wait(HintState { running, at })
}

/// Whether nothing about it can be decided before its checks have ended: they run, or it was not judged at all since
/// it had just been opened.
fn awaits_checks(pull: &Pull) -> bool {
    let open = matches!(pull.phase, PullPhase::Open);
    let judged = pull.verdict.as_ref();
    open && (is_only_seen(pull) || judged.is_some_and(|it| says_they_run(&it.judgement)))
}

fn says_they_run(judgement: &Judgement) -> bool {
    let running = |reason: &Reason| {
        matches!(
            reason,
            Reason::ChecksPending { .. } | Reason::NoChecksYet { .. }
        )
    };
    judgement.reasons().iter().any(running)
}

/// Whether a reading that a job requests can be left to the due one: so far only its outline was read, and it is read
/// whole soon.
pub fn is_only_seen(pull: &Pull) -> bool {
    matches!(pull.phase, PullPhase::Open) && pull.head.is_some() && pull.verdict.is_none()
}

/// Whether a webhook says that it was just pushed to: checks of that head can hardly have ended, so a reading that
/// finds an unknown head can stop at the outline.
pub fn is_just_pushed(
    pull: &Pull,
    news: DeliveryHint,
    told: Option<&CommitSha>,
    received_at: Timestamp,
    now: Timestamp,
) -> bool {
    let open = matches!(pull.phase, PullPhase::Open) && pull.head.is_some();
    let another = told.is_none_or(|sha| !is_at(pull, sha));
    open && another && news == DeliveryHint::Pushed && is_young(received_at, now)
}

/// Whether this is its last known head.
pub fn is_at(pull: &Pull, sha: &CommitSha) -> bool {
    pull.head.as_ref().is_some_and(|head| head.sha == *sha)
}

/// A head that was only seen to be there takes the place of the one that was judged, whose checks are no longer waited for.
pub(super) fn see_new_head(pull: &mut Pull, facts: &PullFacts) {
    if !is_at(pull, &facts.head.sha) {
        pull.verdict = None;
        pull.hints.running = None;
    }
}

/// When to read it again while webhooks report its checks. A reading that was brought forward keeps its time.
pub fn unhurried(due: Timestamp, read_at: Timestamp, timing: &Timing) -> Timestamp {
    if due < plus(read_at, timing.pull_poll) {
        return due;
    }
    due.max(plus(
        read_at,
        timing.pull_poll.saturating_mul(HINTED_SLOWER),
    ))
}

/// How long it may go unread while its checks run.
pub(super) fn patience(
    pull: &Pull,
    judgement: &Judgement,
    timing: &Timing,
    now: Timestamp,
) -> SignedDuration {
    let told = |at: Timestamp| now.duration_since(at) <= HINTS_LAST;
    if says_they_run(judgement) && pull.hints.at.is_some_and(told) {
        timing.pull_poll.saturating_mul(HINTED_SLOWER)
    } else {
        timing.pull_poll
    }
}

/// Counts running checks from a reading.
pub(super) fn count_checks(pull: &mut Pull, facts: &PullFacts) {
    let pending = |check: &&crate::facts::Check| check.outcome == CheckOutcome::Pending;
    pull.hints.running = facts.checks.known().map(|checks| {
        let running = checks.iter().filter(pending).count();
        u32::try_from(running).unwrap_or(u32::MAX)
    });
}

/// Whether a pull request that was opened then has only just got its checks.
pub fn is_young(opened_at: Timestamp, now: Timestamp) -> bool {
    now.duration_since(opened_at) < YOUNG
}

/// Whether its head is so old that missing checks need an explanation.
pub fn wants_clues(pull: &Pull, timing: &Timing, now: Timestamp) -> bool {
    let since = pull.head.as_ref().map(|head| head.since);
    since.is_some_and(|since| plus(now, CLUES_AHEAD).duration_since(since) >= timing.ci_start)
}

/// A pull request of the same number in another repository, which bears the name now, is nothing to us.
pub(super) fn is_the_same(pull: &Pull, facts: &PullFacts) -> bool {
    pull.repo_id.is_none_or(|id| id == facts.repo.id)
}

#[cfg(test)]
mod tests {
    use super::DeliveryHint;

    #[test]
    fn news_of_checks_alone_is_not_about_the_pull_request_itself() {
        for (news, of_the_pull) in [
            (DeliveryHint::Changed, true),
            (DeliveryHint::Pushed, true),
            (DeliveryHint::CheckBegan, false),
            (DeliveryHint::CheckEnded, false),
            (DeliveryHint::UnderWay, false),
            (DeliveryHint::SuiteEnded, false),
        ] {
            assert_eq!(news.is_of_the_pull(), of_the_pull, "{news:?}");
        }
    }
}
