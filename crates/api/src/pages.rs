//! The dashboard over HTTP: sign-in, pages, and the forms on them.
//!
//! A page is made of what the routes of this very API answer, called in this process as the signed-in person
//! ([`inside`]): a form can do nothing that the API would refuse, and no rule is written twice.

mod answer;
mod board;
mod delivery;
mod entry;
mod inside;
mod live;
mod operation;
mod run;
mod seal;
mod session;

use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use domain::token::Scope;

use crate::route::{self, ApiRow, Caller, RequestBody, ResponseBody, Row};
use crate::state::{ApiInner, SharedState};

pub(crate) use seal::SealKey;

use board::board;
use delivery::{act, delivery};
use entry::{enter, link, sign_in, sign_in_page, sign_out};
use inside::Inside;
use operation::{accounts, pipelines, sources, wakes, workers};
use run::run;

/// Longest form, in bytes: the longest plan, each byte of it escaped.
const FORM_BYTES_MAX: usize = 64 * 1024;

/// What pages may load and send: our own files only, and nothing inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Pages, for people: they stand in no document for programs.
pub(crate) static ROWS: &[ApiRow] = &[
    Row::get("/", "home", "Leads to the dashboard", || get(home))
        .called_by(Caller::Anybody)
        .answers(&[(303, ResponseBody::Nothing)]),
    Row::get(
        "/dashboard/",
        "home_with_slash",
        "Leads to the dashboard",
        || get(home),
    )
    .called_by(Caller::Anybody)
    .answers(&[(303, ResponseBody::Nothing)]),
    Row::page(
        "/dashboard",
        "board_page",
        "Shows deliveries by phase",
        || get(board),
    ),
    Row::page(
        "/dashboard/deliveries/{delivery}",
        "delivery_page",
        "Shows a delivery",
        || get(delivery),
    ),
    Row::page(
        "/dashboard/deliveries/{delivery}/runs/{run}",
        "run_page",
        "Shows what was said and done in a run",
        || get(run),
    ),
    Row::page(
        "/dashboard/pipelines",
        "pipelines_page",
        "Shows runs of pipelines, and the requirements that came of them",
        || get(pipelines),
    ),
    Row::page(
        "/dashboard/sources",
        "sources_page",
        "Shows sources, and how the reading of their issues goes",
        || get(sources),
    ),
    Row::page(
        "/dashboard/accounts",
        "accounts_page",
        "Shows accounts and budgets",
        || get(accounts),
    ),
    Row::page(
        "/dashboard/workers",
        "workers_page",
        "Shows workers with their last results",
        || get(workers),
    ),
    Row::page(
        "/dashboard/wakes",
        "wakes_page",
        "Shows wakes and dead letters",
        || get(wakes),
    ),
    Row::form(
        "/dashboard/deliveries/{delivery}/{order}",
        "delivery_form",
        "Gives an order about a delivery",
        || post(act),
    ),
    Row::get(
        "/dashboard/sign-in",
        "sign_in_page",
        "Asks for a token",
        || get(sign_in_page),
    )
    .called_by(Caller::Anybody)
    .answers(&[(401, ResponseBody::Page)]),
    Row::post(
        "/dashboard/sign-in",
        "sign_in",
        "Begins a session with a token",
        || post(sign_in),
    )
    .called_by(Caller::Anybody)
    .sends(RequestBody::Form)
    .answers(&[(303, ResponseBody::Nothing)]),
    Row::post("/dashboard/sign-out", "sign_out", "Ends a session", || {
        post(sign_out)
    })
    .called_by(Caller::Viewer(Scope::Read))
    .sends(RequestBody::Form)
    .answers(&[(303, ResponseBody::Nothing)]),
    Row::get(
        "/dashboard/enter",
        "enter",
        "Begins a session with a link",
        || get(enter),
    )
    .called_by(Caller::Anybody)
    .answers(&[(200, ResponseBody::Page)]),
    Row::get(
        "/dashboard/static/{file}",
        "static_file",
        "Serves what pages are shown with",
        || get(file),
    )
    .called_by(Caller::Anybody)
    .answers(&[(200, ResponseBody::Page)]),
    Row::page(
        "/dashboard/{*rest}",
        "no_page",
        "Says that nothing is there",
        || get(nowhere),
    ),
];

/// The link to them, for callers with a token.
pub(crate) static LINK: &[ApiRow] = &[Row::get(
    "/api/dashboard/link",
    "dashboard_link",
    "Makes a link that signs in to the dashboard with the caller's token, for a minute",
    || get(link),
)
.answers(&[(200, ResponseBody::Json("DashboardLink"))])];

/// Headers of every answer. A page of another site learns nothing from our links, while our own forms say where they
/// are from.
const GUARDS: [(HeaderName, &str); 3] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "same-origin"),
];

/// The pages, for those who sign in: they are made of what the routes of `inside` answer.
pub(crate) fn router(
    api: &Arc<ApiInner>,
    inside: fn() -> Router<Arc<ApiInner>>,
) -> Router<Arc<ApiInner>> {
    let inside = Arc::new(Inside::new(api.clone(), inside));
    route::served(ROWS)
        .method_not_allowed_fallback(nowhere)
        .layer(Extension(inside))
        .layer(DefaultBodyLimit::max(FORM_BYTES_MAX))
        .layer(from_fn(guarded))
}

async fn guarded(request: axum::extract::Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in GUARDS {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

/// `GET /`.
async fn home() -> Response {
    Redirect::to("/dashboard").into_response()
}

/// `GET /dashboard/static/{file}`.
async fn file(file: crate::body::Parts<String>) -> Response {
    let name = file.map(|name| name.0).unwrap_or_default();
    match dashboard::asset(&name) {
        Some(asset) => answer::asset(asset),
        None => axum::http::StatusCode::NOT_FOUND.into_response(),
    }
}

/// Any other path of the dashboard.
async fn nowhere(State(api): SharedState, asked: answer::Asked) -> Response {
    answer::nowhere(&api, &asked).await
}
