//! Orders about one delivery: `POST /api/deliveries/{delivery}/{verb}`, and its edits.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{MethodRouter, post};
use axum::{Extension, Json};
use client::wire::{CancelDelivery, DeliveryView, EditDelivery, StartDelivery};
use domain::delivery::{Act, Command};
use domain::ids::DeliveryId;
use engine::deliveries::DeliveryShown;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::{named, requests, shown, view};
use crate::auth::{AuthenticatedCaller, OrderCaller};
use crate::body::{self, Parts, Sent};
use crate::reach;
use crate::refusal::Refused;
use crate::state::{ApiInner, SharedState};

/// What can be ordered of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeliveryVerb {
    /// Begin it.
    Start,
    /// Let it go on from a checkpoint.
    Approve,
    /// Send it back from a checkpoint.
    Reject,
    /// Try its failed phase again.
    Retry,
    /// Call it off.
    Cancel,
    /// Say what its review came to.
    Verdict,
    /// Send its plan.
    Plan,
    /// Split it into smaller ones.
    Split,
}

impl DeliveryVerb {
    /// Where it is ordered.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Start => "/api/deliveries/{delivery}/start",
            Self::Approve => "/api/deliveries/{delivery}/approve",
            Self::Reject => "/api/deliveries/{delivery}/reject",
            Self::Retry => "/api/deliveries/{delivery}/retry",
            Self::Cancel => "/api/deliveries/{delivery}/cancel",
            Self::Verdict => "/api/deliveries/{delivery}/verdict",
            Self::Plan => "/api/deliveries/{delivery}/plan",
            Self::Split => "/api/deliveries/{delivery}/split",
        }
    }

    /// The request that its name stands for, whichever route it came by.
    pub(super) fn request(self, text: &str) -> String {
        format!("{}:{text}", self.path())
    }

    /// What is wanted, and how it is told apart from other requests under the same name.
    fn act(self, sent: Sent) -> Result<(Act, String), Refused> {
        match self {
            Self::Start => read(body::maybe_order::<StartDelivery>(sent)?, |_| {
                Ok(Act::Start)
            }),
            Self::Approve => read(body::maybe_order(sent)?, |sent| Ok(requests::approve(sent))),
            Self::Reject => read(body::order(sent)?, requests::reject),
            Self::Retry => read(body::maybe_order(sent)?, requests::retry),
            Self::Cancel => read(body::maybe_order::<CancelDelivery>(sent)?, |_| {
                Ok(Act::Cancel)
            }),
            Self::Verdict => read(body::order(sent)?, requests::verdict),
            Self::Plan => read(body::order(sent)?, requests::plan),
            Self::Split => read(body::order(sent)?, requests::split),
        }
    }
}

fn read<T: Serialize + DeserializeOwned>(
    sent: T,
    act: impl FnOnce(T) -> Result<Act, Refused>,
) -> Result<(Act, String), Refused> {
    let text = text_of(&sent);
    Ok((act(sent)?, text))
}

/// What was sent, to tell it apart from other requests under the same name.
pub(super) fn text_of(sent: &impl Serialize) -> String {
    // Plain fields with text keys always serialize.
    serde_json::to_string(sent).unwrap_or_default()
}

/// What serves an order.
pub(crate) fn order(verb: DeliveryVerb) -> MethodRouter<Arc<ApiInner>> {
    post(move |api, path, sender, sent| carry_out(verb, api, path, sender, sent))
}

async fn carry_out(
    verb: DeliveryVerb,
    State(api): SharedState,
    path: Parts<String>,
    (Extension(who), headers): OrderCaller,
    sent: Sent,
) -> Result<Json<DeliveryView>, Refused> {
    let key = body::idempotency_key(&headers)?;
    let (act, text) = verb.act(sent)?;
    let id = named(&api, path).await?;
    let command_id = command_id(&api, key, &verb.request(&text));
    give(&api, &id, act, &who, command_id).await
}

/// `PATCH /api/deliveries/{delivery}`.
pub(crate) async fn edit(
    State(api): SharedState,
    path: Parts<String>,
    Extension(who): Extension<AuthenticatedCaller>,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Json<DeliveryView>, Refused> {
    let key = body::idempotency_key(&headers)?;
    let (act, text) = read(body::order::<EditDelivery>(sent)?, requests::edit)?;
    let id = named(&api, path).await?;
    let request = format!("edit:{text}");
    give(&api, &id, act, &who, command_id(&api, key, &request)).await
}

/// The same name with the same body is one command; without a name each is its own.
pub(super) fn command_id(api: &ApiInner, key: Option<&str>, request: &str) -> String {
    match key {
        Some(key) => {
            let digest = Sha256::digest(format!("{key}\n{request}"));
            format!("key:{}", hex::encode(digest))
        }
        None => format!("api:{}", api.backend.ulid()),
    }
}

async fn give(
    api: &ApiInner,
    id: &DeliveryId,
    act: Act,
    who: &AuthenticatedCaller,
    command_id: String,
) -> Result<Json<DeliveryView>, Refused> {
    let found = api.backend.delivery_shown(id).await?;
    reach::must_reach_delivery(api, who, &found).await?;
    if !found.is_stored {
        order_job(api, id, act, who).await?;
        return shown(api, id, who).await;
    }
    command(api, id, command_id, act, who).await?;
    shown(api, id, who).await
}

/// Gives an order about a delivery that is stored.
pub(super) async fn command(
    api: &ApiInner,
    id: &DeliveryId,
    command_id: String,
    act: Act,
    who: &AuthenticatedCaller,
) -> Result<(), Refused> {
    let command = Command {
        id: command_id,
        by: who.actor(),
        act,
    };
    api.backend.command_delivery(id, &command).await?;
    tracing::info!(delivery.id = %id, by = %command.by, act = %command.act.kind(), "an order about a delivery was taken");
    Ok(())
}

/// A job that belongs to no delivery takes its own orders.
async fn order_job(
    api: &ApiInner,
    id: &DeliveryId,
    act: Act,
    who: &AuthenticatedCaller,
) -> Result<(), Refused> {
    let named = api.backend.find(id.as_str()).await?.by(who.who(None));
    let kind = act.kind();
    match act {
        Act::Approve { plan, .. } => {
            let plan = plan.as_ref();
            api.backend.approve_plan(&named, plan).await.map(drop)?;
        }
        Act::Retry { reason } => {
            let reason = reason.as_deref();
            api.backend.retry_job(&named, reason).await.map(drop)?;
        }
        Act::Cancel => {
            let by = who.who(None);
            api.backend.cancel_job(&named, &by).await.map(drop)?;
        }
        Act::Start
        | Act::Reject { .. }
        | Act::Verdict(_)
        | Act::Plan { .. }
        | Act::Split { .. }
        | Act::Merge { .. }
        | Act::Edit(_)
        | Act::Collect { .. }
        | Act::Analyse { .. } => {
            let found = api.backend.delivery_shown(id).await?;
            return Err(no_delivery(api, &found, who, &format!("`{kind}`")).await?);
        }
    }
    Ok(())
}

/// What a job that belongs to no delivery answers to an order that it does not have.
pub(super) async fn no_delivery(
    api: &ApiInner,
    found: &DeliveryShown,
    who: &AuthenticatedCaller,
    missing: &str,
) -> Result<Refused, Refused> {
    let detail = format!("this is a job that belongs to no delivery: it has no {missing}");
    let legal = view::legal(api, found, who).await?.legal;
    let refused = Refused::new(StatusCode::CONFLICT, "no_delivery", &detail);
    Ok(refused.with_legal(legal))
}
