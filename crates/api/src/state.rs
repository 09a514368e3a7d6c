//! What the API needs, and what its handlers share of it.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use engine::backend::Backend;
use engine::jobs::ANSWER_WITHIN;
use engine::ports::{DeadLetters, SecretName, Secrets};
use secrecy::SecretString;
use tokio::sync::watch;

use crate::live::LiveSecret;
use crate::tokens::Tokens;
use crate::webhook::WebhookCounters;

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

impl ApiInner {
    /// What handlers share of what the API was given.
    pub(crate) fn new(state: ApiState) -> Self {
        let clock = state.backend.clock.clone();
        let kept = state
            .kept
            .map(|it| LiveSecret::new(SecretName::ApiToken, it, clock));
        Self {
            tokens: Tokens::new(&state.tokens, kept),
            backend: state.backend,
            answer_within: state.answer_within,
            webhooks: state.webhooks,
            holding: state.holding,
            dead: state.dead,
        }
    }
}

/// What handlers share, cheap to clone.
pub(crate) type SharedState = State<Arc<ApiInner>>;
