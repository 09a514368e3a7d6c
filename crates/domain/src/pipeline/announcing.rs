//! Announcements of steps that failed: what is in the way of one run is in the way of the next, and is told once.

use jiff::Timestamp;

use super::{Pipeline, PipelineStep, StepState};
use crate::event::{ErrorCause, Event, Occurrence};
use crate::ids::{AccountName, EventId};

impl Pipeline {
    /// The steps that failed, with their places.
    pub fn failed_steps(&self) -> impl Iterator<Item = (usize, &PipelineStep)> {
        let steps = self.steps.iter().enumerate();
        steps.filter(|(_, step)| matches!(step.state, StepState::Failed { .. }))
    }
}

/// The step that failed by a decision about a run.
pub fn failed_step<'a>(before: &Pipeline, after: &'a Pipeline) -> Option<&'a PipelineStep> {
    let place = before.current()?;
    let step = after.steps.get(place)?;
    matches!(step.state, StepState::Failed { .. }).then_some(step)
}

/// Whether a step failed for the same reason in the run before, given the newest runs first. One without that step says nothing.
pub fn is_known(run: &Pipeline, step: &PipelineStep, newest: &[Pipeline]) -> bool {
    let earlier = newest.iter().filter(|it| it.id != run.id);
    let mut same = earlier.filter_map(|it| it.steps.iter().find(|other| other.kind == step.kind));
    let now = obstacle(step);
    now.is_some() && same.next().and_then(obstacle) == now
}

/// Why a step failed, without the words that name a commit, a job or a number, which differ each time.
fn obstacle(step: &PipelineStep) -> Option<Vec<&str>> {
    let reason = match &step.state {
        StepState::Failed { reason, .. } => reason,
        StepState::Pending
        | StepState::Running { .. }
        | StepState::WaitingMerge { .. }
        | StepState::Done { .. }
        | StepState::Skipped { .. } => return None,
    };
    let is_same_word = |word: &&str| !word.contains(|c: char| c.is_ascii_digit());
    Some(reason.split_whitespace().filter(is_same_word).collect())
}

/// The event of a step that failed.
pub fn announcement(
    run: &Pipeline,
    step: &PipelineStep,
    account: &AccountName,
    now: Timestamp,
) -> Event {
    let why = step.state.reason().unwrap_or_default();
    let reason = format!(
        "The step {} of pipeline {} of {} failed: {why}",
        step.kind, run.id, run.repo
    );
    Event::new(
        EventId::from_name(&format!("pipeline:{}:{}", run.id, step.kind)),
        account.clone(),
        now,
        Occurrence::Error {
            cause: ErrorCause::Pipeline,
            reason,
        },
    )
}
