//! Orders about a job that works for a delivery: each is the same order about the delivery, so that nothing goes around
//! a checkpoint.

use axum::Json;
use axum::response::{IntoResponse, Response};
use client::wire::{Pending, Reason};
use domain::delivery::{self, Act, Command, CommandKind, Delivery, Rules, TransitionError};
use domain::ids::{DeliveryId, JobId, PlanId, PullRef};

use super::orders::command_id;
use crate::auth::AuthenticatedCaller;
use crate::http_api::ApiInner;
use crate::refusal::Refused;
use crate::{outcome, view};

/// Gives an order to the delivery of a job; none for a job that belongs to none.
pub(crate) async fn order_instead(
    api: &ApiInner,
    job: &JobId,
    act: Act,
    who: &AuthenticatedCaller,
) -> Result<Option<Response>, Refused> {
    let answers_job = match &act {
        Act::Cancel | Act::Retry { .. } => true,
        Act::Approve { .. }
        | Act::Merge { .. }
        | Act::Start
        | Act::Reject { .. }
        | Act::Verdict(_)
        | Act::Plan { .. }
        | Act::Split { .. }
        | Act::Edit(_)
        | Act::Collect { .. }
        | Act::Analyse { .. } => false,
    };
    let Some(id) = give_instead(api, job, &|_, _| Ok(act.clone()), who).await? else {
        return Ok(None);
    };
    if answers_job {
        return Ok(Some(shown(api, job).await?));
    }
    Ok(Some(later(&id, outcome::pauses(api, job).await?)))
}

/// A cancellation of a job, and the close of its pull request in the name of who orders it: that is also taken once
/// nothing else is left to cancel.
pub(crate) async fn cancel_instead(
    api: &ApiInner,
    job: &JobId,
    closing: Option<(&PullRef, &str)>,
    who: &AuthenticatedCaller,
) -> Result<Option<Response>, Refused> {
    let is_left = closing.is_some() && is_called_off(api, job, who).await?;
    let answer = match is_left {
        true => Some(shown(api, job).await?),
        false => order_instead(api, job, Act::Cancel, who).await?,
    };
    if let (Some(_), Some((pull, by))) = (&answer, closing) {
        api.backend.close_pull(pull, by).await?;
    }
    Ok(answer)
}

/// Whether the delivery of a job takes no cancellation since it was cancelled before, or is over.
async fn is_called_off(
    api: &ApiInner,
    job: &JobId,
    who: &AuthenticatedCaller,
) -> Result<bool, Refused> {
    let Some(id) = api.backend.must_job(job).await?.value.delivery else {
        return Ok(false);
    };
    let delivery = api.backend.must::<Delivery>(&id).await?.value;
    let rules = api.backend.delivery_rules(&delivery).await?;
    let legal = delivery::legal(&delivery, &who.actor(), &rules);
    Ok(delivery::is_called_off(&delivery) && !legal.contains(&CommandKind::Cancel))
}

/// A job as it is now.
async fn shown(api: &ApiInner, job: &JobId) -> Result<Response, Refused> {
    let job = api.backend.must_job(job).await?.value;
    Ok(Json(view::job_view(api, &job).await?).into_response())
}

/// An approval of the plan of a job: nothing but the plan of its delivery is approved by it.
pub(crate) async fn approve_instead(
    api: &ApiInner,
    job: &JobId,
    read: Option<&PlanId>,
    who: &AuthenticatedCaller,
) -> Result<Option<Response>, Refused> {
    let by = who.actor();
    let act = |delivery: &Delivery, rules: &Rules| {
        delivery::plan_approval(delivery, (job, read), (&by, rules))
    };
    match give_instead(api, job, &act, who).await? {
        Some(id) => Ok(Some(later(&id, outcome::pauses(api, job).await?))),
        None => Ok(None),
    }
}

/// Gives an order that follows from where the delivery of a job is; none for a job that belongs to none.
pub(crate) async fn give_instead(
    api: &ApiInner,
    job: &JobId,
    act: &(impl Fn(&Delivery, &Rules) -> Result<Act, TransitionError> + Sync),
    who: &AuthenticatedCaller,
) -> Result<Option<DeliveryId>, Refused> {
    let Some(id) = api.backend.must_job(job).await?.value.delivery else {
        return Ok(None);
    };
    let (name, by) = (command_id(api, None, ""), who.actor());
    let command = |delivery: &Delivery, rules: &Rules| {
        Ok(Command {
            id: name.clone(),
            by: by.clone(),
            act: act(delivery, rules)?,
        })
    };
    api.backend.command_by_place(&id, command).await?;
    tracing::info!(delivery.id = %id, job.id = %job, %by, "an order about a job was given to its delivery");
    Ok(Some(id))
}

fn later(id: &DeliveryId, reasons: Vec<Reason>) -> Response {
    outcome::later(Pending {
        ask_again: format!("/api/deliveries/{id}"),
        sentence: format!("Delivery {id} has taken the order and carries it out."),
        reasons,
        effect: None,
    })
}
