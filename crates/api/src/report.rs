//! What is going on.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use client::wire::Health;
use domain::status::Status;

use crate::refusal::Refused;
use crate::route::{ApiRow, Caller, ResponseBody, Row};
use crate::state::SharedState;

/// The status, for callers with a token.
pub(crate) static ROWS: &[ApiRow] = &[Row::get(
    "/status",
    "status",
    "Shows the status of jobs and accounts",
    || get(status),
)
.answers(&[(200, ResponseBody::Json("Status"))])];

/// Whether the process runs, for anyone.
pub(crate) static OPEN: &[ApiRow] = &[Row::get(
    "/healthz",
    "health",
    "Answers while the process runs",
    || get(health),
)
.called_by(Caller::Anybody)
.answers(&[(200, ResponseBody::Json("Health"))])];

/// `GET /healthz`.
async fn health(State(api): SharedState) -> Json<Health> {
    Json(Health {
        ok: true,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        webhooks: api.webhooks.counts(),
    })
}

/// `GET /status`.
async fn status(State(api): SharedState) -> Result<Json<Status>, Refused> {
    Ok(Json(api.backend.shared_status().await?))
}
