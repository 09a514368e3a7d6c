//! The socket of a recorded Jules.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::tape::Tape;
use super::{Answered, Asked, REPLAY_KEY, Transcript, digest};
use crate::Error;

/// The path of the API, as in the other sandbox.
const API: &str = "/jules/v1alpha";

/// The path of the service's description of itself.
const DISCOVERY: &str = "/jules/$discovery/rest";

/// A recorded Jules on a socket; it stops when it is dropped.
pub struct Replay {
    addr: SocketAddr,
    server: JoinHandle<()>,
}

impl Replay {
    /// Binds the socket and serves the recording from its start.
    ///
    /// # Errors
    /// [`Error::Bind`] when the socket is not free.
    pub async fn start(listen: SocketAddr, transcript: Transcript) -> Result<Self, Error> {
        let bind = |source| Error::Bind { listen, source };
        let listener = TcpListener::bind(listen).await.map_err(bind)?;
        let addr = listener.local_addr().map_err(bind)?;
        let tape = Arc::new(Mutex::new(Tape::new(transcript)));
        let app = Router::new()
            .fallback(answer)
            .layer(DefaultBodyLimit::disable())
            .with_state(tape);
        let server = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, app).await {
                tracing::error!(%error, "sandbox: the recorded Jules ended");
            }
        });
        Ok(Self { addr, server })
    }

    /// Base of the Jules API, `http://…/jules/v1alpha`.
    #[must_use]
    pub fn jules_base(&self) -> String {
        format!("http://{}{API}", self.addr)
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(
    State(tape): State<Arc<Mutex<Tape>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(asked) = asked(&method, &uri, &headers, &body) else {
        return unknown();
    };
    let mut tape = tape.lock().unwrap_or_else(PoisonError::into_inner);
    tape.answer(&asked).map_or_else(unknown, written)
}

/// The request as a transcript would hold it.
fn asked(method: &Method, uri: &Uri, headers: &HeaderMap, body: &[u8]) -> Option<Asked> {
    let path = match uri.path() {
        DISCOVERY => "",
        path => path.strip_prefix(API)?.strip_prefix('/')?,
    };
    let query = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let body: Option<Value> = match body {
        [] => None,
        body => Some(serde_json::from_slice(body).ok()?),
    };
    let key = headers.get("x-goog-api-key").map(HeaderValue::as_bytes);
    Some(Asked {
        method: method.to_string(),
        path: path.to_owned(),
        query: query.into_owned().collect(),
        body_digest: body.as_ref().map(digest),
        body,
        wrong_key: key != Some(REPLAY_KEY.as_bytes()),
    })
}

fn written(answered: Answered) -> Response {
    let text = match answered.body {
        Value::Null => String::new(),
        Value::String(text) => text,
        json @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            json.to_string()
        }
    };
    let mut response = Response::new(Body::from(text));
    *response.status_mut() =
        StatusCode::from_u16(answered.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in &answered.headers {
        let pair = (name.parse::<HeaderName>(), value.parse::<HeaderValue>());
        if let (Ok(name), Ok(value)) = pair {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// What was never recorded is told as such, and not as anything that Jules says.
fn unknown() -> Response {
    let body = json!({ "error": {
        "code": 501, "status": "UNIMPLEMENTED",
        "message": "This request is not in the transcript at this point.",
    } });
    let json = [(CONTENT_TYPE, "application/json")];
    (StatusCode::NOT_IMPLEMENTED, json, body.to_string()).into_response()
}
