//! What checks say: those that ran, those that never started, those that must have passed.

use jiff::Timestamp;

use super::{MergeContext, MergeInput, MissingChecksCause, Reason, outside, unreadable};
use crate::facts::{
    ACTIONS_BOT_ID, Check, CheckOutcome, CiClues, Demands, Fact, Pass, PullFacts, UnreadReason,
};
use crate::pipeline::OWN_CHECKS;
use crate::policy::{Policy, Timing};
use crate::when::plus;

/// Most checks that a reason names.
const NAMES_MAX: usize = 20;

/// Whether there is CI that would run, and something keeps it from that.
fn is_held_up(cause: MissingChecksCause) -> bool {
    match cause {
        MissingChecksCause::Conflict
        | MissingChecksCause::ActionsToken
        | MissingChecksCause::ApprovalPending => true,
        MissingChecksCause::NoWorkflow | MissingChecksCause::Unknown => false,
    }
}

/// Checks that ran, or did not.
pub(super) fn ran(
    facts: &PullFacts,
    context: &MergeContext,
    policy: &Policy,
    timing: &Timing,
    now: Timestamp,
) -> Vec<Reason> {
    let Some(checks) = facts.checks.known() else {
        return Vec::from_iter(unreadable(MergeInput::Checks, &facts.checks));
    };
    let mut reasons = Vec::new();
    // Checks of our own are there at once, and say nothing about the CI of the repository.
    let is_theirs = |name: &str| !OWN_CHECKS.contains(&name);
    let counts = |name: &String| is_theirs(name) || policy.required_checks.contains(name);
    if !checks.iter().any(|check| counts(&check.name)) {
        // A head without checks is only suspicious once its CI had time to start; with a minimum of 0 it needs none.
        let until = plus(context.head_since, timing.ci_start);
        let cause = never_started(facts);
        let early = now.duration_since(context.head_since) < timing.ci_start;
        if early {
            reasons.push(Reason::NoChecksYet { until });
        } else if policy.min_checks > 0 || is_held_up(cause) {
            reasons.push(Reason::CiNeverStarted { cause });
        }
        return reasons;
    }
    let named = |outcome: CheckOutcome| {
        let named = checks.iter().filter(|check| check.outcome == outcome);
        names(named.map(|check| check.name.as_str()))
    };
    let pending = named(CheckOutcome::Pending);
    let failed = named(CheckOutcome::Failed);
    let approval = named(CheckOutcome::ActionRequired);
    let success = |check: &&Check| check.outcome == CheckOutcome::Passed(Pass::Success);
    let have = checks.iter().filter(success).count() as u64;
    if !failed.is_empty() {
        let others_pending = !pending.is_empty();
        reasons.push(Reason::ChecksFailed {
            names: failed,
            others_pending,
        });
    }
    if !approval.is_empty() {
        reasons.push(Reason::ActionRequired { names: approval });
    }
    if !pending.is_empty() {
        reasons.push(Reason::ChecksPending { names: pending });
    }
    if have < u64::from(policy.min_checks) {
        reasons.push(Reason::TooFewChecks {
            have,
            need: policy.min_checks,
        });
    }
    reasons
}

/// Sanitises names for a stored reason: bounded, and in one order however GitHub lists them.
fn names<'a>(all: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = all.map(outside).collect();
    names.sort();
    names.dedup();
    names.truncate(NAMES_MAX);
    names
}

/// Why no check has appeared, from what GitHub shows.
fn never_started(facts: &PullFacts) -> MissingChecksCause {
    let clues = facts.ci.clone().unwrap_or_default();
    match (&facts.mergeable, clues) {
        (Fact::Known(false), _) => MissingChecksCause::Conflict,
        (
            _,
            CiClues {
                approval_pending: true,
                ..
            },
        ) => MissingChecksCause::ApprovalPending,
        (
            _,
            CiClues {
                workflows: Some(0), ..
            },
        ) => MissingChecksCause::NoWorkflow,
        _ if facts.author.id == ACTIONS_BOT_ID => MissingChecksCause::ActionsToken,
        _ => MissingChecksCause::Unknown,
    }
}

