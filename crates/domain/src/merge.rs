//! Whether one pull request may be merged now, at which SHA, and if not, exactly why.
//!
//! It fails closed: what is missing, cut short, null, forbidden, unknown or zero never counts as green.

mod announcing;
mod checks;
mod gate;
mod lasting;
mod no_files;
mod people;
mod readiness;
mod reason;
mod sentence;
#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub(crate) use announcing::AnnounceWhen;
pub use checks::covers;
pub(crate) use checks::source_checks_suffice;
pub use gate::{Gate, SprintGate};
pub use lasting::LastingReason;
pub(crate) use lasting::lasting;
pub(crate) use readiness::{hindering_weave, is_weavable};
pub use reason::{MergeInput, MissingChecksCause, Reason, Weight};

use crate::facts::{Fact, PullFacts, PullState};
use crate::ids::{BranchName, CommitSha};
use crate::policy::{MergeMethod, MergePolicy, Policy, Timing};
use crate::redact::presentable;

/// Facts older than this are read again before a merge: the invariant's ten seconds.
pub const FACTS_AGE_MAX: SignedDuration = SignedDuration::from_secs(10);

/// Maximum number of refused merges of one head: after five refusals a person has to look.
pub const MAX_ATTEMPTS: u32 = 5;

/// Longest text from outside in a reason, in characters: verdicts are stored.
const OUTSIDE_CHARS_MAX: usize = 200;

/// Inputs of a judgement apart from GitHub's facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeContext {
    /// Whose pull request it is.
    pub owner: Owner,
    /// What its session does.
    pub session: SessionStatus,
    /// The base branch that its job asked for.
    pub wanted_base: BranchName,
    /// The head that a person approved.
    pub approved: Option<CommitSha>,
    /// Why its delivery does not let this head be merged; none if it does, or if there is no delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// Why its sprint does not let it be merged by itself; none if it does, or if there is no sprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sprint_gate: Option<SprintGate>,
    /// Whether its session worked on a plan without an approval where the policy requires one.
    pub plan_unreviewed: bool,
    /// Unexpected changes of this head; `None` if it is as expected.
    pub unexpected: Option<Vec<String>>,
    /// Since when checks of this head may have started: when it was first seen, marked ready or reopened.
    pub head_since: Timestamp,
    /// The outcome of earlier attempts to merge this head.
    pub refused: Option<MergeRefusals>,
    /// Merges of this source in the last 24 hours.
    pub merges_today: u32,
    /// When the oldest of those will be a day old; `None` without any.
    pub merge_day_ends: Option<Timestamp>,
    /// Whether writing is switched off.
    pub hold: Option<Hold>,
}

/// Merges of one head that were decided and did not happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeRefusals {
    /// What GitHub said last.
    pub why: String,
    /// How often GitHub refused; 0 when only its budget did not allow the call.
    pub attempts: u32,
    /// Not to be tried again earlier.
    pub again_at: Timestamp,
}

/// Whose pull request it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// A job that this installation created.
    Created,
    /// A job that a person handed over.
    Adopted,
    /// Gaffer itself: no session made it.
    Gaffer,
    /// Not one of our jobs.
    Foreign,
}

/// What the session of a pull request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// It has finished, or been silent for a whole window.
    Resting,
    /// It may push at any moment.
    Working,
    /// It failed.
    Failed,
    /// Its job was cancelled or does not exist any more.
    Cancelled,
}

/// Why nothing may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// A person paused everything, or this source.
    Paused,
    /// `gaffer up --observe-only`.
    ObserveOnly,
}

/// The outcome of a judgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "judgement")]
pub enum Judgement {
    /// Merge exactly this head.
    Merge {
        /// The head that is green.
        sha: CommitSha,
        /// How.
        method: MergeMethod,
    },
    /// Not yet; it can change by itself.
    Wait {
        /// The latest time of the next check, if known.
        until: Option<Timestamp>,
        /// Why.
        reasons: Vec<Reason>,
    },
    /// No; a person or an agent has to act.
    Refuse {
        /// Why.
        reasons: Vec<Reason>,
    },
    /// It cannot be merged into its base.
    Conflict {
        /// The head that conflicts.
        sha: CommitSha,
    },
}

