//! A local Lambda Runtime API: hands events to one process as Lambda does, and records when the process asked and
//! when it answered.
//!
//! Source: AWS, "Using the Lambda runtime API for custom runtimes".

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use engine::machine::SystemClock;
use engine::ports::Clock;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;

/// The version of the interface, which is the only one.
const VERSION: &str = "/2018-06-01/runtime";

/// Time limit of an invocation, as reported to the process.
const LIMIT: Duration = Duration::from_secs(60);

/// What the process did.
#[derive(Debug)]
pub(super) enum Said {
    /// Asked for the next event.
    Asked(Instant),
    /// Answered the last one.
    Answered(Instant, Bytes),
    /// Gave up, or failed the last one.
    Failed(String),
}

/// The interface, for one process.
pub(super) struct RuntimeApi {
    /// What the process finds in `AWS_LAMBDA_RUNTIME_API`.
    pub(super) address: SocketAddr,
    events: mpsc::UnboundedSender<Bytes>,
    said: mpsc::UnboundedReceiver<Said>,
    server: JoinHandle<()>,
}

struct Shared {
    events: Mutex<mpsc::UnboundedReceiver<Bytes>>,
    said: mpsc::UnboundedSender<Said>,
    handed: AtomicU64,
}

impl RuntimeApi {
    /// Begins to listen.
    pub(super) async fn open() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.context("opening a port for the Runtime API")?;
        let address = listener.local_addr().context("opening a port")?;
        let (events, waiting) = mpsc::unbounded_channel();
        let (tell, said) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            events: Mutex::new(waiting),
            said: tell,
            handed: AtomicU64::new(0),
        });
        let server = tokio::spawn(async move {
            let served = axum::serve(listener, router(shared)).await;
            drop(served);
        });
        Ok(Self {
            address,
            events,
            said,
            server,
        })
    }

    /// Has the process find an event.
    pub(super) fn hand(&self, event: Bytes) -> Result<()> {
        self.events.send(event).context("handing over an event")
    }

    /// The next thing that the process does.
    pub(super) async fn hear(&mut self) -> Result<Said> {
        self.said.recv().await.context("the Runtime API closed")
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn router(shared: Arc<Shared>) -> Router {
    let path = |rest: &str| format!("{VERSION}{rest}");
    Router::new()
        .route(&path("/invocation/next"), get(next))
        .route(&path("/invocation/{id}/response"), post(answer))
        .route(&path("/invocation/{id}/error"), post(fail))
        .route(&path("/init/error"), post(fail))
        .with_state(shared)
}

/// Waits for an event as long as it takes.
async fn next(State(shared): State<Arc<Shared>>) -> Response {
    tell(&shared, Said::Asked(Instant::now()));
    let Some(event) = shared.events.lock().await.recv().await else {
        return StatusCode::GONE.into_response();
    };
    let number = shared.handed.fetch_add(1, Ordering::Relaxed);
    let limit = i64::try_from(LIMIT.as_millis()).unwrap_or(i64::MAX);
    let deadline = SystemClock.now().as_millisecond().saturating_add(limit);
    let headers = [
        ("content-type", "application/json".to_owned()),
        ("lambda-runtime-aws-request-id", format!("request-{number}")),
        ("lambda-runtime-deadline-ms", deadline.to_string()),
        (
            "lambda-runtime-invoked-function-arn",
            "arn:aws:lambda:us-east-1:123456789012:function:bench".to_owned(),
        ),
    ];
    (headers, event).into_response()
}

async fn answer(State(shared): State<Arc<Shared>>, body: Bytes) -> StatusCode {
    tell(&shared, Said::Answered(Instant::now(), body));
    StatusCode::ACCEPTED
}

async fn fail(State(shared): State<Arc<Shared>>, body: Bytes) -> StatusCode {
    let why = String::from_utf8_lossy(&body).into_owned();
    tell(&shared, Said::Failed(why));
    StatusCode::ACCEPTED
}

fn tell(shared: &Shared, said: Said) {
    // There is no listener after the end of a measurement.
    drop(shared.said.send(said));
}
