//! The routes, and what all of them share.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::post;
use engine::desk::Desk;
use engine::jobs::ANSWER_WITHIN;
use engine::ports::{SecretName, Secrets};
use secrecy::SecretString;
use tokio::sync::watch;

use crate::auth::{self, Digests, Tokens};
use crate::live::LiveSecret;
use crate::orders;
use crate::refusal::Refused;
use crate::webhook::WebhookCounters;
use crate::{mcp, routes, trace};

/// Longest body of an order, in bytes: the longest prompt fits with any escaping.
pub const JOB_BODY_BYTES_MAX: usize = 1024 * 1024;

/// What the API needs.
#[derive(Clone)]
pub struct DoorState {
    /// The store, the queue and the time.
    pub desk: Desk,
    /// Accepted tokens. Without any and without [`Self::kept`] every call is refused.
    pub tokens: Vec<SecretString>,
    /// Name of a stored token that is accepted too: it may change in the store, and the previous one stays valid
    /// after a comma.
    pub kept: Option<Arc<dyn Secrets>>,
    /// How long an answer may wait for its effect.
    pub answer_within: Duration,
    /// Counters of the webhook, shown by `/healthz`.
    pub webhooks: Arc<WebhookCounters>,
    /// Allows long polling; signals when the process is to stop.
    pub holding: Option<watch::Receiver<bool>>,
}

impl DoorState {
    /// An API with the usual waits, for a process without webhooks.
    pub fn new(desk: Desk, tokens: Vec<SecretString>) -> Self {
        Self {
            desk,
            tokens,
            kept: None,
            answer_within: ANSWER_WITHIN,
            webhooks: Arc::default(),
            holding: None,
        }
    }

    /// An API that accepts the token in a store of secrets, as it is there now.
    pub fn kept(desk: Desk, secrets: Arc<dyn Secrets>) -> Self {
        Self {
            kept: Some(secrets),
            ..Self::new(desk, Vec::new())
        }
    }

    /// The same API with long polling: empty answers stay open until `stopped` fires.
    pub fn holding(mut self, stopped: watch::Receiver<bool>) -> Self {
        self.holding = Some(stopped);
        self
    }

    /// The same API with these counters.
    pub fn counting(mut self, webhooks: Arc<WebhookCounters>) -> Self {
        self.webhooks = webhooks;
        self
    }
}

/// What handlers share.
pub(crate) struct Inner {
    pub(crate) desk: Desk,
    pub(crate) tokens: Tokens,
    pub(crate) answer_within: Duration,
    pub(crate) webhooks: Arc<WebhookCounters>,
    pub(crate) holding: Option<watch::Receiver<bool>>,
}

/// What handlers share, cheap to clone.
pub(crate) type Door = State<Arc<Inner>>;

/// All routes but the webhook: `/healthz` for anyone, the rest for callers with a token.
pub fn router(state: DoorState) -> Router {
    let (kept, clock) = (state.kept, state.desk.clock.clone());
    let door = Arc::new(Inner {
        tokens: Tokens {
            fixed: Digests::of(&state.tokens),
            kept: kept.map(|it| LiveSecret::new(SecretName::ApiToken, it, clock)),
        },
        desk: state.desk,
        answer_within: state.answer_within,
        webhooks: state.webhooks,
        holding: state.holding,
    });
    let tools = mcp::route(&door, |door| closed(&door).with_state(door));
    let open = routes::served(routes::OPEN)
        .route(routes::TOOLS.path, tools)
        .method_not_allowed_fallback(no_such_method);
    closed(&door)
        .merge(open)
        .layer(from_fn_with_state(door.clone(), trace::request))
        .with_state(door)
}

/// Routes for callers with a token.
fn closed(door: &Arc<Inner>) -> Router<Arc<Inner>> {
    // The router cannot match a verb after a colon, so this takes all of `{id}:verb`.
    routes::served(routes::CLOSED)
        .route("/jobs/{job}", post(orders::by_colon))
        .fallback(no_such_route)
        .method_not_allowed_fallback(no_such_method)
        .layer(DefaultBodyLimit::max(JOB_BODY_BYTES_MAX))
        .layer(from_fn_with_state(door.clone(), auth::require_token))
}

async fn no_such_route(uri: Uri) -> Refused {
    let detail = format!("nothing is served at `{}`", uri.path());
    Refused::new(StatusCode::NOT_FOUND, "no_such_route", &detail)
}

pub(crate) async fn no_such_method(method: Method, uri: Uri) -> Refused {
    let detail = format!("`{method}` is not served at `{}`", uri.path());
    Refused::new(StatusCode::METHOD_NOT_ALLOWED, "no_such_method", &detail)
}
