//! What is going on.

use axum::Json;
use axum::extract::State;
use client::wire::Health;
use domain::status::Status;

use crate::refusal::Refused;
use crate::state::SharedState;

/// `GET /healthz`.
pub(crate) async fn health(State(api): SharedState) -> Json<Health> {
    Json(Health {
        ok: true,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        webhooks: api.webhooks.counts(),
    })
}

/// `GET /status`.
pub(crate) async fn status(State(api): SharedState) -> Result<Json<Status>, Refused> {
    Ok(Json(api.backend.shared_status().await?))
}
