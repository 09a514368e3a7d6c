//! The routes, and what all of them share.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::post;
use engine::backend::Backend;
use engine::jobs::ANSWER_WITHIN;
use engine::ports::{DeadLetters, SecretName, Secrets};
use secrecy::SecretString;
use tokio::sync::watch;

use crate::auth::{self, Digests, Tokens};
use crate::live::LiveSecret;
use crate::orders;
use crate::pages::{self, SealKey};
use crate::refusal::Refused;
use crate::webhook::WebhookCounters;
use crate::{mail, mcp, routes, sprints, trace};

/// Longest body of an order, in bytes: the longest prompt fits with any escaping.
pub const JOB_BODY_BYTES_MAX: usize = 1024 * 1024;

/// What the API needs.
#[derive(Clone)]
pub struct ApiState {
    /// The store, the queue and the time.
    pub backend: Backend,
    /// Accepted tokens. Without any and without [`Self::with_stored_token`] every call is refused.
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
    /// The dead letters, where looking at them takes them from no one.
    pub dead: Option<Arc<dyn DeadLetters>>,
}

impl ApiState {
    /// An API with the usual waits, for a process without webhooks.
    pub fn new(backend: Backend, tokens: Vec<SecretString>) -> Self {
        Self {
            backend,
            tokens,
            kept: None,
            answer_within: ANSWER_WITHIN,
            webhooks: Arc::default(),
            holding: None,
            dead: None,
        }
    }

    /// An API that accepts the token in a store of secrets, as it is there now.
    pub fn with_stored_token(backend: Backend, secrets: Arc<dyn Secrets>) -> Self {
        Self {
            kept: Some(secrets),
            ..Self::new(backend, Vec::new())
        }
    }

    /// The same API with long polling: empty answers stay open until `stopped` fires.
    pub fn holding(mut self, stopped: watch::Receiver<bool>) -> Self {
        self.holding = Some(stopped);
        self
    }

    /// The same API, with pages that show these dead letters.
    pub fn showing(mut self, dead: Option<Arc<dyn DeadLetters>>) -> Self {
        self.dead = dead;
        self
    }

    /// The same API with these counters.
    pub fn counting(mut self, webhooks: Arc<WebhookCounters>) -> Self {
        self.webhooks = webhooks;
        self
    }
}

/// What handlers share.
pub(crate) struct ApiInner {
    pub(crate) backend: Backend,
    pub(crate) tokens: Tokens,
    pub(crate) answer_within: Duration,
    pub(crate) webhooks: Arc<WebhookCounters>,
    pub(crate) holding: Option<watch::Receiver<bool>>,
    pub(crate) dead: Option<Arc<dyn DeadLetters>>,
}

/// What handlers share, cheap to clone.
pub(crate) type SharedState = State<Arc<ApiInner>>;

/// All routes but the webhook: `/healthz` for anyone, pages for those who sign in, the rest for callers with a token.
pub fn router(state: ApiState) -> Router {
    let (kept, clock) = (state.kept, state.backend.clock.clone());
    let api = Arc::new(ApiInner {
        tokens: Tokens {
            fixed: Digests::digest_all(&state.tokens),
            fixed_keys: SealKey::derive_all(&state.tokens),
            kept: kept.map(|it| LiveSecret::new(SecretName::ApiToken, it, clock)),
        },
        backend: state.backend,
        answer_within: state.answer_within,
        webhooks: state.webhooks,
        holding: state.holding,
        dead: state.dead,
    });
    let tools = mcp::route(&api, |api| closed(&api).with_state(api));
    let open = routes::served(routes::OPEN)
        .route(routes::TOOLS.path, tools)
        .method_not_allowed_fallback(no_such_method);
    closed(&api)
        .merge(open)
        .merge(pages::router(&api))
        .layer(from_fn_with_state(api.clone(), trace::request))
        .with_state(api)
}

/// Routes for callers with a token.
fn closed(api: &Arc<ApiInner>) -> Router<Arc<ApiInner>> {
    // The router cannot match a verb after a colon, so this takes all of `{id}:verb`.
    routes::served(routes::closed())
        .route("/jobs/{job}", post(orders::by_colon))
        .route(routes::sprints::ONE, post(sprints::by_colon))
        .route(routes::mail::ONE, post(mail::by_colon))
        .fallback(no_such_route)
        .method_not_allowed_fallback(no_such_method)
        .layer(DefaultBodyLimit::max(JOB_BODY_BYTES_MAX))
        .layer(from_fn_with_state(api.clone(), auth::require_token))
}

async fn no_such_route(uri: Uri) -> Refused {
    let detail = format!("nothing is served at `{}`", uri.path());
    Refused::new(StatusCode::NOT_FOUND, "no_such_route", &detail)
}

pub(crate) async fn no_such_method(method: Method, uri: Uri) -> Refused {
    let detail = format!("`{method}` is not served at `{}`", uri.path());
    Refused::new(StatusCode::METHOD_NOT_ALLOWED, "no_such_method", &detail)
}
