//! Executions of a delivery that are asked for by their name, and sessions that are collected.
//!
//! Each is one of the usual orders: `domain::delivery` says which.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use axum::{Extension, Json};
use client::wire::{AnalysisRequest, CollectRequest, ExecuteDelivery, FixDelivery};
use domain::delivery::{self, Act, CommandKind, Delivery, Execution, FEEDBACK_CHARS_MAX, Rules};
use domain::ids::DeliveryId;
use engine::jobs::adoption::Adoption;

use super::orders::{command, command_id, no_delivery, text_of};
use super::{named, requests, runs, shown};
use crate::adopt;
use crate::auth::{AuthenticatedCaller, OrderCaller};
use crate::body::{self, Parts, Sent};
use crate::reach;
use crate::refusal::Refused;
use crate::state::{ApiInner, SharedState};

/// The path on which an execution is asked for.
pub(crate) const fn path(wanted: Execution) -> &'static str {
    match wanted {
        Execution::Plan => "/api/deliveries/{delivery}/generate-plan",
        Execution::Implement => "/api/deliveries/{delivery}/run-implement",
        Execution::Review => "/api/deliveries/{delivery}/run-review",
        Execution::Fix => "/api/deliveries/{delivery}/run-fix",
    }
}

/// What serves an execution.
pub(crate) fn execute(wanted: Execution) -> MethodRouter<Arc<ApiInner>> {
    post(move |api, path, sender, sent| begin(wanted, api, path, sender, sent))
}

/// 202: the delivery runs already.
async fn begin(
    wanted: Execution,
    State(api): SharedState,
    at: Parts<String>,
    (Extension(who), headers): OrderCaller,
    sent: Sent,
) -> Result<Response, Refused> {
    let key = body::idempotency_key(&headers)?;
    let reason = reason(wanted, sent)?;
    let id = named(&api, at).await?;
    let request = format!("{}:{reason:?}", path(wanted));
    let command_id = command_id(&api, key, &request);
    stored(&api, &id, &who).await?;
    let by = who.actor();
    // By where the delivery is when it is saved, so that no order meets another phase than it was meant for.
    let act = |delivery: &Delivery, rules: &Rules| {
        delivery::execution(delivery, wanted, reason.clone(), &by, rules)
    };
    let ordered = api.backend.command_by_place(&id, &command_id, &by, act);
    ordered.await?;
    tracing::info!(delivery.id = %id, %by, ?wanted, "an execution of a delivery was ordered");
    let address = [(LOCATION, format!("/api/deliveries/{id}"))];
    let view = shown(&api, &id, &who).await?;
    Ok((StatusCode::ACCEPTED, address, view).into_response())
}

fn reason(wanted: Execution, sent: Sent) -> Result<Option<String>, Refused> {
    match wanted {
        Execution::Plan | Execution::Implement | Execution::Review => {
            let ExecuteDelivery {} = body::maybe_order(sent)?;
            Ok(None)
        }
        Execution::Fix => {
            let FixDelivery { reason } = body::maybe_order(sent)?;
            if let Some(reason) = &reason {
                requests::fits("reason", reason, FEEDBACK_CHARS_MAX)?;
            }
            Ok(reason)
        }
    }
}

