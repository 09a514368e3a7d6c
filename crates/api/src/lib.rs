//! The HTTP API: accepts orders about jobs, reports their state, and puts GitHub's webhooks in the queue.
//!
//! It holds no credential of Jules or GitHub. Every action outside is an effect that the dispatcher performs; the API
//! waits a little for it.

mod http_api;
mod route;
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
pub use route::{Caller, Method, Parameter, ParameterType, RequestBody, ResponseBody, Route};
pub use state::ApiState;
pub use webhook::{WEBHOOK_BODY_BYTES_MAX, WebhookApi, WebhookCounters};

/// The rows for callers with a token: those of each subject stand beside its handlers.
///
/// A new subject gets its line here and its `mod` above. Tests check that nothing else makes routes, that `docs/openapi.json` matches
/// the rows, and that every row meets bad input.
fn rows() -> impl Iterator<Item = &'static route::ApiRow> {
    let tables = [
        jobs::ROWS,
        adopt::ROWS,
        readings::ROWS,
        outcome::ROWS,
        orders::ROWS,
        events::ROWS,
        inbox::ROWS,
        pushes::ROWS,
        report::ROWS,
        metrics::ROWS,
        pages::LINK,
        document::ROWS,
        deliveries::ROWS,
        sources::ROWS,
        workers::ROWS,
        pipelines::ROWS,
        pipelines::requirements::ROWS,
        mail::ROWS,
        sprints::ROWS,
    ];
    tables.into_iter().flatten()
}

/// All pages. They are for people, and stand in no document for programs.
pub fn page_routes() -> impl Iterator<Item = &'static Route> {
    pages::ROWS.iter().map(|row| &row.route)
}

/// All routes for programs.
pub fn routes() -> impl Iterator<Item = &'static Route> {
    let ours = rows().chain(report::OPEN).map(|row| &row.route);
    let ours = ours.chain([&mcp::TOOLS]);
    ours.chain(webhook::HOOKS.iter().map(|row| &row.route))
}
