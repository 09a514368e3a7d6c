//! Decisions that a delivery asks for, and what its issue is told.

use jiff::Timestamp;

use super::failure::failed;
use super::history;
use super::lateness::planner;
use super::verify::is_let_go;
use super::{
    Delivery, DeliveryReason, Fault, Mode, Phase, PlanBy, RunStatus, Told, Want, public_reasons,
};
use crate::event::{Audience, DeliveryAsk, ErrorCause, Event, Occurrence};
use crate::ids::{DeliveryId, digest};
use crate::job::{self, Job};
use crate::wake;

/// The decision that is asked for where a delivery waits; a review is asked for with its head.
pub(super) fn asks(delivery: &Delivery) -> Option<Want> {
    let (ask, audience) = asked(delivery)?;
    // One question for each time that it comes here, and another one for the person who is asked in the agent's place.
    let is_handed_over = planner(delivery) != delivery.rules.plan_by;
    let suffix = if is_handed_over { ":human" } else { "" };
    let cause = format!("{}{suffix}", super::cause(delivery));
    Some(Want::Ask {
        ask,
        audience,
        cause,
    })
}

fn asked(delivery: &Delivery) -> Option<(DeliveryAsk, Audience)> {
    if delivery.awaits_start() {
        return Some((DeliveryAsk::Start, Audience::Human));
    }
    if delivery.awaits_approval() {
        let phase = delivery.phase;
        let plan = delivery.plan.as_ref().filter(|_| phase == Phase::Plan);
        let plan = plan.map(|plan| wake::fitting_plan(&plan.to_steps()));
        return Some((DeliveryAsk::Checkpoint { phase, plan }, Audience::Human));
    }
    let is_planning = (delivery.phase, delivery.run_status) == (Phase::Plan, RunStatus::Running)
        && delivery.children.is_empty();
    match planner(delivery) {
        PlanBy::Agent if is_planning => Some((DeliveryAsk::Plan, Audience::Agent)),
        PlanBy::Human if is_planning => Some((DeliveryAsk::Plan, Audience::Human)),
        PlanBy::Agent | PlanBy::Human | PlanBy::Jules => None,
    }
}

/// Address at the HTTP API of the whole plan of which a question shows a part: what its session said, else the delivery
/// itself. `None` where the question shows all of it.
pub fn whole_plan_url(delivery: &Delivery, ask: &DeliveryAsk, job: Option<&Job>) -> Option<String> {
    let DeliveryAsk::Checkpoint {
        plan: Some(shown), ..
    } = ask
    else {
        return None;
    };
    let said = job.and_then(|job| job::whole_plan_url(job, &shown.id));
    let plan = delivery.plan.as_ref();
    let is_cut = plan.is_some_and(|plan| plan.to_steps() != *shown);
    said.or_else(|| is_cut.then(|| format!("/api/deliveries/{}", delivery.id)))
}

/// The approval that is asked for while it is all that a merge waits for: of the agent, as for a job without a delivery.
pub(super) fn asks_merge(delivery: &Delivery) -> Option<Want> {
    let seen = delivery.pull_seen();
    let is_green = seen.is_some_and(|seen| seen.lacks_approval);
    approval(delivery).filter(|_| is_green)
}

/// The same whatever is in the way for now: a reading that fails ends no question.
pub(super) fn approval(delivery: &Delivery) -> Option<Want> {
    let is_merging = (delivery.phase, delivery.run_status) == (Phase::Verify, RunStatus::Running);
    let is_open = is_merging && !is_let_go(delivery);
    let (pull, head) = (delivery.task.pull.clone(), delivery.head().cloned());
    let (pull, head) = (pull.filter(|_| is_open)?, head?);
    let cause = format!("{}:merge:{head}", super::cause(delivery));
    Some(Want::Ask {
        ask: DeliveryAsk::Merge { pull, head },
        audience: Audience::Agent,
        cause,
    })
}

/// The delivery that asks for something by an event, or tells of its failure.
pub fn asking(event: &Event) -> Option<&DeliveryId> {
    let is_own = match &event.what {
        Occurrence::Delivery { .. } => true,
        Occurrence::Error { cause, .. } => *cause == ErrorCause::PhaseFailed,
        Occurrence::Question { .. }
        | Occurrence::PlanApproval { .. }
        | Occurrence::UnreviewedPlan { .. }
        | Occurrence::UnexpectedPush { .. }
        | Occurrence::Completed { .. }
        | Occurrence::Stuck { .. }
        | Occurrence::News(_) => false,
    };
    event.aid.delivery.as_ref().filter(|_| is_own)
}

