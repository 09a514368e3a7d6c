//! What a decision is about: one about another head or plan than the present one is refused.

use super::DeliveryPlan;
use super::text::Refused;
use crate::ids::{CommitSha, PlanId};

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
pub(super) fn same_plan(
    wanted: Option<&PlanId>,
    plan: Option<&DeliveryPlan>,
) -> Result<(), Refused> {
    let present = plan.map(|plan| &plan.id);
    match wanted {
        Some(wanted) if present != Some(wanted) => Err((
            "plan_moved",
            format!("the present plan is not {wanted}: read it first"),
        )),
        Some(_) | None => Ok(()),
    }
}
