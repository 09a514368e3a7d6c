//! Orders about a job that works for a delivery: each is the same order about the delivery, so that nothing goes around
//! a checkpoint.

use axum::Json;
use axum::response::{IntoResponse, Response};
use client::wire::{Pending, Reason};
use domain::delivery::{Act, Command};
use domain::ids::{DeliveryId, JobId};

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
    let Some(id) = api.backend.must_job(job).await?.value.delivery else {
        return Ok(None);
    };
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
    let command = Command {
        id: command_id(api, None, ""),
        by: who.actor(),
        act,
    };
    api.backend.command_delivery(&id, &command).await?;
    tracing::info!(delivery.id = %id, job.id = %job, by = %command.by, act = %command.act.kind(), "an order about a job was given to its delivery");
    if answers_job {
        let job = api.backend.must_job(job).await?.value;
        return Ok(Some(Json(view::job_view(api, &job).await?).into_response()));
    }
    Ok(Some(later(&id, outcome::pauses(api, job).await?)))
}

fn later(id: &DeliveryId, reasons: Vec<Reason>) -> Response {
    outcome::later(Pending {
        ask_again: format!("/api/deliveries/{id}"),
        sentence: format!("Delivery {id} has taken the order and carries it out."),
        reasons,
        effect: None,
    })
}