/// Whether a delivery waits with the failure that an event of its job announces: it does not announce such a failure itself. What
/// announced an earlier one was over when it was tried again.
pub fn is_failed_by(delivery: &Delivery, event: &Event) -> bool {
    let Occurrence::Error { cause, .. } = &event.what else {
        return false;
    };
    let fault = delivery.error.as_ref().map(|error| error.code);
    let is_own = event.job == delivery.task.job && event.attempt == delivery.task.attempt;
    delivery.run_status == RunStatus::Failed
        && is_own
        && fault.is_some_and(|it| it.is_told_as(cause))
        && event.observed_at >= history::tried_since(delivery)
}

/// Whether a delivery announces its failure itself, beside these events of its job: none of a cancelled job, and none of
/// a session or a pull request, which is announced with it, unless that was told to the agent and a person is awaited. Failed
/// checks are announced once for a pull request, so that nothing else tells of those that fail again after a retry.
pub fn announces_failure(delivery: &Delivery, of_job: &[Event]) -> bool {
    let (Some(error), Some(Want::TellFailed { audience, .. })) =
        (&delivery.error, failed(delivery))
    else {
        return false;
    };
    let of_job = of_job.iter().filter(|event| is_failed_by(delivery, event));
    let told: Vec<Audience> = of_job.map(|event| event.audience).collect();
    let is_told = !told.is_empty();
    let lacks_person = audience == Audience::Human && !told.contains(&audience);
    match error.code {
        Fault::JobCanceled => false,
        Fault::SessionFailed | Fault::SessionLost | Fault::SessionRefused | Fault::PullClosed => {
            is_told && lacks_person
        }
        Fault::ChecksFailed => !is_told || lacks_person,
        // What a person cancelled is no failure to announce, and never comes here.
        Fault::Canceled
        | Fault::MessageRefused
        | Fault::ApprovalRefused
        | Fault::NoPullRequest
        | Fault::NoNewCommit
        | Fault::RoundsUsedUp
        | Fault::ReviewFailed
        | Fault::MalformedReview
        | Fault::DeployFailed
        | Fault::ObserveFailed
        | Fault::NotBegun
        | Fault::PartsAbandoned
        | Fault::HistoryFull => true,
    }
}

/// Whether a delivery has gone on since an error of its job: a person or the agent tried again, or it waits for something else. Of a
/// session that was collected, all that was told before is past.
pub fn is_past(delivery: &Delivery, event: &Event) -> bool {
    if is_of_collected(delivery, event) {
        return true;
    }
    let is_error = matches!(&event.what, Occurrence::Error { cause, .. } if Fault::is_told(cause));
    let is_own = event.job.is_some() && event.job == delivery.task.job;
    is_error
        && is_own
        && !is_failed_by(delivery, event)
        && history::since(delivery) > event.observed_at
}

fn is_of_collected(delivery: &Delivery, event: &Event) -> bool {
    let mut collected = delivery
        .runs
        .iter()
        .filter(|run| run.mode == Mode::Execution);
    event.job.is_some()
        && collected.any(|run| run.job == event.job && event.observed_at <= run.created_at)
}

/// What its issue has to be told: whatever it was not told last.
pub fn tell(delivery: &Delivery) -> Option<Want> {
    let issue = delivery.issue.clone().filter(|_| delivery.rules.comment)?;
    let cause = cause(delivery);
    let is_told = delivery
        .told
        .as_ref()
        .is_some_and(|told| told.cause == cause);
    (!is_told).then_some(Want::Tell { issue, cause })
}

impl Told {
    /// What is told next.
    pub fn next(before: Option<&Self>, cause: &str, now: Timestamp) -> Self {
        Self {
            at: now,
            cause: cause.to_owned(),
            count: before.map_or(0, |told| told.count).saturating_add(1),
        }
    }

    /// Identifies this one among all that is told.
    pub fn id(&self) -> String {
        format!("{}:{}", self.count, self.cause)
    }
}

/// Identifies what an issue is told: where the delivery is, and why. Some sentences name a part or a pull request, which their codes do
/// not.
fn cause(delivery: &Delivery) -> String {
    let reasons = public_reasons(delivery).into_iter();
    let reasons = reasons.map(|DeliveryReason { code, sentence }| format!("{code} {sentence}"));
    let reasons: Vec<String> = reasons.collect();
    let pull = delivery.task.pull.as_ref().map(ToString::to_string);
    let text = format!(
        "{}:{}:{}",
        delivery.phase,
        reasons.join(","),
        pull.unwrap_or_default()
    );
    digest(&text)
}
