//! What keeps a step from going on for a while: GitHub does not say what has to be known for it.

use serde::{Deserialize, Serialize};

use super::Pipeline;
use crate::failure::{Failure, FailureClass};
use crate::redact::presentable;

/// How many answers that cannot be read a step survives: one may be cut off by chance, but files that are too many or too large stay so.
const GARBLED_MAX: u32 = 5;

/// How much of an answer is kept, in characters.
const WHY_CHARS_MAX: usize = 300;

/// Why a step does not go on now: it is tried again a minute later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hindrance {
    /// What GitHub answered last.
    pub why: String,
    /// How many of its answers could not be read so far.
    #[serde(default, skip_serializing_if = "is_none_yet")]
    pub garbled: u32,
}

impl Hindrance {
    /// What a failure means for a step that may have been hindered before; none if it is no use to try again. A commit that a branch
    /// named a moment ago is there, although GitHub does not show it everywhere yet.
    pub fn of(failure: &Failure, before: Option<&Self>) -> Option<Self> {
        let before = before.map_or(0, |it| it.garbled);
        let is_unseen = failure.class == FailureClass::NotFound;
        let is_garbled = failure.class == FailureClass::Garbled;
        let is_chance = is_garbled && before < GARBLED_MAX;
        let passes = failure.class.may_pass() || is_unseen || is_chance;
        passes.then(|| Self {
            why: presentable(&failure.message, WHY_CHARS_MAX),
            garbled: before.saturating_add(u32::from(is_garbled)),
        })
    }
}

/// A run whose present step is hindered now, or is not any more.
pub fn hindered(mut pipeline: Pipeline, place: usize, hindrance: Option<Hindrance>) -> Pipeline {
    pipeline.steps[place].hindrance = hindrance;
    pipeline
}

fn is_none_yet(count: &u32) -> bool {
    *count == 0
}
