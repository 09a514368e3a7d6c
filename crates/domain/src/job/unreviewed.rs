//! Work on a plan without an approval: Gaffer announces it, and the plan can be approved after the fact.
//!
//! Jules asks for the approval of its first plan; a later message can make it write another one and work on that
//! without asking.

use super::announcing::announce;
use super::attention::audience;
use super::context::Context;
use super::event::event;
use super::watch::{PendingPlan, Watch};
use super::{AnnouncementTopic, Job, JobPhase, completion};
use crate::event::Occurrence;
use crate::ids::PlanId;
use crate::policy::PlanApproval;
use crate::session::SessionState;
use crate::step::Step;

/// The plan under work that has no approval.
fn worked_on(watch: &Watch) -> Option<&PendingPlan> {
    let unapproved = |pending: &&PendingPlan| {
        pending.worked_on && watch.announced.approved_plan.as_ref() != Some(&pending.plan.id)
    };
    watch.log.plan.as_ref().filter(unapproved)
}

/// The same while the session does not wait for its approval.
fn plan_of(watch: &Watch) -> Option<&PendingPlan> {
    let asks = watch.state == SessionState::AwaitingPlanApproval
        || watch.state == SessionState::Completed && completion::plan_waits(watch);
    worked_on(watch).filter(|_| !asks)
}

/// Announces it to the approver of plans, once for each plan. Where plans need no approval, only a plan after an
/// approved one is news.
pub(super) fn notice(step: &mut Step<Job>, watch: &mut Watch, context: &Context<'_>) {
    let Some(pending) = plan_of(watch) else {
        return;
    };
    let plan = pending.plan.clone();
    let is_first = watch.log.plan_approved_at.is_none();
    let free = match context.policy.plan_approval {
        PlanApproval::Auto => is_first,
        PlanApproval::Agent | PlanApproval::Human => false,
        // The delivery sees whatever its session works on, and its pull request is reviewed.
        PlanApproval::Delivery => true,
    };
    if free || watch.announced.unreviewed_plan.as_ref() == Some(&plan.id) {
        return;
    }
    watch.announced.unreviewed_plan = Some(plan.id.clone());
    let name = format!("unreviewed_plan:{}:{}", watch.session, plan.id);
    let about = (
        name.as_str(),
        Occurrence::UnreviewedPlan { plan },
        audience(context.policy),
    );
    let told = event(&step.aggregate, watch, about, context.now);
    announce(step, watch, AnnouncementTopic::Plan, told);
}

/// Whether the pull request of a job comes from work on a plan without an approval. It may not be linked to the job
/// yet, so COMPLETED without one does not show that the plan waits.
pub fn has_unreviewed_plan(job: &Job) -> bool {
    match &job.phase {
        JobPhase::Watching(watch) => is_unreviewed(watch),
        JobPhase::Ended(ending) => ending.plan_unreviewed,
        JobPhase::Queued { .. } | JobPhase::Creating { .. } | JobPhase::Proposed { .. } => false,
    }
}

/// Whether a session works, or worked, on a plan without an approval.
pub(super) fn is_unreviewed(watch: &Watch) -> bool {
    worked_on(watch).is_some() && watch.state != SessionState::AwaitingPlanApproval
}

/// Whether a session no longer waits for the approval of a plan, since it works on it: Jules needs no call.
pub fn is_worked_on(watch: &Watch, plan: &PlanId) -> bool {
    let same = |pending: &&PendingPlan| pending.plan.id == *plan && pending.worked_on;
    let waits = watch.state == SessionState::AwaitingPlanApproval
        || watch.state == SessionState::Completed && completion::plan_waits(watch);
    !waits && watch.log.plan.as_ref().filter(same).is_some()
}
