//! Repairs stored times after a clock ran ahead and was set right: otherwise rows would wait until the wrong hour
//! comes.
//!
//! A stored time alone does not show whether it came from a wrong clock: a deadline lies in the future by right.
//! The newest stored time of a finished action does show it, since nothing finishes in the future.
//! Every time that has not come moves back by as much as that one is ahead: past events are then in the past, and
//! each wait keeps its length.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::effect::{Effect, EffectState, START_HOLD};
use crate::when::plus;

/// Clocks of several machines differ by less, and so does what a time service corrects in passing.
pub const TOLERANCE: SignedDuration = SignedDuration::from_mins(1);

/// How far the clock was ahead at the newest stored action; `None` when it was not.
pub fn ahead_by(newest: Timestamp, now: Timestamp) -> Option<SignedDuration> {
    let ahead = newest.duration_since(now);
    (ahead > TOLERANCE).then_some(ahead)
}

/// A time, moved back if it has not come.
pub fn moved_back(at: Timestamp, now: Timestamp, ahead: SignedDuration) -> Timestamp {
    if at > now { plus(at, -ahead) } else { at }
}

/// How far to move an effect back. A running one keeps its lease as if it began now, since the process that performs
/// it may have a correct clock.
pub fn effect_offset(effect: &Effect, now: Timestamp, ahead: SignedDuration) -> SignedDuration {
    match effect.state {
        EffectState::Started { until, .. } => {
            let longer = until.duration_since(plus(now, START_HOLD));
            longer.max(SignedDuration::ZERO).min(ahead)
        }
        EffectState::Intent { .. }
        | EffectState::Unknown { .. }
        | EffectState::Done { .. }
        | EffectState::Failed { .. } => ahead,
    }
}

/// Moves back every future time in a stored value. Returns whether there was one.
pub fn move_back(value: &mut Value, now: Timestamp, ahead: SignedDuration) -> bool {
    match value {
        Value::String(text) => {
            let Some(at) = time(text) else { return false };
            let moved = moved_back(at, now, ahead);
            if moved != at {
                *text = moved.to_string();
            }
            moved != at
        }
        Value::Array(values) => values.iter_mut().fold(false, |changed, value| {
            move_back(value, now, ahead) | changed
        }),
        Value::Object(fields) => fields.values_mut().fold(false, |changed, value| {
            move_back(value, now, ahead) | changed
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Parses a text that is a stored time: in UTC, and nothing else.
fn time(text: &str) -> Option<Timestamp> {
    let begins = text.starts_with(|first: char| first.is_ascii_digit());
    let at = text
        .parse()
        .ok()
        .filter(|_| begins && text.ends_with('Z'))?;
    Some(at)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::effect::{Action, JulesAction};
    use crate::facts::fixture::at;

    const HOUR: SignedDuration = SignedDuration::from_hours(1);

    #[test]
    fn only_what_is_ahead_by_more_than_clocks_differ_is_from_a_wrong_clock() {
        let now = at(0);
        for (newest, ahead) in [
            (-90_000, None),
            (0, None),
            (60, None),
            (61, Some(61)),
            (3_600, Some(3_600)),
        ] {
            let ahead = ahead.map(SignedDuration::from_secs);
            assert_eq!(ahead_by(at(newest), now), ahead, "{newest}");
        }
    }

    #[test]
    fn times_that_have_not_come_are_moved_back_and_all_else_stays() {
        let stored = |second: i64| at(second).to_string();
        for (before, after) in [
            (json!(stored(-5)), json!(stored(-5))),
            (json!(stored(0)), json!(stored(0))),
            (json!(stored(3_500)), json!(stored(-100))),
            (json!(stored(3_900)), json!(stored(300))),
            (
                json!({ "at": stored(3_600), "of": [{ "until": stored(7_200) }], "n": 3_600 }),
                json!({ "at": stored(0), "of": [{ "until": stored(3_600) }], "n": 3_600 }),
            ),
            (
                json!(format!("before {}", stored(3_600))),
                json!(format!("before {}", stored(3_600))),
            ),
            (json!([null, true, ""]), json!([null, true, ""])),
        ] {
            let mut value = before.clone();
            assert_eq!(move_back(&mut value, at(0), HOUR), before != after);
            assert_eq!(value, after);
        }
    }

    #[test]
    fn what_is_under_way_is_held_no_longer_than_if_it_were_begun_now_and_no_shorter() {
        let archive = || {
            Action::Jules(JulesAction::Archive {
                session: "14550388554331055113".parse().unwrap(),
            })
        };
        // Begun at that second by a clock that was right, or an hour ahead.
        for (begun, seconds) in [
            (-10, 0),
            (0, 0),
            (3_500, 3_500),
            (3_600, 3_600),
            (9_000, 3_600),
        ] {
            let intent = Effect::new(archive(), at(begun));
            assert_eq!(effect_offset(&intent, at(0), HOUR), HOUR);
            let started = intent.start(at(begun)).unwrap();
            let back = SignedDuration::from_secs(seconds);
            assert_eq!(effect_offset(&started, at(0), HOUR), back, "{begun}");
        }
    }

    #[test]
    fn the_edges_of_time_are_no_trouble() {
        let moved = moved_back(Timestamp::MAX, Timestamp::MIN, SignedDuration::MAX);
        assert_eq!(moved, Timestamp::MIN);
    }
}
