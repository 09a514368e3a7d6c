//! The wiring: which rows are served by which router, and what stands before them.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::post;

use crate::body::JOB_BODY_BYTES_MAX;
use crate::refusal::Refused;
use crate::route::served;
use crate::state::{ApiInner, ApiState};
use crate::webhook::{HOOKS, WebhookApi, WebhookInner};
use crate::{auth, mail, mcp, orders, pages, report, rows, sprints, trace};

/// All routes but the webhook: `/healthz` for anyone, pages for those who sign in, the rest for callers with a token.
pub fn router(state: ApiState) -> Router {
    let api = Arc::new(ApiInner::new(state));
    let tools = mcp::route(&api, |api| closed(&api).with_state(api));
    let open = served(report::OPEN)
        .route(mcp::TOOLS.path, tools)
        .method_not_allowed_fallback(no_such_method);
    closed(&api)
        .merge(open)
        .merge(pages::router(&api, || served(rows())))
        .layer(from_fn_with_state(api.clone(), trace::request))
        .with_state(api)
}

/// The endpoint for GitHub's webhooks.
pub fn webhook_router(api: WebhookApi) -> Router {
    served(HOOKS)
        .method_not_allowed_fallback(no_such_method)
        .with_state(Arc::new(WebhookInner::new(api)))
}

/// Routes for callers with a token.
fn closed(api: &Arc<ApiInner>) -> Router<Arc<ApiInner>> {
    // The router cannot match a verb after a colon, so this takes all of `{id}:verb`.
    served(rows())
        .route("/jobs/{job}", post(orders::by_colon))
        .route(sprints::ONE, post(sprints::by_colon))
        .route(mail::ONE, post(mail::by_colon))
        .fallback(no_such_route)
        .method_not_allowed_fallback(no_such_method)
        .layer(DefaultBodyLimit::max(JOB_BODY_BYTES_MAX))
        .layer(from_fn_with_state(api.clone(), auth::require_token))
}

async fn no_such_route(uri: Uri) -> Refused {
    let detail = format!("nothing is served at `{}`", uri.path());
    Refused::new(StatusCode::NOT_FOUND, "no_such_route", &detail)
}

async fn no_such_method(method: Method, uri: Uri) -> Refused {
    let detail = format!("`{method}` is not served at `{}`", uri.path());
    Refused::new(StatusCode::METHOD_NOT_ALLOWED, "no_such_method", &detail)
}
