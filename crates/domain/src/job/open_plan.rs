//! The plan that waits for an approval: which one an approval is about, and how its wait is told.

use jiff::Timestamp;

use super::Job;
use super::watch::{Attention, Watch};
use crate::effect::{Action, JulesAction};
use crate::ids::PlanId;
use crate::session::Plan;

/// Why a job waits whose plan is to be approved: a code and a sentence.
pub fn plan_open(since: Timestamp) -> (&'static str, String) {
    let sentence = format!("A plan waits for approval since {since}.");
    ("plan_open", sentence)
}

/// The plan that an approval of a job is about, and when it was made; none while its steps are not known.
pub fn plan_to_approve(job: &Job) -> Option<(&Plan, Timestamp)> {
    job.watched().and_then(shown_plan)
}

/// The same of a watched session.
pub(super) fn shown_plan(watch: &Watch) -> Option<(&Plan, Timestamp)> {
    let made = watch.log.plan.as_ref();
    match &watch.attention {
        Attention::Plan { plan, since, .. } => {
            let plan = plan.as_ref()?;
            let made = made.filter(|made| made.plan.id == plan.id);
            Some((plan, made.map_or(*since, |made| made.at)))
        }
        Attention::None
        | Attention::Expecting { .. }
        | Attention::Question { .. }
        | Attention::Answered { .. } => made.map(|made| (&made.plan, made.at)),
    }
}

/// Whether another plan took the place of the one that an approval names. Jules's call names none, so it would approve that other
/// plan, which has a turn of its own. The placeholder of a plan whose id never came is compared with nothing.
pub fn is_plan_replaced(watch: &Watch, plan: &PlanId) -> bool {
    let shown = shown_plan(watch).map(|(shown, _)| &shown.id);
    !plan.is_unnamed() && shown.is_some_and(|shown| shown != plan)
}

/// Whether an action approves a plan whose place another one took: no event has to tell that it failed.
pub(super) fn approves_replaced_plan(watch: &Watch, action: &Action) -> bool {
    matches!(action, Action::Jules(JulesAction::ApprovePlan { plan, .. }) if is_plan_replaced(watch, plan))
}
