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
use axum::{Extension, Router};

use crate::state::{ApiInner, SharedState};
use inside::Inside;

pub(crate) use board::board;
pub(crate) use delivery::{act, delivery};
pub(crate) use entry::{enter, link, sign_in, sign_in_page, sign_out};
pub(crate) use operation::{accounts, pipelines, sources, wakes, workers};
pub(crate) use run::run;
pub(crate) use seal::SealKey;

/// Longest form, in bytes: the longest plan, each byte of it escaped.
const FORM_BYTES_MAX: usize = 64 * 1024;

/// What pages may load and send: our own files only, and nothing inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Headers of every answer. A page of another site learns nothing from our links, while our own forms say where they
/// are from.
const GUARDS: [(HeaderName, &str); 3] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "same-origin"),
];

/// The pages, for those who sign in: `rows` serves them, and they are made of what the routes of `inside` answer.
pub(crate) fn router(
    api: &Arc<ApiInner>,
    rows: Router<Arc<ApiInner>>,
    inside: fn() -> Router<Arc<ApiInner>>,
) -> Router<Arc<ApiInner>> {
    let inside = Arc::new(Inside::new(api.clone(), inside));
    rows.method_not_allowed_fallback(nowhere)
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
pub(crate) async fn home() -> Response {
    Redirect::to("/dashboard").into_response()
}

/// `GET /dashboard/static/{file}`.
pub(crate) async fn file(file: crate::body::Parts<String>) -> Response {
    let name = file.map(|name| name.0).unwrap_or_default();
    match dashboard::asset(&name) {
        Some(asset) => answer::asset(asset),
        None => axum::http::StatusCode::NOT_FOUND.into_response(),
    }
}

/// Any other path of the dashboard.
pub(crate) async fn nowhere(State(api): SharedState, asked: answer::Asked) -> Response {
    answer::nowhere(&api, &asked).await
}