impl Judgement {
    /// Whether a person has to act and nothing but a pause says so: the head is merged once writing goes on.
    pub fn is_held(&self) -> bool {
        match self {
            Self::Refuse { reasons } => reasons
                .iter()
                .all(|reason| reason.is_pause() || reason.weight() == Weight::Wait),
            Self::Merge { .. } | Self::Wait { .. } | Self::Conflict { .. } => false,
        }
    }

    /// Why it is not merged; nothing for a merge.
    pub(crate) fn reasons(&self) -> &[Reason] {
        match self {
            Self::Wait { reasons, .. } | Self::Refuse { reasons } => reasons,
            Self::Merge { .. } | Self::Conflict { .. } => &[],
        }
    }

    /// Whether an order to merge is refused by it: more has to be done than to end a pause.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Refuse { .. } => !self.is_held(),
            Self::Conflict { .. } => true,
            Self::Merge { .. } | Self::Wait { .. } => false,
        }
    }
}

/// Judges one pull request. Returns all reasons, not just the first.
pub fn judge(
    facts: &PullFacts,
    context: &MergeContext,
    policy: &Policy,
    timing: &Timing,
    now: Timestamp,
) -> Judgement {
    let gate = context.gate.as_ref();
    if let Some(left) = gate.and_then(|gate| gate.judgement(context.session)) {
        return left;
    }
    let mut reasons = Vec::new();
    ownership(&mut reasons, facts, context, policy);
    switches(&mut reasons, context, policy);
    shape(&mut reasons, facts, context, policy);
    let conflict = mergeable(&mut reasons, facts);
    people::said(&mut reasons, facts);
    reasons.extend(checks::ran(facts, context, policy, timing, now));
    checks::demanded(&mut reasons, facts, policy);
    check_refusals(&mut reasons, context, now);
    if now.duration_since(facts.read_at).abs() > FACTS_AGE_MAX {
        reasons.push(Reason::FactsStale);
    }
    let acceptable = |reason: &Reason| matches!(reason.weight(), Weight::Wait);
    // The session repairs a conflict only when no other reason needs a person first.
    if conflict && reasons.iter().all(acceptable) && facts.state == PullState::Open {
        return Judgement::Conflict {
            sha: facts.head.sha.clone(),
        };
    }
    if conflict {
        reasons.push(Reason::Conflict);
    }
    if reasons.iter().any(|reason| !acceptable(reason)) {
        return Judgement::Refuse { reasons };
    }
    // Further checks may still appear, so even a green head waits for a while.
    checks::settle(&mut reasons, context, timing, now);
    if reasons.is_empty() {
        return Judgement::Merge {
            sha: facts.head.sha.clone(),
            method: policy.merge_method,
        };
    }
    let until = reasons.iter().filter_map(Reason::until).min();
    Judgement::Wait { until, reasons }
}

fn ownership(
    reasons: &mut Vec<Reason>,
    facts: &PullFacts,
    context: &MergeContext,
    policy: &Policy,
) {
    match context.owner {
        Owner::Created | Owner::Gaffer => {}
        Owner::Adopted if policy.adopted_may_merge => {}
        Owner::Adopted => reasons.push(Reason::AdoptedMayNotMerge),
        Owner::Foreign => reasons.push(Reason::NotOurs),
    }
    if !facts.is_from_base_repository() {
        reasons.push(Reason::Fork);
    }
    match facts.state {
        PullState::Open => {}
        PullState::Closed => reasons.push(Reason::Closed),
        PullState::Merged { .. } => reasons.push(Reason::AlreadyMerged),
    }
    reasons.extend(context.sprint_gate.map(SprintGate::reason));
    let approved = context.approved.as_ref() == Some(&facts.head.sha);
    match (&context.gate, policy.merge) {
        // The person who lets the delivery go on may approve this head by it.
        (Some(gate), _) => reasons.push(gate.reason()),
        (None, MergePolicy::OnGreen) => {}
        (None, MergePolicy::Human | MergePolicy::Integration) if approved => {}
        (None, MergePolicy::Human | MergePolicy::Integration) => {
            reasons.push(Reason::NeedsApproval);
        }
    }
}

