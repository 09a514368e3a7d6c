//! A new delivery: what is refused, and where it begins.

use jiff::Timestamp;

use super::moves::Moving;
use super::progress::progress;
use super::text::{self, Refused, What};
use super::{
    Actor, Delivery, DeliveryKind, NewDelivery, Phase, REFS_MAX, Rules, RunStatus, SCHEMA_VERSION,
    Task, TransitionError, due, history, refs,
};
use crate::fence::encoded_len;
use crate::step::Step;

/// Most parts into which a delivery is split.
pub const CHILDREN_MAX: usize = 20;

/// Refuses a split into so many parts.
///
/// # Errors
/// With a code and a sentence, when there is none or more than a delivery may have.
pub fn check_number_of_children(parts: usize) -> Result<(), (&'static str, String)> {
    if (1..=CHILDREN_MAX).contains(&parts) {
        return Ok(());
    }
    let sentence = format!("a delivery is split into 1 to {CHILDREN_MAX} parts, not {parts}");
    Err(("odd_number_of_children", sentence))
}

/// A new delivery with the settings of its source, which are copied. Without a checkpoint at its plan it begins at
/// once.
///
/// # Errors
/// When a text is blank, too long or holds a secret, or when its kind is only a name yet.
pub fn create(
    new: &NewDelivery,
    rules: &Rules,
    now: Timestamp,
) -> Result<Step<Delivery>, TransitionError> {
    let delivery = checked(new, rules, now).map_err(|(code, sentence)| TransitionError {
        code,
        sentence,
        legal: Vec::new(),
    })?;
    let mut moving = Moving {
        delivery,
        rules,
        now,
        is_ordered: false,
    };
    history::turn(&mut moving.delivery, &new.by, now);
    // What begins by itself is begun by the system; what waits was put there by it.
    moving.pend(Phase::Plan, &Actor::System);
    progress(&mut moving);
    let mut delivery = moving.delivery;
    delivery.version = 1;
    let mut step = Step::unchanged(delivery);
    step.due = due(&step.aggregate, now);
    Ok(step)
}

fn checked(new: &NewDelivery, rules: &Rules, now: Timestamp) -> Result<Delivery, Refused> {
    match new.kind {
        DeliveryKind::Issue | DeliveryKind::Adhoc => {}
        DeliveryKind::Requirement if new.requirement.is_some() => {}
        DeliveryKind::Requirement => {
            let sentence =
                "a delivery of this kind implements a requirement of the pipeline: start that";
            return Err(("no_requirement", sentence.to_owned()));
        }
        DeliveryKind::Member | DeliveryKind::Integration => {
            let sentence = "deliveries of this kind cannot be created yet";
            return Err(("kind_not_yet", sentence.to_owned()));
        }
    }
    let summary = text::checked(What::Summary, &new.summary)?;
    let description = text::optional(What::Description, new.description.as_deref())?;
    let acceptance_criteria = text::criteria(&new.acceptance_criteria)?;
    check_refs(&new.refs)?;
    let mut all = Vec::new();
    let trigger = new.issue.as_ref().map(super::IssueRef::trigger);
    for reference in trigger.into_iter().chain(new.refs.iter().cloned()) {
        refs::add(&mut all, reference);
    }
    // What it takes with it is the delivery's own from here on.
    let kept = Rules {
        label: None,
        review_by: Some(rules.reviewer()),
        ..rules.clone()
    };
    Ok(Delivery {
        id: new.id.clone(),
        seq: new.seq,
        schema_version: SCHEMA_VERSION,
        kind: new.kind,
        repo: new.repo.clone(),
        issue: new.issue.clone(),
        requirement: new.requirement.clone(),
        summary,
        description,
        acceptance_criteria,
        phase: Phase::Intake,
        run_status: RunStatus::Succeeded,
        verdict: None,
        endpoint: rules.endpoint,
        checkpoints: rules.checkpoints.clone(),
        refs: all,
        plan: None,
        error: None,
        feedback: None,
        attempt: 1,
        review_round: 0,
        priority: new.priority,
        parent: new.parent.clone(),
        children: Vec::new(),
        runs: Vec::new(),
        phase_runs: Vec::new(),
        version: 0,
        created_at: now,
        updated_at: now,
        rules: kept,
        started: false,
        task: Task::default(),
        review: super::Reviewing::default(),
        leftovers: Vec::new(),
        seen: super::Seen::default(),
        told: None,
        trouble: None,
        refused: None,
        closed: None,
        taken: Vec::new(),
    })
}

/// Refuses references that are too many or too long, or hold a secret.
pub(super) fn check_refs(refs: &[super::Ref]) -> Result<(), Refused> {
    if refs.len() >= REFS_MAX {
        let sentence = format!("{} references, at most {}", refs.len(), REFS_MAX - 1);
        return Err(("too_many_refs", sentence));
    }
    for reference in refs {
        let label = reference.label.trim();
        let fits = !label.is_empty() && encoded_len(label) <= super::LABEL_BYTES_MAX;
        if !fits || label.contains(char::is_control) {
            let sentence = format!(
                "the label of a reference is visible text of at most {} bytes as JSON",
                super::LABEL_BYTES_MAX
            );
            return Err(("odd_label", sentence));
        }
        text::no_secret("label", label)?;
    }
    Ok(())
}

/// Whether a stored delivery is the one to be created: the same issue triggered it, or it has the same id.
pub fn is_same_trigger(delivery: &Delivery, new: &NewDelivery) -> bool {
    let of = |it: &Option<crate::pipeline::RequirementRef>| it.as_ref().map(|it| it.id.clone());
    delivery.repo == new.repo
        && delivery.issue == new.issue
        && delivery.parent == new.parent
        && of(&delivery.requirement) == of(&new.requirement)
}