/// Whether the checks that a source lists replace unreadable rules of the base branch.
///
/// Readable rules do not: the unreadable ones may require more.
pub(crate) fn source_checks_suffice(policy: &Policy) -> bool {
    !policy.required_checks.is_empty()
}

/// What the branch rules and the source demand of checks, of the distance to the base and of the way to merge.
pub(super) fn demanded(reasons: &mut Vec<Reason>, facts: &PullFacts, policy: &Policy) {
    let ruled = match facts.demands.known() {
        Some(demands) => {
            distance(reasons, demands);
            if !source_checks_suffice(policy) {
                reasons.extend(demands.unread.as_ref().map(hidden));
            }
            demands.checks.as_slice()
        }
        None if source_checks_suffice(policy) => &[],
        None => return reasons.extend(unreadable(MergeInput::BranchRules, &facts.demands)),
    };
    let Some(checks) = facts.checks.known() else {
        // The unread rules are a reason of their own; which checks are missing is unknown.
        return;
    };
    let ruled = ruled
        .iter()
        .map(|required| (required.name.as_str(), required.app));
    let listed = policy
        .required_checks
        .iter()
        .map(|name| (name.as_str(), None));
    let missing = ruled
        .chain(listed)
        .filter(|(name, app)| !passed(checks, name, *app));
    let missing = names(missing.map(|(name, _)| name));
    if !missing.is_empty() {
        reasons.push(Reason::RequiredMissing { names: missing });
    }
}

/// Rules that could not be read may demand more than those that could.
fn hidden(unread: &UnreadReason) -> Reason {
    let what = MergeInput::BranchRules;
    match unread {
        UnreadReason::Forbidden { permission } => Reason::Forbidden {
            what,
            permission: outside(permission),
        },
        UnreadReason::Unknown { why } => Reason::Unknown {
            what,
            why: outside(why),
        },
    }
}

fn distance(reasons: &mut Vec<Reason>, demands: &Demands) {
    if demands.merge_queue {
        reasons.push(Reason::MergeQueue);
    }
    match demands.behind_by {
        Some(by) if demands.up_to_date && by > 0 => reasons.push(Reason::Behind { by }),
        None if demands.up_to_date => {
            let why = "GitHub did not compare them".to_owned();
            reasons.push(Reason::Unknown {
                what: MergeInput::Distance,
                why,
            });
        }
        Some(_) | None => {}
    }
}

/// Whether a required check exists and every report under its name passed; reports of another App than the required one do not count.
fn passed(checks: &[Check], name: &str, app: Option<u64>) -> bool {
    let counts = |check: &&Check| check.name == name && (app.is_none() || check.app == app);
    let mut reports = checks.iter().filter(counts).peekable();
    reports.peek().is_some()
        && reports.all(|check| matches!(check.outcome, CheckOutcome::Passed(_)))
}

/// Whether a protected path covers a file: `dir/` everything below it, anything else exactly itself; case does not
/// count, since some file systems ignore it.
pub fn covers(path: &str, file: &str) -> bool {
    let (path, file) = (path.to_lowercase(), file.to_lowercase());
    if path.ends_with('/') {
        file.starts_with(&path)
    } else {
        file == path
    }
}

/// A head that was just pushed may get a check that has not been created yet.
pub(super) fn settle(
    reasons: &mut Vec<Reason>,
    context: &MergeContext,
    timing: &Timing,
    now: Timestamp,
) {
    // A clock that ran ahead for a while must not hold a head back.
    let until = plus(context.head_since.min(now), timing.settle);
    if reasons.is_empty() && now < until {
        reasons.push(Reason::Settling { until });
    }
}
