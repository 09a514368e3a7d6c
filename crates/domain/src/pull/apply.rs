//! Facts and outcomes → settle, repair, merge or give up.

use jiff::{SignedDuration, Timestamp};

use super::approval::as_wished;
use super::checks::keep_verdict;
use super::closing;
use super::context::{PullContext, may_write};
use super::ending;
use super::hint;
use super::next_look::{READ_BACK, next_look, patience};
use super::repair;
use super::unexpected;
use super::{Pull, PullPhase, Ready, RefusedMerge, SeenHead};
use crate::effect::{Action, PullAction, exponential_backoff};
use crate::facts::{PullFacts, PullState, ReadDepth};
use crate::failure::{Failure, FailureClass};
use crate::ids::CommitSha;
use crate::merge::{
    self, Judgement, MergeContext, MergeRefusals, Owner, Reason, SessionStatus, Weight,
};
use crate::policy::{MergeMethod, Policy, Timing};
use crate::redact::presentable;
use crate::step::Step;
use crate::when::plus;

/// Longest wait before a refused merge is tried again.
const REFUSED_WAIT_MAX: SignedDuration = SignedDuration::from_mins(10);

/// Longest refusal that is kept, in characters.
const REFUSAL_CHARS_MAX: usize = 200;

/// An input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullInput {
    /// GitHub was read.
    Facts(Box<PullFacts>, Box<PullContext>),
    /// The merge call succeeded.
    Merged {
        /// The commit on the base branch.
        commit: CommitSha,
    },
    /// The merge call certainly failed.
    MergeFailed(Failure),
}

/// Decides what an input means. A settled pull request stays unchanged.
pub fn apply(
    pull: &Pull,
    input: &PullInput,
    now: Timestamp,
    policy: &Policy,
    timing: &Timing,
) -> Step<Pull> {
    let mut step = Step::unchanged(pull.clone());
    if pull.is_settled() {
        return step;
    }
    if let (PullInput::Facts(facts, _), None) = (input, pull.repo_id) {
        step.aggregate.repo_id = Some(facts.repo.id);
    }
    match input {
        PullInput::Facts(facts, _) if !hint::is_the_same(pull, facts) => {
            // Another repository took the name: nothing of ours may act on it.
            let reasons = vec![Reason::NotOurs];
            let judgement = Judgement::Refuse { reasons };
            step.due = Some(next_look(&judgement, timing, timing.pull_poll, now));
            keep_verdict(&mut step.aggregate, facts, judgement, now);
        }
        PullInput::Facts(facts, outside) => match facts.state {
            PullState::Open if facts.depth == ReadDepth::Outline => {
                hint::see_new_head(&mut step.aggregate, facts);
                see_head(&mut step.aggregate, facts, now);
                step.due = Some(plus(now, timing.pull_poll));
            }
            PullState::Open => {
                let matter = repair::RepairContext {
                    facts,
                    outside,
                    policy,
                    timing,
                    now,
                };
                open(&mut step, &matter);
            }
            PullState::Closed if !ending::is_given_up(pull, now) => {
                ending::closed(&mut step, facts, now);
            }
            PullState::Closed | PullState::Merged { .. } => {
                ending::settled(&mut step, facts, outside, policy, now);
            }
        },
        // GitHub's answer is no evidence: the pull request is read back.
        PullInput::Merged { .. } => step.due = Some(now),
        PullInput::MergeFailed(failure) => merge_failed(&mut step, failure, now),
    }
    step
}

/// A merge that certainly did not happen: the pull request is read back, and the same head is tried again later, a few times.
///
/// One that GitHub's budget does not allow yet counts as no attempt, and nothing is read before it may be sent.
fn merge_failed(step: &mut Step<Pull>, failure: &Failure, now: Timestamp) {
    let pull = &mut step.aggregate;
    let is_throttled = failure.class == FailureClass::Throttled;
    let throttled = failure.asked_wait().filter(|_| is_throttled);
    let tried = match &pull.phase {
        PullPhase::Merging { sha, .. } => Some(sha.clone()),
        PullPhase::Open | PullPhase::Closed { .. } | PullPhase::Settled { .. } => {
            pull.head.as_ref().map(|head| head.sha.clone())
        }
    };
    if let Some(sha) = tried {
        let before = pull.refused.take().filter(|before| before.sha == sha);
        let before = before.map_or(0, |before| before.refused.attempts);
        let attempts = before.saturating_add(u32::from(throttled.is_none()));
        let growing = exponential_backoff(attempts.saturating_add(2), REFUSED_WAIT_MAX);
        let refused = MergeRefusals {
            why: presentable(&failure.message, REFUSAL_CHARS_MAX),
            attempts,
            again_at: plus(now, failure.asked_wait().unwrap_or(growing)),
        };
        pull.refused = Some(RefusedMerge { sha, refused });
    }
    pull.phase = PullPhase::Open;
    step.due = Some(plus(now, throttled.unwrap_or(READ_BACK)));
}

