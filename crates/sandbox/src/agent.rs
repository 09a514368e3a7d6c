//! The receiver of wakes: records every request and answers as configured.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::header::{LOCATION, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::any;
use bytes::Bytes;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

use crate::clock::Clock;
use crate::counters::RequestCounts;
use crate::gate::pause;

/// How many wakes a subscriber may lag behind before it loses the oldest.
const SUBSCRIBER_BUFFER: usize = 1_024;

/// How an agent's receiver answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentSetup {
    /// The agent's name in the path.
    pub name: String,
    /// Statuses of the next answers, in order; the last one stays. None answers 204.
    pub statuses: Vec<u16>,
    /// A `Retry-After` header on every answer that is no success, seconds.
    pub retry_after_secs: Option<u64>,
    /// A `Location` header on every redirect.
    pub location: Option<String>,
    /// Every answer's body never ends.
    pub endless_body: bool,
    /// Every answer comes this late, milliseconds of real time.
    pub slow_millis: u64,
}

/// One request that an agent's receiver got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Received {
    /// The agent's name.
    pub agent: String,
    /// When it came.
    pub at: Timestamp,
    /// The method, upper case.
    pub method: String,
    /// Header `webhook-id`.
    pub webhook_id: Option<String>,
    /// Header `webhook-timestamp`.
    pub webhook_timestamp: Option<String>,
    /// Header `webhook-signature`.
    pub webhook_signature: Option<String>,
    /// All headers, names in lower case; values that are no text are left out.
    pub headers: BTreeMap<String, String>,
    /// The raw body; bytes that are no UTF-8 are replaced.
    pub body: String,
    /// Bytes of the raw body.
    pub size: usize,
    /// The status answered.
    pub status: u16,
}

/// The receivers of all agents; clones share one state.
#[derive(Clone)]
pub struct Agents {
    inner: Arc<Mutex<Inner>>,
    news: broadcast::Sender<Received>,
    clock: Clock,
    counters: RequestCounts,
}

#[derive(Default)]
struct Inner {
    setups: BTreeMap<String, AgentSetup>,
    received: Vec<Received>,
}

impl Agents {
    pub(crate) fn new(setups: &[AgentSetup], clock: Clock, counters: RequestCounts) -> Self {
        let (news, _) = broadcast::channel(SUBSCRIBER_BUFFER);
        let this = Self {
            inner: Arc::default(),
            news,
            clock,
            counters,
        };
        setups.iter().for_each(|setup| this.set(setup.clone()));
        this
    }

    /// Sets how an agent's receiver answers from now on.
    pub fn set(&self, setup: AgentSetup) {
        self.inner().setups.insert(setup.name.clone(), setup);
    }

    /// What an agent's receiver got, oldest first.
    #[must_use]
    pub fn received(&self, name: &str) -> Vec<Received> {
        self.inner()
            .received
            .iter()
            .filter(|it| it.agent == name)
            .cloned()
            .collect()
    }

    /// The names that received anything or were set up.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let inner = self.inner();
        let mut names: Vec<String> = inner
            .setups
            .keys()
            .cloned()
            .chain(inner.received.iter().map(|it| it.agent.clone()))
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// Every request from now on, of all agents.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<Received> {
        self.news.subscribe()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a request and says how to answer it.
    fn record(&self, mut request: Received) -> (u16, AgentSetup) {
        let setup = {
            let mut inner = self.inner();
            let setup = inner.setups.entry(request.agent.clone()).or_default();
            request.status = setup.statuses.first().copied().unwrap_or(204);
            if setup.statuses.len() > 1 {
                setup.statuses.remove(0);
            }
            let setup = setup.clone();
            inner.received.push(request.clone());
            setup
        };
        let size = u64::try_from(request.size).unwrap_or(u64::MAX);
        self.counters.count(|it| {
            it.wakes_received += 1;
            it.wake_bytes = it.wake_bytes.saturating_add(size);
        });
        let status = request.status;
        // No listener is fine: the record stays.
        drop(self.news.send(request));
        (status, setup)
    }
}

/// The routes below `/agent`.
pub(crate) fn router(agents: Agents) -> Router {
    Router::new()
        .route("/{name}", any(receive))
        .layer(DefaultBodyLimit::disable())
        .with_state(agents)
}

async fn receive(
    State(agents): State<Agents>,
    Path(name): Path<String>,
    method: axum::http::Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let texts: BTreeMap<String, String> = headers
        .iter()
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
        .collect();
    let header = |name: &str| texts.get(name).cloned();
    let request = Received {
        agent: name,
        at: (agents.clock)(),
        method: method.to_string(),
        webhook_id: header("webhook-id"),
        webhook_timestamp: header("webhook-timestamp"),
        webhook_signature: header("webhook-signature"),
        headers: texts.clone(),
        body: String::from_utf8_lossy(&body).into_owned(),
        size: body.len(),
        status: 0,
    };
    let (status, setup) = agents.record(request);
    if setup.slow_millis > 0 {
        pause(Duration::from_millis(setup.slow_millis)).await;
    }
    answer(status, &setup)
}

fn answer(status: u16, setup: &AgentSetup) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Response::new(if setup.endless_body {
        endless()
    } else {
        Body::empty()
    });
    *response.status_mut() = status;
    let headers = response.headers_mut();
    if let (false, Some(secs)) = (status.is_success(), setup.retry_after_secs) {
        headers.insert(RETRY_AFTER, HeaderValue::from(secs));
    }
    let location = setup
        .location
        .as_deref()
        .filter(|_| status.is_redirection());
    if let Some(location) = location.and_then(|it| HeaderValue::from_str(it).ok()) {
        headers.insert(LOCATION, location);
    }
    response
}

/// A body that never ends; the client has to stop reading.
fn endless() -> Body {
    /// Bytes of one piece.
    const PIECE: [u8; 1_024] = [b'x'; 1_024];
    Body::from_stream(futures::stream::repeat_with(|| {
        Ok::<_, std::convert::Infallible>(Bytes::from_static(&PIECE))
    }))
}
