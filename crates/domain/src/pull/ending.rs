//! How a pull request ends: merged, or closed for so long that a reopening is unlikely.

use jiff::{SignedDuration, Timestamp};

use super::alarm::raise;
use super::checks::keep_verdict;
use super::context::{PullContext, is_ours};
use super::{Alarm, Pull, PullPhase};
use crate::effect::{Action, PullAction};
use crate::event::ErrorCause;
use crate::facts::{PullFacts, PullState};
use crate::merge::{Judgement, Reason};
use crate::policy::Policy;
use crate::step::{FollowUp, Step};
use crate::when::plus;

/// A closed pull request counts as given up after this: closing and reopening is how people restart its checks.
pub const REOPEN_WAIT: SignedDuration = SignedDuration::from_mins(10);

/// How often it is read until then: who reopened it waits for what follows.
const LOOK_CLOSED: SignedDuration = SignedDuration::from_mins(2);

/// Whether it has been closed long enough to count as given up.
pub(super) fn is_given_up(pull: &Pull, now: Timestamp) -> bool {
    match &pull.phase {
        PullPhase::Closed { since, .. } => now.duration_since(*since) >= REOPEN_WAIT,
        PullPhase::Open | PullPhase::Merging { .. } | PullPhase::Settled { .. } => false,
    }
}

/// It is closed, and may be reopened: drops the state of its head.
pub(super) fn closed(step: &mut Step<Pull>, facts: &PullFacts, now: Timestamp) {
    let pull = &mut step.aggregate;
    let since = match &pull.phase {
        PullPhase::Closed { since, .. } => *since,
        PullPhase::Open | PullPhase::Merging { .. } | PullPhase::Settled { .. } => now,
    };
    pull.phase = PullPhase::Closed {
        sha: facts.head.sha.clone(),
        since,
    };
    pull.green = None;
    pull.ready = None;
    // Who reopens it wants it open.
    pull.closing = None;
    let reasons = vec![Reason::Closed];
    keep_verdict(pull, facts, Judgement::Refuse { reasons }, now);
    step.due = Some(plus(since, REOPEN_WAIT).min(plus(now, LOOK_CLOSED)));
}

/// It is merged, or closed permanently: informs the job, and deletes a merged branch, after a pause if there is one.
pub(super) fn settled(
    step: &mut Step<Pull>,
    facts: &PullFacts,
    outside: &PullContext,
    policy: &Policy,
    now: Timestamp,
) {
    let merged = matches!(facts.state, PullState::Merged { .. });
    let (mut astray, mut by_us) = (false, false);
    if let PullPhase::Merging { sha, .. } = &step.aggregate.phase {
        by_us = *sha == facts.head.sha;
    }
    if let PullPhase::Merging { base, .. } = &step.aggregate.phase {
        // The base can change between the judgement and the merge; GitHub's merge call does not pin it.
        astray = merged && base.branch != facts.base.branch;
        if astray {
            let reason = format!(
                "{} was judged for `{}` but merged into `{}`",
                facts.pull, base.branch, facts.base.branch
            );
            let alarm = Alarm {
                cause: ErrorCause::WrongBase,
                sha: facts.head.sha.clone(),
            };
            raise(step, outside, alarm, reason, now);
        }
    }
    let pull = &mut step.aggregate;
    pull.phase = PullPhase::Settled {
        state: facts.state.clone(),
        sha: facts.head.sha.clone(),
        at: now,
        by: facts.merged_by.clone().filter(|_| merged && !by_us),
    };
    pull.green = None;
    pull.ready = None;
    step.follow_ups.push(FollowUp::Job(pull.job.clone()));
    let wished = pull.style_of(&facts.head.sha).delete_branch;
    let goes = policy.delete_branch && wished != Some(false);
    if merged && !astray && goes && is_ours(facts, outside) {
        step.effects.push(Action::Pull(PullAction::DeleteBranch {
            repo: facts.pull.repo.clone(),
            branch: facts.head.branch.clone(),
            sha: facts.head.sha.clone(),
        }));
    }
}