/// `POST /api/deliveries/{delivery}/collect`: 202 while the session is unread, 404 where there is none.
pub(crate) async fn collect(
    State(api): SharedState,
    at: Parts<String>,
    (Extension(who), headers): OrderCaller,
    sent: Sent,
) -> Result<Response, Refused> {
    let key = body::idempotency_key(&headers)?;
    let wanted: CollectRequest = body::order(sent)?;
    let id = named(&api, at).await?;
    let request = format!("collect:{}", wanted.session_id);
    let command_id = command_id(&api, key, &request);
    let delivery = stored(&api, &id, &who).await?;
    if delivery::was_taken(&delivery, &command_id) {
        return Ok(shown(&api, &id, &who).await?.into_response());
    }
    // Nothing is adopted for a delivery that takes no run.
    must_take(&api, &id, &delivery, CommandKind::Collect, &who).await?;
    let adoption = Adoption {
        session: wanted.session_id,
        repo: delivery.repo.clone(),
        agent: None,
        take_over: false,
        // One at work stays as it is.
        delivery: Some(id.clone()),
        by: Some(who.who(None)),
        asked_at: api.backend.now(),
        refused: None,
    };
    let adopted = adopt::adopted(&api, adoption).await;
    let Some(job) = adopted.map_err(no_such_session)? else {
        return Ok(adopt::not_read_yet(format!("/api/deliveries/{id}/collect")));
    };
    if job.repo != delivery.repo {
        let detail = format!("`session_id`: the session works on {}", job.repo);
        return Err(Refused::field("session_id", "other_repository", &detail));
    }
    let by = who.actor();
    api.backend.collect(&id, &job.id, &command_id, &by).await?;
    tracing::info!(delivery.id = %id, job.id = %job.id, %by, "a session was collected");
    Ok(shown(&api, &id, &who).await?.into_response())
}

/// `POST /api/deliveries/{delivery}/runs/{run}/analysis`.
pub(crate) async fn analyse(
    State(api): SharedState,
    at: Parts<(String, String)>,
    (Extension(who), headers): OrderCaller,
    sent: Sent,
) -> Result<Response, Refused> {
    let key = body::idempotency_key(&headers)?;
    let wanted: AnalysisRequest = body::order(sent)?;
    requests::fits("analysis", &wanted.analysis, FEEDBACK_CHARS_MAX)?;
    if let Some(suggestion) = &wanted.suggestion {
        let refused = requests::fits("analysis", suggestion, FEEDBACK_CHARS_MAX);
        refused.map_err(|refused| refused.about("suggestion"))?;
    }
    let (id, run) = runs::failed(&api, at).await?;
    stored(&api, &id, &who).await?;
    let text = text_of(&wanted);
    let command_id = command_id(&api, key, &format!("analysis:{}:{text}", run.id));
    let act = Act::Analyse {
        run: Some(run.id.clone()),
        text: wanted.analysis,
        suggestion: wanted.suggestion,
    };
    command(&api, &id, command_id, act, &who).await?;
    let run = api.backend.run_of(&id, &run.id).await?;
    Ok(Json(runs::delivery_run(id, &run)).into_response())
}

/// A session that Jules does not have is nothing that could be there later.
fn no_such_session(refused: Refused) -> Refused {
    let problem = refused.problem();
    if problem.code != "no_such_session" {
        return refused;
    }
    let detail = &problem.detail;
    Refused::new(StatusCode::NOT_FOUND, "no_such_session", detail).about("session_id")
}

/// A delivery that is stored; a job that belongs to none takes its own orders.
async fn stored(
    api: &ApiInner,
    id: &DeliveryId,
    who: &AuthenticatedCaller,
) -> Result<Delivery, Refused> {
    let found = api.backend.delivery_shown(id).await?;
    reach::must_reach_delivery(api, who, &found).await?;
    if found.is_stored {
        return Ok(found.delivery);
    }
    Err(no_delivery(api, &found, who, "phases to execute").await?)
}

async fn must_take(
    api: &ApiInner,
    id: &DeliveryId,
    delivery: &Delivery,
    kind: CommandKind,
    who: &AuthenticatedCaller,
) -> Result<(), Refused> {
    let rules = api.backend.delivery_rules(delivery).await?;
    let legal = delivery::legal(delivery, &who.actor(), &rules);
    if legal.contains(&kind) {
        return Ok(());
    }
    let (phase, status) = (delivery.phase, delivery.run_status);
    let detail = format!("delivery {id} takes no more runs: it is at {phase}, {status}");
    let legal = legal.into_iter().map(|kind| kind.word().to_owned());
    let refused = Refused::new(StatusCode::CONFLICT, "no_more_runs", &detail);
    Err(refused.with_legal(legal.collect()))
}