fn open(step: &mut Step<Pull>, matter: &repair::RepairContext<'_>) {
    let repair::RepairContext {
        facts,
        outside,
        policy,
        timing,
        now,
    } = *matter;
    if outside.merge_unsettled {
        // Its outcome is being found out; a decision now could contradict it.
        step.due = Some(plus(now, READ_BACK));
        return;
    }
    see_head(&mut step.aggregate, facts, now);
    hint::count_checks(&mut step.aggregate, facts);
    unexpected::see(step, facts, outside, now);
    step.aggregate.see_for_delivery(facts, outside);
    let context = context(&step.aggregate, facts, outside, now);
    let judged = merge::judge(facts, &context, policy, timing, now);
    let judgement = as_wished(judged, &step.aggregate, policy);
    keep_green(&mut step.aggregate, facts, &judgement, now);
    step.aggregate.ready = ready(&step.aggregate, facts, &judgement, timing);
    step.aggregate.phase = PullPhase::Open;
    let poll = patience(&step.aggregate, &judgement, timing, now);
    step.due = Some(next_look(&judgement, timing, poll, now));
    if step.aggregate.closing.is_some() {
        closing::carry_out(step, facts, outside);
    } else if let Judgement::Merge { sha, method } = &judgement {
        merge_now(step, facts, sha.clone(), *method, now);
    } else if may_write(facts, outside) && !is_stale(&judgement) {
        help_along(step, facts, outside, judgement.reasons());
        // A pull request of our own has one commit, and any other is not ours. What is woven stays as its session left it.
        if outside.owner != Owner::Gaffer && !outside.is_left_as_is() {
            repair::catch_up(step, matter, judgement.reasons());
        }
        repair::repair(step, matter, &judgement);
    }
    keep_verdict(&mut step.aggregate, facts, judgement, now);
}

/// Whether it lacks nothing but time and its turn to merge, and from when on it may be merged.
fn ready(pull: &Pull, facts: &PullFacts, judgement: &Judgement, timing: &Timing) -> Option<Ready> {
    let brief = match judgement {
        Judgement::Merge { .. } => true,
        Judgement::Wait { reasons, .. } => reasons.iter().all(Reason::is_brief),
        Judgement::Refuse { .. } | Judgement::Conflict { .. } => false,
    };
    let head = pull.head.as_ref().filter(|_| brief)?;
    let throttled = pull
        .refused
        .as_ref()
        .map(|refused| refused.refused.again_at);
    let settled = plus(head.since, timing.settle);
    Some(Ready {
        base: facts.base.branch.clone(),
        from: throttled.map_or(settled, |at| at.max(settled)),
    })
}

/// Whether the reading is too old to write anything.
fn is_stale(judgement: &Judgement) -> bool {
    judgement.reasons().contains(&Reason::FactsStale)
}

/// Notes a new head. Its checks start when it is pushed, and again when a draft is marked ready or a closed pull
/// request is reopened.
fn see_head(pull: &mut Pull, facts: &PullFacts, now: Timestamp) {
    let sha = &facts.head.sha;
    let was_draft = pull
        .verdict
        .as_ref()
        .is_some_and(|last| last.judgement.reasons().contains(&Reason::Draft));
    let was_closed = matches!(pull.phase, PullPhase::Closed { .. });
    let starts_again = was_closed || (was_draft && !facts.draft);
    if starts_again || pull.head.as_ref().is_none_or(|seen| seen.sha != *sha) {
        pull.head = Some(SeenHead {
            sha: sha.clone(),
            since: now,
        });
    }
    pull.failing = pull.failing.take().filter(|seen| seen.sha == *sha);
    pull.refused = pull.refused.take().filter(|refused| refused.sha == *sha);
    pull.green = pull.green.take().filter(|seen| seen.sha == *sha);
}

fn context(pull: &Pull, facts: &PullFacts, outside: &PullContext, now: Timestamp) -> MergeContext {
    MergeContext {
        owner: outside.owner,
        session: outside.session,
        wanted_base: outside.wanted_base.clone(),
        approved: pull.approval.as_ref().map(|approval| approval.sha.clone()),
        gate: outside.gate.clone(),
        sprint_gate: outside.sprint_gate,
        plan_unreviewed: outside.plan_unreviewed,
        unexpected: unexpected::of_head(pull, facts, outside),
        head_since: pull.head.as_ref().map_or(now, |seen| seen.since),
        refused: pull.refused.as_ref().map(|refused| refused.refused.clone()),
        merges_today: outside.merges_today,
        merge_day_ends: outside.merge_day_ends,
        hold: outside.hold,
    }
}

/// Green lasts while nothing about the head speaks against a merge; an old reading begins no green.
fn keep_green(pull: &mut Pull, facts: &PullFacts, judgement: &Judgement, now: Timestamp) {
    let conflicts = matches!(judgement, Judgement::Conflict { .. });
    if conflicts || !judgement.reasons().iter().all(Reason::leaves_green) {
        pull.green = None;
    } else if pull.green.is_none() && !is_stale(judgement) {
        pull.green = Some(SeenHead {
            sha: facts.head.sha.clone(),
            since: now,
        });
    }
}

fn merge_now(
    step: &mut Step<Pull>,
    facts: &PullFacts,
    sha: CommitSha,
    method: MergeMethod,
    now: Timestamp,
) {
    let base = facts.base.clone();
    // A rebase keeps the titles of its commits.
    let title = step.aggregate.style_of(&sha).title;
    let title = title.filter(|_| method != MergeMethod::Rebase);
    step.aggregate.phase = PullPhase::Merging {
        sha: sha.clone(),
        base: base.clone(),
        since: now,
    };
    step.effects.push(Action::Pull(PullAction::Merge {
        pull: facts.pull.clone(),
        sha,
        base,
        method,
        title,
    }));
}

/// Removes two obstacles by itself: a draft whose session rests, and a branch that lacks nothing but its base.
fn help_along(step: &mut Step<Pull>, facts: &PullFacts, outside: &PullContext, reasons: &[Reason]) {
    let asks_approval =
        |reason: &Reason| matches!(reason, Reason::NeedsApproval | Reason::ProtectedPath { .. });
    let passes = |reason: &Reason| reason.weight() == Weight::Wait || asks_approval(reason);
    if facts.draft && outside.session == SessionStatus::Resting && reasons.iter().all(passes) {
        step.effects.push(Action::Pull(PullAction::MarkReady {
            pull: facts.pull.clone(),
            node_id: facts.node_id.clone(),
            sha: facts.head.sha.clone(),
        }));
    }
}
