//! What a decision is about: one about another head, plan or pull request than the present one is refused.

use super::legal::{TransitionError, legal};
use super::text::Refused;
use super::{Act, Actor, Delivery, Plan, Rules};
use crate::ids::{CommitSha, JobId, PlanId};

/// The command that an order to merge the pull request of a job stands for; refused where another job works for the delivery.
///
/// # Errors
/// When it is not the pull request of the delivery: its word would be for one that the order does not name.
pub fn merge_order(
    delivery: &Delivery,
    (job, act): (&JobId, Act),
    (by, rules): (&Actor, &Rules),
) -> Result<Act, TransitionError> {
    if delivery.task.job.as_ref() == Some(job) {
        return Ok(act);
    }
    let sentence = format!("job {job} is not the one that works for the delivery now");
    Err(TransitionError {
        code: "other_job",
        sentence,
        legal: legal(delivery, by, rules),
    })
}

/// Refuses what was decided about a head that is not the present one.
pub(super) fn same_head(
    wanted: Option<&CommitSha>,
    head: Option<&CommitSha>,
) -> Result<(), Refused> {
    match (wanted, head) {
        (Some(wanted), Some(head)) if wanted != head => Err((
            "head_moved",
            format!("the head is {head}, not {wanted}: look at it again"),
        )),
        (Some(_), None) => Err((
            "head_moved",
            "no head is known now: look at it again".to_owned(),
        )),
        (Some(_), Some(_)) | (None, _) => Ok(()),
    }
}

/// Refuses what was decided about a plan that is not the present one.
pub(super) fn same_plan(wanted: Option<&PlanId>, plan: Option<&Plan>) -> Result<(), Refused> {
    let present = plan.map(|plan| &plan.id);
    match wanted {
        Some(wanted) if present != Some(wanted) => Err((
            "plan_moved",
            format!("the present plan is not {wanted}: read it first"),
        )),
        Some(_) | None => Ok(()),
    }
}
