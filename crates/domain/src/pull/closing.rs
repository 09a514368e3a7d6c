//! Closing the pull request of a job that was cancelled.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Pull;
use super::context::{PullContext, may_write};
use crate::effect::{Action, PullAction};
use crate::facts::PullFacts;
use crate::fence::clip;
use crate::refusal::NotNow;
use crate::step::Step;

/// Longest name of who ordered it, in characters.
const NAME_CHARS_MAX: usize = 80;

/// The order to close a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closing {
    /// Who ordered it.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// Orders a pull request to be closed. The next reading decides whether Gaffer may write to it.
pub fn close(pull: &Pull, by: &str, now: Timestamp) -> Result<Step<Pull>, NotNow> {
    if pull.is_settled() {
        return Err(NotNow::new(
            "settled",
            format!("pull request {} is merged or closed already", pull.pull),
        ));
    }
    let mut step = Step::unchanged(pull.clone());
    step.aggregate.closing.get_or_insert_with(|| Closing {
        by: clip(by, NAME_CHARS_MAX),
        at: now,
    });
    step.due = Some(now);
    Ok(step)
}

/// Closes an open pull request that is ordered to be closed.
pub(super) fn carry_out(step: &mut Step<Pull>, facts: &PullFacts, outside: &PullContext) {
    if step.aggregate.closing.is_some() && may_write(facts, outside) {
        step.effects.push(Action::Pull(PullAction::ClosePull {
            pull: facts.pull.clone(),
        }));
    }
}
