//! Runs and requirements in their wire form. Text from others is stripped of anything that looks like a secret.

use client::wire::{
    DeliveryGlimpse, MemberView, PipelineView, PipelineWhy, RequirementView, StepView, StepWhy,
};
use domain::delivery::{Delivery, Phase, TITLE_CHARS_MAX};
use domain::job::{Job, WaitsFor};
use domain::pipeline::{
    Member, Pipeline, PipelineStep, Requirement, RequirementAsk, RequirementState,
};
use domain::redact::presentable;
use domain::when::to_the_second;

use crate::next;
use crate::view::SHORT_CHARS_MAX;

/// The word of a requirement whose delivery is at its review.
const IN_REVIEW: &str = "in_review";

/// One run.
pub(super) fn run(run: &Pipeline) -> PipelineView {
    PipelineView {
        id: run.id.clone(),
        repo: run.repo.clone(),
        state: run.word().to_owned(),
        is_over: run.is_over(),
        target: run.target.clone(),
        worker: run.worker.clone(),
        layer: run.ask.layer.map(|layer| layer.name().to_owned()),
        role: run.ask.role.clone(),
        stream: run.ask.stream.clone(),
        requirement: run.ask.requirement.as_deref().map(short),
        task: run.ask.task.as_deref().map(short),
        mock: run.ask.mock.clone(),
        exchange: run.rules.exchange.word().to_owned(),
        implement: run.rules.implement.word().to_owned(),
        by: short(&run.by),
        wait_minutes: run.wait_minutes,
        summed_up: run.summed_up.clone(),
        steps: run.steps.iter().map(step).collect(),
        created_at: run.created_at,
        updated_at: run.updated_at,
    }
}

fn step(step: &PipelineStep) -> StepView {
    StepView {
        step: step.kind.name().to_owned(),
        state: step.state.word().to_owned(),
        reason: step.reason().map(short),
        since: step.state.since(),
        members: step.members.iter().map(member).collect(),
    }
}

fn member(member: &Member) -> MemberView {
    MemberView {
        role: member.role.clone(),
        stream: Some(member.stream.clone()).filter(|stream| !stream.is_generic()),
        requirement: member.requirement.as_deref().map(short),
        job_id: member.known_job().cloned(),
        session_id: None,
        state: member.state.word().to_owned(),
        reason: member.state.reason().map(short),
        note: Some(short(&member.note)).filter(|note| !note.is_empty()),
    }
}

/// What a run waits for.
pub(super) fn why(why: &engine::why::PipelineWhy) -> PipelineWhy {
    let step = |step: &engine::why::StepWhy| StepWhy {
        step: step.step.to_owned(),
        state: step.state.to_owned(),
        sentence: short(&to_the_second(&step.sentence)),
    };
    PipelineWhy {
        pipeline_id: why.pipeline.clone(),
        state: why.state.to_owned(),
        because: why.because.clone(),
        steps: why.steps.iter().map(step).collect(),
        next: why.next.iter().map(next::shown).collect(),
        next_look: why.next_look,
    }
}

/// One requirement, with what is stored of its delivery, and with its job and who is waited for there.
pub(super) fn requirement(
    found: &Requirement,
    delivery: Option<&Delivery>,
    at_work: Option<(Job, WaitsFor)>,
) -> RequirementView {
    let pull = at_work.as_ref().and_then(|(job, _)| job.pull());
    let waits = at_work.as_ref().map(|(_, waits)| waits);
    let of_job = found.state.told_of_job(pull, waits);
    let events = found.reference.events.iter();
    let taken = RequirementAsk::ALL.into_iter();
    let taken = taken.filter(|ask| found.takes(*ask));
    RequirementView {
        id: found.reference.id.clone(),
        repo: found.repo.clone(),
        title: presentable(&found.title, TITLE_CHARS_MAX),
        label: short(&found.label),
        path: short(&found.reference.path),
        events: events.map(|path| short(path)).collect(),
        state: state(&found.state, delivery).to_owned(),
        reason: reason(&found.state, delivery).or(of_job.as_deref().map(short)),
        waits_for: at_work.map(|(_, waits)| waits.into()),
        job_id: found.state.job().cloned(),
        delivery: found.state.delivery().map(|id| DeliveryGlimpse {
            id: id.clone(),
            phase: delivery.map(|it| it.phase.word().to_owned()),
            run_status: delivery.map(|it| it.run_status.word().to_owned()),
        }),
        attempt: found.attempt,
        keep_files: found.keep_files,
        takes: taken.map(|ask| ask.word().to_owned()).collect(),
        created_at: found.created_at,
        updated_at: found.updated_at,
    }
}

/// How far a requirement is; one that is implemented is in review while its delivery is.
fn state(state: &RequirementState, delivery: Option<&Delivery>) -> &'static str {
    let is_reviewed = delivery.is_some_and(|it| it.phase == Phase::Review);
    match state {
        RequirementState::Implementing { .. } if is_reviewed => IN_REVIEW,
        RequirementState::Implementing { .. }
        | RequirementState::Planning { .. }
        | RequirementState::Unplanned { .. }
        | RequirementState::Ready
        | RequirementState::Merged { .. }
        | RequirementState::Tidying { .. }
        | RequirementState::Tidied { .. }
        | RequirementState::Removing { .. }
        | RequirementState::Failed { .. } => state.word(),
    }
}

/// Why it was not planned or implemented, or does not go on.
fn reason(state: &RequirementState, delivery: Option<&Delivery>) -> Option<String> {
    let stopped = || delivery.and_then(|it| state.stopped_by(it));
    let why = state.reason().map(str::to_owned).or_else(stopped);
    why.map(|why| short(&why))
}

fn short(text: &str) -> String {
    presentable(text, SHORT_CHARS_MAX)
}
