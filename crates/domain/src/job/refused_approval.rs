//! The approval that a delivery gave of its job's plan, while Jules refuses it: the delivery asks for it again, with longer and longer
//! waits, and calls a person once it gives that up.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::due::looked_at;
use super::open_plan::shown_plan;
use super::unreviewed::is_worked_on;
use super::watch::Watch;
use super::{Job, JobPhase};
use crate::effect::{Action, Effect, JulesAction};
use crate::failure::Failure;
use crate::ids::PlanId;
use crate::policy::Timing;
use crate::redact::presentable;
use crate::step::Step;

/// Longest reason of a refusal that is kept, in characters.
const WHY_CHARS_MAX: usize = 200;

/// Jules refused the approval of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedApproval {
    /// Which plan.
    pub plan: PlanId,
    /// Why, for people.
    pub why: String,
    /// When it was refused last.
    pub at: Timestamp,
    /// When it is tried again; none once it was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_at: Option<Timestamp>,
}

/// Whether its delivery approves its plans, and asks for that again until Jules takes it.
pub fn is_approved_by_delivery(job: &Job) -> bool {
    job.delivery.is_some() && !job.collected
}

/// Keeps that Jules refused the approval of a delivery, and opens the plan again, so that the delivery asks for it once more.
pub(super) fn note(
    job: &mut Job,
    watch: &mut Watch,
    effect: &Effect,
    failure: &Failure,
    now: Timestamp,
) {
    let Action::Jules(JulesAction::ApprovePlan { session, plan }) = &effect.action else {
        return;
    };
    // The refusal of an earlier plan says nothing of the present one, and must not hide that Jules refused that, too.
    let is_shown = shown_plan(watch).is_some_and(|(shown, _)| shown.id == *plan);
    if !is_approved_by_delivery(job) || watch.session != *session || !is_shown {
        return;
    }
    // One on which the session works already was approved elsewhere, and is not opened again.
    if watch.announced.approved_plan.as_ref() == Some(plan) && !is_worked_on(watch, plan) {
        watch.announced.approved_plan = None;
    }
    job.approval_refused = Some(RefusedApproval {
        plan: plan.clone(),
        why: presentable(&failure.message, WHY_CHARS_MAX),
        at: now,
        again_at: effect.requested_again(now).due(),
    });
}

/// The refusal of an approval for which its session still waits.
pub(crate) fn refused_approval(job: &Job) -> Option<&RefusedApproval> {
    let JobPhase::Watching(watch) = &job.phase else {
        return None;
    };
    let refused = job.approval_refused.as_ref()?;
    let (shown, _) = shown_plan(watch).filter(|(shown, _)| shown.id == refused.plan)?;
    let is_open = watch.pull.is_none() && !is_worked_on(watch, &shown.id);
    is_open.then_some(refused)
}

/// Jules took an approval: nothing is refused any more.
pub fn approved(job: &Job, timing: &Timing) -> Step<Job> {
    let mut step = Step::unchanged(job.clone());
    step.aggregate.approval_refused = None;
    step.due = looked_at(&step.aggregate, timing);
    step
}
