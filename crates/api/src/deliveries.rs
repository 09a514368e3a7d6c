//! Deliveries: lists them, shows them, and takes orders about them.

mod create;
mod executions;
mod instead;
mod orders;
mod query;
mod refused;
mod requests;
mod routes;
mod runs;
mod view;

use axum::extract::State;
use axum::{Extension, Json};
use client::wire::{Deliveries, DeliveryView, DeliveryWhy};
use domain::ids::DeliveryId;
use engine::deliveries::DeliveryShown;

use crate::auth::AuthenticatedCaller;
use crate::body::{self, Parts};
use crate::query::QueryPairs;
use crate::refusal::Refused;
use crate::state::{ApiInner, SharedState};

pub(crate) use instead::{
    NamedCaller, approve_instead, cancel_instead, merge_instead, retry_instead,
};
pub(crate) use routes::ROWS;

/// `GET /api/deliveries`.
async fn list(State(api): SharedState, asked: QueryPairs) -> Result<Json<Deliveries>, Refused> {
    let query::ListRequest {
        query,
        after,
        limit,
    } = query::read(asked)?;
    let listed = api
        .backend
        .list_deliveries(&query, after.as_ref(), limit)
        .await?;
    Ok(Json(Deliveries {
        deliveries: listed.deliveries.iter().map(view::card).collect(),
        next: listed.next.map(|next| next.to_string()),
    }))
}

/// `GET /api/deliveries/{delivery}`.
async fn show(
    State(api): SharedState,
    path: Parts<String>,
    Extension(who): Extension<AuthenticatedCaller>,
) -> Result<Json<DeliveryView>, Refused> {
    let id = named(&api, path).await?;
    shown(&api, &id, &who).await
}

/// `GET /api/deliveries/{delivery}/why`.
async fn why(
    State(api): SharedState,
    path: Parts<String>,
    Extension(who): Extension<AuthenticatedCaller>,
) -> Result<Json<DeliveryWhy>, Refused> {
    let id = named(&api, path).await?;
    let shown = api.backend.delivery_shown(&id).await?;
    Ok(Json(view::why(&api, &shown, &who).await?))
}

/// The delivery that a path names.
async fn named(api: &ApiInner, path: Parts<String>) -> Result<DeliveryId, Refused> {
    Ok(api.backend.find_delivery(&body::parts(path)?).await?)
}

/// A delivery as it is now.
async fn shown(
    api: &ApiInner,
    id: &DeliveryId,
    who: &AuthenticatedCaller,
) -> Result<Json<DeliveryView>, Refused> {
    let shown: DeliveryShown = api.backend.delivery_shown(id).await?;
    Ok(Json(view::whole(api, &shown, who).await?))
}
