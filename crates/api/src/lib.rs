//! The HTTP API: accepts orders about jobs, reports their state, and puts GitHub's webhooks in the queue.
//!
//! It holds no credential of Jules or GitHub. Every action outside is an effect that the dispatcher performs; the API
//! waits a little for it.

mod http_api;
mod routes;
mod state;
mod tokens;
mod verb;

mod readings;
mod refusal;
mod register;

mod auth;
mod body;
mod live;
mod mail;
mod next;
mod query;
mod trace;

mod view;

mod pages;

mod adopt;
mod deliveries;
mod document;
mod events;
mod inbox;
mod jobs;
mod mcp;
mod merge;
mod metrics;
mod orders;
mod outcome;
mod pipelines;
mod pushes;
mod reach;
mod report;
mod sources;
mod sprints;
mod workers;

mod webhook;

pub use body::JOB_BODY_BYTES_MAX;
pub use http_api::{router, webhook_router};
pub use live::{SECRET_KEPT, SECRET_READ_AGAIN};
pub use routes::{
    Caller, Method, Parameter, ParameterType, RequestBody, ResponseBody, Route, page_routes, routes,
};
pub use state::ApiState;
pub use webhook::{WEBHOOK_BODY_BYTES_MAX, WebhookApi, WebhookCounters};
