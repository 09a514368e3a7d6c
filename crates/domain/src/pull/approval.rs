//! The approval of a head for merging, and its merge style.

use jiff::Timestamp;

use super::{Approval, MergeStyle, Pull, PullPhase};
use crate::advice::Advice;
use crate::fence::clip;
use crate::ids::{CommitSha, SprintNumber};
use crate::merge::{self, Judgement, Reason, Weight};
use crate::policy::Policy;
use crate::refusal::NotNow;
use crate::step::Step;

/// Longest name of an approver, in characters.
const NAME_CHARS_MAX: usize = 80;

/// The approver's name and merge style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeApproval<'a> {
    /// Whose.
    pub by: &'a str,
    /// How they want it merged, within what its source allows.
    pub style: &'a MergeStyle,
}

/// Approves a head for merging once it is green, or for another attempt after GitHub refused it. It waives nothing
/// else.
pub fn approve(
    pull: &Pull,
    sha: Option<&CommitSha>,
    word: &MergeApproval<'_>,
    now: Timestamp,
) -> Result<Step<Pull>, NotNow> {
    let not_now = |code, sentence| Err(NotNow::new(code, sentence));
    let name = &pull.pull;
    if pull.is_settled() {
        return not_now(
            "settled",
            format!("pull request {name} is merged or closed already"),
        );
    }
    let Some(head) = &pull.head else {
        return not_now(
            "not_read_yet",
            format!("pull request {name} has not been read yet: try again"),
        );
    };
    if let Some(wanted) = sha.filter(|wanted| **wanted != head.sha) {
        let sentence = format!(
            "the head of {name} is {}, not {wanted}: look at it again",
            head.sha
        );
        return not_now("head_moved", sentence);
    }
    if let Some(sprint) = weaving(pull, &head.sha) {
        let sentence = format!(
            "sprint {sprint} weaves {name} into one pull request with others, and only that one is merged"
        );
        return not_now("woven", sentence);
    }
    let mut step = Step::unchanged(pull.clone());
    step.aggregate.approval = Some(Approval {
        sha: head.sha.clone(),
        by: clip(word.by, NAME_CHARS_MAX),
        at: now,
        style: word.style.clone(),
    });
    // A person's approval gives a refused head its attempts back.
    step.aggregate.refused = None;
    step.due = Some(now);
    Ok(step)
}

/// The sprint that weaves a head, where an approval lifts nothing that the weave waits for.
fn weaving(pull: &Pull, head: &CommitSha) -> Option<SprintNumber> {
    let verdict = pull.verdict.as_ref().filter(|it| it.sha == *head)?;
    let reasons = verdict.judgement.reasons();
    let sprint = reasons.iter().find_map(Reason::woven_by)?;
    let hindering = merge::hindering_weave(reasons, false);
    let is_lifted = hindering
        .iter()
        .any(|it| it.advice() == Some(Advice::Merge));
    (!is_lifted).then_some(sprint)
}

/// Whether an order to merge would be taken, as far as the last reading tells: an approval lifts all that has to be acted on.
pub(crate) fn takes_approval(pull: &Pull) -> bool {
    let is_lifted = |reason: &Reason| {
        let is_passing = reason.weight() == Weight::Wait || reason.is_pause();
        is_passing || reason.advice() == Some(Advice::Merge)
    };
    match pull.verdict.as_ref().map(|verdict| &verdict.judgement) {
        None | Some(Judgement::Merge { .. } | Judgement::Wait { .. }) => true,
        Some(Judgement::Refuse { reasons }) => reasons.iter().all(is_lifted),
        Some(Judgement::Conflict { .. }) => false,
    }
}

/// Takes an approval back whose order was refused, so that nothing is merged by it later. `None` where it has been replaced,
/// or where nothing refuses the head any more.
pub fn take_back(pull: &Pull, given: &Approval, now: Timestamp) -> Option<Step<Pull>> {
    let is_watched = match pull.phase {
        PullPhase::Open | PullPhase::Closed { .. } => true,
        PullPhase::Merging { .. } | PullPhase::Settled { .. } => false,
    };
    let verdict = pull.verdict.as_ref()?;
    if pull.approval.as_ref() != Some(given) || !is_watched || !verdict.judgement.is_refusal() {
        return None;
    }
    let mut step = Step::unchanged(pull.clone());
    step.aggregate.approval = None;
    step.due = Some(now);
    Some(step)
}

/// Applies the approver's merge style, if the source still allows it.
pub(super) fn as_wished(judged: Judgement, pull: &Pull, policy: &Policy) -> Judgement {
    match judged {
        Judgement::Merge { sha, .. } => Judgement::Merge {
            method: pull.style_of(&sha).method_under(policy),
            sha,
        },
        Judgement::Wait { .. } | Judgement::Refuse { .. } | Judgement::Conflict { .. } => judged,
    }
}
