//! Which of a job's events an order answers, and which were answered elsewhere.

use super::watch::{Announcement, Watch};
use super::{Job, JobPhase, Order, pending_answer};
use crate::event::{ErrorCause, Event, Occurrence};
use crate::ids::EventId;

/// Whether an order about a job, given its earlier state, is what one of its events asks for. The order then
/// acknowledges the event.
pub fn answers(job: &Job, order: Order, event: &Event) -> bool {
    let asked = pending_answer(job);
    let is_open = asked
        .as_ref()
        .is_some_and(|asked| asked.events.contains(&&event.id));
    let is_of_now = event.job.as_ref() == Some(&job.id) && event.attempt == job.attempt;
    match order {
        // There was no job before.
        Order::Create | Order::Adopt => false,
        Order::Say | Order::Cancel => is_open || is_of_now && asks_for(&event.what, order),
        Order::Approve => {
            let unreviewed = is_present_plan(job, &event.what);
            is_open && asked.is_some_and(|asked| asked.is_plan) || is_of_now && unreviewed
        }
        Order::Merge | Order::Retry => is_of_now && asks_for(&event.what, order),
    }
}

/// The orders that an error of this cause asks for.
pub fn cause_asks_for(cause: &ErrorCause) -> &'static [Order] {
    match cause {
        ErrorCause::SessionPaused | ErrorCause::UnknownState => &[Order::Say, Order::Cancel],
        ErrorCause::MergeBlocked | ErrorCause::MergeRefused => &[Order::Merge],
        ErrorCause::SessionFailed
        | ErrorCause::InvalidJob
        | ErrorCause::CreateRefused
        | ErrorCause::PullClosed => &[Order::Retry],
        ErrorCause::Auth
        | ErrorCause::Network
        | ErrorCause::Budget
        | ErrorCause::CiFailed
        | ErrorCause::CiNeverStarted
        | ErrorCause::Conflict
        | ErrorCause::WrongBase
        | ErrorCause::MessageFailed
        | ErrorCause::ApprovalFailed
        | ErrorCause::TooOften
        | ErrorCause::GitHub
        | ErrorCause::PhaseFailed
        | ErrorCause::Schedule
        | ErrorCause::Pipeline
        | ErrorCause::Other(_) => &[],
    }
}

/// Whether an event is about the plan that is worked on now: an approval is of no earlier one.
fn is_present_plan(job: &Job, what: &Occurrence) -> bool {
    let (JobPhase::Watching(watch), Occurrence::UnreviewedPlan { plan }) = (&job.phase, what)
    else {
        return false;
    };
    let present = watch.log.plan.as_ref();
    present.is_some_and(|present| present.plan.id == plan.id)
}

/// Whether an occurrence of the present attempt asks for an order, besides the answer to an open question or plan.
fn asks_for(what: &Occurrence, order: Order) -> bool {
    match what {
        Occurrence::Error { cause, .. } => cause_asks_for(cause).contains(&order),
        Occurrence::Completed { .. } => matches!(order, Order::Merge | Order::Retry),
        Occurrence::UnexpectedPush { .. } => order == Order::Merge,
        Occurrence::Stuck { .. } => order == Order::Cancel,
        Occurrence::Question { .. }
        | Occurrence::PlanApproval { .. }
        | Occurrence::UnreviewedPlan { .. }
        | Occurrence::Delivery { .. }
        | Occurrence::News(_) => false,
    }
}

/// Whether a question or plan in an event no longer waits for an answer: it was answered, though its session may not
/// show that yet, or its session is over.
pub fn is_answered(job: &Job, event: &Event) -> bool {
    match event.what {
        Occurrence::Question { .. } | Occurrence::PlanApproval { .. } => !pending_answer(job)
            .is_some_and(|asked| asked.events.contains(&&event.id) && !asked.is_answered),
        Occurrence::UnreviewedPlan { .. }
        | Occurrence::UnexpectedPush { .. }
        | Occurrence::Completed { .. }
        | Occurrence::Error { .. }
        | Occurrence::Stuck { .. }
        | Occurrence::Delivery { .. }
        | Occurrence::News(_) => false,
    }
}

/// Whether an order about what an event asks for leaves nothing to decide, so that an agent that has not got it need not know of
/// it. A message about a plan does not: the same plan may wait on.
pub fn settles(order: Order, what: &Occurrence) -> bool {
    match what {
        Occurrence::Question { .. } => true,
        Occurrence::PlanApproval { .. } | Occurrence::UnreviewedPlan { .. } => order != Order::Say,
        Occurrence::UnexpectedPush { .. }
        | Occurrence::Completed { .. }
        | Occurrence::Error { .. }
        | Occurrence::Stuck { .. }
        | Occurrence::Delivery { .. }
        | Occurrence::News(_) => false,
    }
}

/// The events of a question or a plan that was answered between two states of a job, wherever that was done: it cannot open again.
pub fn answered_since(before: &Job, after: &Job) -> Vec<EventId> {
    let JobPhase::Watching(was) = &before.phase else {
        return Vec::new();
    };
    let is = after.watched();
    let announced: [(Option<&Announcement>, IsOver); 2] = [
        (was.announced.question.as_ref(), is_question_over),
        (was.announced.plan.as_ref(), is_plan_over),
    ];
    let over = announced.into_iter().filter_map(|(told, is_over)| {
        let told = told?;
        let ends = !is_over(told, was) && is.is_none_or(|is| is_over(told, is));
        ends.then_some(told)
    });
    over.flat_map(Announcement::events).cloned().collect()
}

/// Whether what was announced is over in a state of its session.
type IsOver = fn(&Announcement, &Watch) -> bool;

/// Whether a question was answered for good. A state that flaps is no answer, and neither is an older message that the log
/// shows late.
fn is_question_over(told: &Announcement, watch: &Watch) -> bool {
    let last = watch.announced.question.as_ref();
    let is_followed = last.is_some_and(|last| last.event != told.event);
    let said = watch.log.agent.as_ref();
    let said = said.filter(|said| said.id.as_str() == told.key);
    let is_answered = match said {
        Some(said) => watch.log.user_at >= Some(said.at),
        None => told.answered(watch.log.user_at),
    };
    is_followed || is_answered
}

/// The same of a plan.
fn is_plan_over(told: &Announcement, watch: &Watch) -> bool {
    let last = watch.announced.plan.as_ref();
    let is_followed = last.is_some_and(|last| last.event != told.event);
    let waiting = watch.log.plan.as_ref();
    let waits = waiting.is_some_and(|waiting| waiting.plan.id.as_str() == told.key);
    is_followed || !waits && told.answered(watch.log.plan_approved_at)
}