fn switches(reasons: &mut Vec<Reason>, context: &MergeContext, policy: &Policy) {
    match context.hold {
        None => {}
        Some(Hold::Paused) => reasons.push(Reason::Paused),
        Some(Hold::ObserveOnly) => reasons.push(Reason::ObserveOnly),
    }
    if context.merges_today >= policy.merges_per_day {
        reasons.push(Reason::DailyCap {
            cap: policy.merges_per_day,
            until: context.merge_day_ends,
        });
    }
    if context.plan_unreviewed {
        reasons.push(Reason::PlanUnreviewed);
    }
    match context.session {
        SessionStatus::Resting => {}
        SessionStatus::Working => reasons.push(Reason::SessionWorking),
        SessionStatus::Failed => reasons.push(Reason::SessionFailed),
        SessionStatus::Cancelled => reasons.push(Reason::JobCancelled),
    }
}

fn shape(reasons: &mut Vec<Reason>, facts: &PullFacts, context: &MergeContext, policy: &Policy) {
    if facts.draft {
        reasons.push(Reason::Draft);
    }
    if facts.base.branch != context.wanted_base {
        reasons.push(Reason::WrongBase {
            is: facts.base.branch.clone(),
            wanted: context.wanted_base.clone(),
        });
    }
    let above = facts.stack.filter(|position| *position > 1);
    reasons.extend(above.map(|position| Reason::Stacked { position }));
    let blocks = |label: &&String| {
        policy
            .blocking_labels
            .iter()
            .any(|blocking| blocking.eq_ignore_ascii_case(label))
    };
    let label = facts.labels.iter().find(blocks).map(|label| outside(label));
    reasons.extend(label.map(|label| Reason::BlockingLabel { label }));
    let approved = context.approved.as_ref() == Some(&facts.head.sha);
    if let Some(paths) = context.unexpected.as_ref().filter(|_| !approved) {
        let paths = paths.iter().map(|path| outside(path)).collect();
        reasons.push(Reason::UnexpectedPush { paths });
    }
    let Some(files) = facts.files.known() else {
        return reasons.extend(unreadable(MergeInput::ChangedFiles, &facts.files));
    };
    if files.is_empty() {
        reasons.push(Reason::no_files());
    }
    let guarded = |file: &&String| policy.protected_paths.iter().any(|path| covers(path, file));
    let path = files.iter().find(guarded).map(|file| outside(file));
    reasons.extend(
        path.filter(|_| !approved)
            .map(|path| Reason::ProtectedPath { path }),
    );
}

/// Returns whether GitHub says that it conflicts.
fn mergeable(reasons: &mut Vec<Reason>, facts: &PullFacts) -> bool {
    match &facts.mergeable {
        Fact::Known(mergeable) => return !mergeable,
        Fact::Forbidden { .. } => {
            reasons.extend(unreadable(MergeInput::Mergeability, &facts.mergeable))
        }
        Fact::Unknown { .. } => reasons.push(Reason::MergeableUnknown),
    }
    false
}

/// The reason for an unknown fact; `None` if it is known.
fn unreadable<T>(what: MergeInput, fact: &Fact<T>) -> Option<Reason> {
    match fact {
        Fact::Known(_) => None,
        Fact::Forbidden { permission } => Some(Reason::Forbidden {
            what,
            permission: outside(permission),
        }),
        Fact::Unknown { why } => Some(Reason::Unknown {
            what,
            why: outside(why),
        }),
    }
}

fn check_refusals(reasons: &mut Vec<Reason>, context: &MergeContext, now: Timestamp) {
    let refused = context.refused.as_ref();
    reasons.extend(refused.and_then(|refused| refused.reason(now)));
}

impl MergeRefusals {
    /// GitHub has refused this very head before: not again at once, and not for ever.
    pub fn reason(&self, now: Timestamp) -> Option<Reason> {
        let (why, until) = (outside(&self.why), self.again_at);
        let is_early = now < until;
        if self.attempts == 0 {
            return is_early.then_some(Reason::MergeThrottled { why, until });
        }
        let is_given_up = self.attempts >= MAX_ATTEMPTS;
        let until = (!is_given_up).then_some(until);
        (is_given_up || is_early).then_some(Reason::MergeRefused { why, until })
    }
}

/// Sanitises a text from outside for a reason.
fn outside(text: &str) -> String {
    presentable(text, OUTSIDE_CHARS_MAX)
}
