//! Orders about a job of a delivery: each is the same order about the delivery, so that nothing goes around a checkpoint,
//! unless the job was only collected.

use axum::Json;
use axum::response::{IntoResponse, Response};
use client::wire::{ApproveDelivery, CancelDelivery, MergeRequest, Pending, Reason, RetryDelivery};
use domain::delivery::{self, Act, CommandKind, Delivery, Rules, TransitionError};
use domain::ids::{DeliveryId, JobId, PlanId, PullRef};
use domain::job::Job;
use domain::pull::MergeStyle;
use jiff::Timestamp;

use super::orders::{DeliveryVerb, command_id, text_of};
use crate::auth::AuthenticatedCaller;
use crate::refusal::Refused;
use crate::state::ApiInner;
use crate::{outcome, view};

/// Who orders, and the name under which the order is carried out once.
#[derive(Clone, Copy)]
pub(crate) struct NamedCaller<'a> {
    pub(crate) who: &'a AuthenticatedCaller,
    pub(crate) key: Option<&'a str>,
}

/// A retry of a job; none for a job that belongs to no delivery.
pub(crate) async fn retry_instead(
    api: &ApiInner,
    job: &JobId,
    reason: Option<String>,
    caller: NamedCaller<'_>,
) -> Result<Option<Response>, Refused> {
    let sent = RetryDelivery { reason };
    let request = DeliveryVerb::Retry.request(&text_of(&sent));
    let act = Act::Retry {
        reason: sent.reason,
    };
    let by = caller.who.actor();
    let order = |job: &Job, delivery: &Delivery, rules: &Rules| {
        delivery::retry_order(delivery, job, act.clone(), &by, rules)
    };
    match give_instead(api, job, &request, &order, caller).await? {
        Some(_) => Ok(Some(shown(api, job).await?)),
        None => Ok(None),
    }
}

/// A cancellation of a job, and the close of its pull request in the name of who orders it: that is also taken once
/// nothing else is left to cancel. None for a job that is called off alone.
pub(crate) async fn cancel_instead(
    api: &ApiInner,
    job: &JobId,
    closing: Option<&PullRef>,
    by: &str,
    caller: NamedCaller<'_>,
) -> Result<Option<Response>, Refused> {
    let owned = api.backend.must_job(job).await?.value;
    let Some(id) = delivery::called_off_with(&owned).cloned() else {
        return Ok(None);
    };
    let is_left = closing.is_some() && is_called_off(api, &id, caller.who).await?;
    if !is_left {
        let request = DeliveryVerb::Cancel.request(&text_of(&CancelDelivery {}));
        let order = |_: &Job, _: &Delivery, _: &Rules| Ok(Act::Cancel);
        give_instead(api, job, &request, &order, caller).await?;
    }
    let answer = shown(api, job).await?;
    if let Some(pull) = closing {
        api.backend.close_pull(pull, by).await?;
    }
    Ok(Some(answer))
}

/// Whether a delivery takes no cancellation since it was cancelled before, or is over.
async fn is_called_off(
    api: &ApiInner,
    id: &DeliveryId,
    who: &AuthenticatedCaller,
) -> Result<bool, Refused> {
    let delivery = api.backend.must::<Delivery>(id).await?.value;
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
    caller: NamedCaller<'_>,
) -> Result<Option<Response>, Refused> {
    let sent = ApproveDelivery {
        sha: None,
        plan_id: read.cloned(),
    };
    let request = DeliveryVerb::Approve.request(&text_of(&sent));
    let by = caller.who.actor();
    let act = |job: &Job, delivery: &Delivery, rules: &Rules| {
        delivery::plan_approval(delivery, &job.id, read, &by, rules)
    };
    match give_instead(api, job, &request, &act, caller).await? {
        Some(taken) => Ok(Some(later(&taken.id, outcome::pauses(api, job).await?))),
        None => Ok(None),
    }
}

/// An order to merge the pull request of a job. Returns since when its delivery gives the word for it.
pub(crate) async fn merge_instead(
    api: &ApiInner,
    job: &JobId,
    wanted: &MergeRequest,
    style: &MergeStyle,
    caller: NamedCaller<'_>,
) -> Result<Option<Timestamp>, Refused> {
    let request = format!("merge:{}", text_of(wanted));
    let merge = Act::Merge {
        head: wanted.sha.clone(),
        style: style.clone(),
    };
    let by = caller.who.actor();
    let act = |job: &Job, delivery: &Delivery, rules: &Rules| {
        delivery::merge_order(delivery, job, merge.clone(), &by, rules)
    };
    let taken = give_instead(api, job, &request, &act, caller).await?;
    let given_at = |taken: Delivery| match taken.review.approved {
        Some(approved) => approved.at,
        // The same order as before, and what it was about is gone.
        None => api.backend.now(),
    };
    Ok(taken.map(given_at))
}

/// Gives an order that follows from where the delivery of a job is; none for a job that belongs to none. The same request
/// under the same name is one order.
async fn give_instead(
    api: &ApiInner,
    job: &JobId,
    request: &str,
    act: &(impl Fn(&Job, &Delivery, &Rules) -> Result<Act, TransitionError> + Sync),
    caller: NamedCaller<'_>,
) -> Result<Option<Delivery>, Refused> {
    let owned = api.backend.must_job(job).await?.value;
    let Some(id) = &owned.delivery else {
        return Ok(None);
    };
    let (name, by) = (command_id(api, caller.key, request), caller.who.actor());
    let act = |delivery: &Delivery, rules: &Rules| act(&owned, delivery, rules);
    let taken = api.backend.command_by_place(id, &name, &by, act).await?;
    tracing::info!(delivery.id = %id, job.id = %job, %by, "an order about a job was given to its delivery");
    Ok(Some(taken))
}

fn later(id: &DeliveryId, reasons: Vec<Reason>) -> Response {
    outcome::later(Pending {
        ask_again: format!("/api/deliveries/{id}"),
        sentence: format!("Delivery {id} has taken the order and carries it out."),
        reasons,
        effect: None,
    })
}
