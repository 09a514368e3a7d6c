//! A gate before the services of AWS: it notes who asks for what, and lets things go wrong on the way.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::asked::{Asked, asked, signer};

/// Signs what Lambda itself asks for, on behalf of a function. That its queue shows a message again is its own business.
pub const LAMBDA: &str = "lambda";

/// A fault of one call in a given number.
const ONE_IN: u32 = 12;

/// The parameter store, which is seldom asked, stalls one call in so many.
const STALLS_ONE_IN: u32 = 3;

/// What can go wrong with a call at once.
const QUICK: [Trouble; 4] = [
    Trouble::Throttled,
    Trouble::Broken,
    Trouble::CutBefore,
    Trouble::CutAfter,
];

/// What can go wrong between a client and AWS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trouble {
    /// Too many calls; nothing was done.
    Throttled,
    /// An error of the service itself; nothing was done.
    Broken,
    /// The connection is cut before the service hears of it.
    CutBefore,
    /// It was done, and the connection is cut before the answer.
    CutAfter,
    /// No answer within the client's time limit. Only the parameter store does this, whose callers have a cached value.
    Stalled,
}

impl Trouble {
    /// All there are.
    pub const ALL: [Self; 5] = [
        Self::Throttled,
        Self::Broken,
        Self::CutBefore,
        Self::CutAfter,
        Self::Stalled,
    ];
}

/// A raw call.
struct Call {
    headers: HeaderMap,
    body: Bytes,
}

struct GateState {
    services: String,
    dynamodb: String,
    http: reqwest::Client,
    dice: Mutex<Option<StdRng>>,
    troubles: Mutex<Vec<Trouble>>,
    asked: Mutex<BTreeSet<Asked>>,
}

/// The gate, open until it is dropped.
pub struct Gate {
    addr: SocketAddr,
    inner: Arc<GateState>,
    server: JoinHandle<()>,
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Gate {
    /// A gate before the services that the environment names, at which nothing goes wrong.
    pub async fn open() -> Self {
        // A world may have installed it first, which serves as well.
        drop(rustls::crypto::ring::default_provider().install_default());
        let services = std::env::var_os("AWS_ENDPOINT_URL").expect("services of AWS");
        let dynamodb = std::env::var_os("AWS_ENDPOINT_URL_DYNAMODB");
        let text = |place: std::ffi::OsString| place.into_string().expect("an address");
        let inner = Arc::new(GateState {
            dynamodb: text(dynamodb.unwrap_or_else(|| services.clone())),
            services: text(services),
            http: reqwest::Client::new(),
            dice: Mutex::default(),
            troubles: Mutex::default(),
            asked: Mutex::default(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
        let addr = listener.local_addr().expect("an address");
        let router = Router::new().fallback(pass).with_state(inner.clone());
        let server = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Self {
            addr,
            inner,
            server,
        }
    }

    /// Where clients find it.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// From now on things go wrong, as the seed says.
    pub fn storm(&self, seed: u64) {
        *locked(&self.inner.dice) = Some(StdRng::seed_from_u64(seed));
    }

    /// Nothing goes wrong any more.
    pub fn calm(&self) {
        *locked(&self.inner.dice) = None;
    }

    /// What went wrong so far.
    pub fn troubles(&self) -> Vec<Trouble> {
        locked(&self.inner.troubles).clone()
    }

    /// Who asked for what so far.
    pub fn asked(&self) -> BTreeSet<Asked> {
        locked(&self.inner.asked).clone()
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn pass(State(gate): State<Arc<GateState>>, headers: HeaderMap, body: Bytes) -> Response {
    let call = Call { headers, body };
    locked(&gate.asked).extend(asked(&call.headers, &call.body));
    let Some(trouble) = gate.trouble(&call) else {
        return gate.forward(call).await;
    };
    locked(&gate.troubles).push(trouble);
    match trouble {
        Trouble::Throttled => refused(StatusCode::BAD_REQUEST, "ThrottlingException"),
        Trouble::Broken => refused(StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError"),
        Trouble::CutBefore => cut(),
        Trouble::CutAfter => {
            drop(gate.forward(call).await);
            cut()
        }
        Trouble::Stalled => std::future::pending().await,
    }
}

impl GateState {
    fn trouble(&self, call: &Call) -> Option<Trouble> {
        if signer(&call.headers) == LAMBDA {
            return None;
        }
        let mut dice = locked(&self.dice);
        let dice = dice.as_mut()?;
        if call.target().starts_with("AmazonSSM") {
            return dice
                .random_ratio(1, STALLS_ONE_IN)
                .then_some(Trouble::Stalled);
        }
        if dice.random_ratio(ONE_IN - 1, ONE_IN) {
            return None;
        }
        QUICK.get(dice.random_range(0..QUICK.len())).copied()
    }

    async fn forward(&self, call: Call) -> Response {
        let base = if call.target().starts_with("DynamoDB") {
            &self.dynamodb
        } else {
            &self.services
        };
        let mut headers = call.headers;
        headers.remove("host");
        let sent = self.http.post(base).headers(headers).body(call.body);
        let answer = sent.send().await.expect("an answer of the service");
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = answer.bytes().await.expect("a whole answer");
        let mut response = (status, body).into_response();
        for name in [
            "content-type",
            "x-amzn-requestid",
            "x-amz-crc32",
            "x-amzn-query-error",
        ] {
            if let Some(value) = headers.get(name) {
                response.headers_mut().insert(name, value.clone());
            }
        }
        response
    }
}

impl Call {
    /// The service and the operation, as in `AmazonSQS.SendMessage`.
    fn target(&self) -> &str {
        target(&self.headers)
    }
}

/// The service and the operation that the headers name.
pub(super) fn target(headers: &HeaderMap) -> &str {
    let target = headers.get("x-amz-target");
    target.and_then(|value| value.to_str().ok()).unwrap_or("")
}

fn refused(status: StatusCode, code: &str) -> Response {
    let body: Value = json!({ "__type": code, "message": "so the gate says" });
    (
        status,
        [("content-type", "application/x-amz-json-1.0")],
        body.to_string(),
    )
        .into_response()
}

/// An answer that breaks off.
fn cut() -> Response {
    let broken = futures::stream::once(async { Err::<Bytes, _>(std::io::Error::other("cut")) });
    Body::from_stream(broken).into_response()
}

/// Time limit of the gate's clients, so that a stalled call is given up soon.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);
