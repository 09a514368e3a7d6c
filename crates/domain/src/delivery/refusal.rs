//! What a delivery needs next and does not get: kept, shown, and in the end a failure of its phase.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::moves::Moving;
use super::text::short;
use super::{Actor, Fault, Phase};
use crate::when::plus;

/// How often a refusal is counted at most: it is asked for at every look, and looks may come in a row.
const REFUSED_EVERY: SignedDuration = SignedDuration::from_mins(5);

/// So many refusals fail the phase. With a look every ten minutes a person has most of an hour to put right what is
/// wrong, and whatever is only busy is not any more.
pub const REFUSALS_MAX: u32 = 6;

/// Longest reason of a refusal, in characters.
const WHY_CHARS_MAX: usize = 200;

/// What the delivery needs next was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Why, for people.
    pub why: String,
    /// How often so far, without anything else in between.
    pub times: u32,
    /// When it was counted last.
    pub at: Timestamp,
}

/// What the delivery needs next was asked for, and refused if there is a reason.
pub(super) fn asked_for(moving: &mut Moving<'_>, why: Option<&str>) {
    let before = moving.delivery.refused.take();
    // What is not under way needs nothing.
    let why = why.filter(|_| moving.delivery.run_status.is_under_way());
    let Some(why) = why else { return };
    let times = match before {
        Some(before) if moving.now < plus(before.at, REFUSED_EVERY) => {
            moving.delivery.refused = Some(before);
            return;
        }
        Some(before) => before.times.saturating_add(1),
        None => 1,
    };
    let why = short(why, WHY_CHARS_MAX);
    if times < REFUSALS_MAX {
        let at = moving.now;
        moving.delivery.refused = Some(Refusal { why, times, at });
        return;
    }
    let code = match moving.delivery.phase {
        // Its session is left alone, and only the review is tried again.
        Phase::Review => Fault::ReviewFailed,
        Phase::Intake
        | Phase::Plan
        | Phase::Implement
        | Phase::Verify
        | Phase::Deploy
        | Phase::Observe
        | Phase::Close => Fault::NotBegun,
    };
    let text = format!("what it needs was refused {times} times: {why}");
    moving.fail(code, &text, &Actor::System);
}
