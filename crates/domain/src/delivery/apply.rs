//! A delivery and what came in → its next state.

use jiff::Timestamp;

use super::commands;
use super::due::due;
use super::history;
use super::legal::{Asker, TransitionError, legal, may};
use super::moves::Moving;
use super::progress::progress;
use super::sights;
use super::{
    Actor, Command, CommandKind, Delivery, DeliveryInput, Fault, IssueTrouble, Rules, RunStatus,
    TranscriptEntry, TranscriptState,
};
use crate::ids::{RunId, digest};
use crate::redact::presentable;
use crate::step::Step;

/// Digits of a command's digest.
const DIGEST_DIGITS: usize = 16;

/// Most digests that are kept: as many as there can be spans, and most commands begin one.
const TAKEN_MAX: usize = history::SPANS_MAX;

/// Decides what an input means. A command that was taken before, and whatever is seen of a delivery that is over,
/// changes nothing. `rules` are the delivery's own, for an agent that can or cannot be woken ([`Rules::with_agent`]).
///
/// # Errors
/// When a command is not legal now, or what it says is odd.
pub fn apply(
    delivery: &Delivery,
    input: &DeliveryInput,
    now: Timestamp,
    rules: &Rules,
) -> Result<Step<Delivery>, TransitionError> {
    let mut moving = Moving {
        delivery: delivery.clone(),
        rules,
        now,
        is_ordered: matches!(input, DeliveryInput::Command(_)),
    };
    match input {
        DeliveryInput::Command(command) => {
            if was_taken(delivery, &command.id) {
                return Ok(stay(delivery, now));
            }
            take(&mut moving, command)?;
            progress(&mut moving);
            if command.act.kind() != CommandKind::Cancel && history::is_too_long(&moving.delivery) {
                return Err(too_long(delivery, command, rules));
            }
        }
        DeliveryInput::Job(..)
        | DeliveryInput::Review(_)
        | DeliveryInput::Pull(..)
        | DeliveryInput::Issue(_)
        | DeliveryInput::Child(..)
        | DeliveryInput::Parts(_)
        | DeliveryInput::AskedFor(_)
        | DeliveryInput::Dispatched(_)
        | DeliveryInput::StartHeld(_)
        | DeliveryInput::Provider(..)
        | DeliveryInput::Cancelled(_)
        | DeliveryInput::Deadline => {
            if delivery.is_terminal() {
                return Ok(stay(delivery, now));
            }
            sights::see(&mut moving, input);
            let seen = moving.delivery.clone();
            sights::decide(&mut moving, input);
            progress(&mut moving);
            let has_moved = moving.delivery.phase_runs.len() > seen.phase_runs.len();
            if has_moved && !moving.delivery.is_terminal() && history::is_full(delivery) {
                moving.delivery = seen;
                end_full(&mut moving);
            }
        }
    }
    Ok(step(delivery, moving.delivery, now))
}

/// A delivery that is over, whose issue could not be closed for a reason, or was closed after all.
pub fn with_issue_left(delivery: &Delivery, why: Option<&str>, now: Timestamp) -> Step<Delivery> {
    let why = why.map(|why| presentable(why, sights::WHY_CHARS_MAX));
    let after = Delivery {
        trouble: why.map(IssueTrouble::LeftOpen),
        ..delivery.clone()
    };
    step(delivery, after, now)
}

/// The next state of a delivery after the transcript of a run was read, and how it is kept; a run that is no longer there changes nothing.
pub fn with_transcript(
    delivery: &Delivery,
    id: &RunId,
    kept: &[TranscriptEntry],
    now: Timestamp,
) -> Step<Delivery> {
    let mut next = delivery.clone();
    if let Some(run) = next.runs.iter_mut().find(|run| run.id == *id) {
        run.transcript = match kept {
            [] => TranscriptState::None,
            [_, ..] => TranscriptState::Kept,
        };
        let newest = kept.iter().map(|entry| entry.at).max();
        run.told_through = run.told_through.or(newest);
    }
    step(delivery, next, now)
}

fn stay(delivery: &Delivery, now: Timestamp) -> Step<Delivery> {
    let mut step = Step::unchanged(delivery.clone());
    step.due = due(delivery, now);
    step
}

/// Counts a change, and says when to look again.
fn step(before: &Delivery, mut after: Delivery, now: Timestamp) -> Step<Delivery> {
    if after != *before {
        after.version = before.version.saturating_add(1);
        after.updated_at = now.max(before.updated_at);
    }
    let due = due(&after, now);
    Step {
        due,
        ..Step::unchanged(after)
    }
}

/// Whether a command of this id was taken.
pub fn was_taken(delivery: &Delivery, id: &str) -> bool {
    delivery.taken.contains(&mark(id))
}

fn mark(id: &str) -> String {
    let mut mark = digest(&format!("command:{id}"));
    mark.truncate(DIGEST_DIGITS);
    mark
}

fn take(moving: &mut Moving<'_>, command: &Command) -> Result<(), TransitionError> {
    let asker = Asker::of(&moving.delivery, &command.by, moving.rules);
    let refused = may(&moving.delivery, command.act.kind(), &asker)
        .and_then(|()| commands::carry_out(moving, command));
    if let Err((code, sentence)) = refused {
        return Err(TransitionError {
            code,
            sentence,
            legal: legal(&moving.delivery, &command.by, moving.rules),
        });
    }
    let taken = &mut moving.delivery.taken;
    taken.push(mark(&command.id));
    let surplus = taken.len().saturating_sub(TAKEN_MAX);
    taken.drain(..surplus);
    Ok(())
}

/// A command would make the record longer than the store takes.
fn too_long(delivery: &Delivery, command: &Command, rules: &Rules) -> TransitionError {
    TransitionError {
        code: "delivery_too_long",
        sentence: "the delivery has no room for so much text: say it in fewer words".to_owned(),
        legal: legal(delivery, &command.by, rules),
    }
}

/// There is room for nothing but its end.
fn end_full(moving: &mut Moving<'_>) {
    if moving.delivery.run_status != RunStatus::Failed {
        let text = "too much has happened to this delivery";
        moving.fail(Fault::HistoryFull, text, &Actor::System);
    }
}
