//! A scripted HTTP server: a function from what is asked to what is answered, and a record of all that was asked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use domain::facts::{PullFacts, ReadDepth};
use domain::failure::{CallEffect, Failure, FailureClass};
use domain::ids::PullRef;
use engine::ports::{Clock, PullsRead, Reading, SecretName, Secrets, SecretsError, Share};
use github::{Client, Reader, Settings, Writer};
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
use serde_json::Value;

/// The base path of the server: it must never get lost.
pub(crate) const BASE: &str = "/github";

/// The token that tests sign in with. It has no known shape, as old tokens of GitHub have none.
pub(crate) const TOKEN: &str = "canary0123456789abcdef";

/// One request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// Below the base path, without the query.
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
    /// How often the same method, path and query was asked before.
    pub(crate) before: usize,
    /// The server's own address with the base path.
    pub(crate) base: String,
}

impl Asked {
    /// `GET /path?query`, the query without the page size.
    pub(crate) fn line(&self) -> String {
        let query: Vec<&str> = self
            .query
            .split('&')
            .filter(|part| !part.is_empty() && *part != "per_page=100")
            .collect();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{} {}{mark}{}", self.method, self.path, query.join("&"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// One answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// Whether the connection breaks after the body.
    pub(crate) breaks: bool,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.to_string().into_bytes(),
            breaks: false,
        }
    }

    pub(crate) fn ok(body: &Value) -> Self {
        Self::json(200, body)
    }

    /// A refusal in GitHub's form.
    pub(crate) fn refusal(status: u16, message: &str) -> Self {
        Self::json(
            status,
            &serde_json::json!({ "message": message, "documentation_url": "https://docs.github.com/rest" }),
        )
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn text(status: u16, body: &str) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.as_bytes().to_vec(),
            breaks: false,
        }
    }
}

type Script = Arc<dyn Fn(&Asked) -> Reply + Send + Sync>;

#[derive(Clone)]
struct Shared {
    script: Script,
    asked: Arc<Mutex<Vec<Asked>>>,
    base: String,
}

/// The running server; it stops with the test.
pub(crate) struct Server {
    pub(crate) base: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    pub(crate) async fn start(script: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}{BASE}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let shared = Shared {
            script: Arc::new(script),
            asked: Arc::clone(&asked),
            base: base.clone(),
        };
        let router = axum::Router::new().fallback(answer).with_state(shared);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { base, asked }
    }

    /// Everything asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The lines of everything asked so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.asked().iter().map(Asked::line).collect()
    }

    /// A client with a token.
    pub(crate) fn client(&self) -> Client {
        Backend::new(TOKEN).client(self, None)
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::new(self.client())
    }

    /// Everything about the pull request.
    pub(crate) async fn facts(&self) -> Result<PullFacts, Failure> {
        self.reader().facts(&pull(), common(), now()).await
    }

    pub(crate) fn writer(&self) -> Writer {
        Writer::new(self.client())
    }
}

async fn answer(State(shared): State<Shared>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let path = parts.uri.path().to_owned();
    let headers = parts
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    let mut asked = Asked {
        method: parts.method.to_string(),
        path: path
            .strip_prefix(BASE)
            .map_or(format!("OUTSIDE {path}"), ToOwned::to_owned),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
        before: 0,
        base: shared.base.clone(),
    };
    let reply = {
        let mut all = shared.asked.lock().unwrap();
        asked.before = all
            .iter()
            .filter(|earlier| earlier.line() == asked.line())
            .count();
        all.push(asked.clone());
        drop(all);
        (shared.script)(&asked)
    };
    let mut response = Response::builder().status(reply.status);
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    let body = if reply.breaks {
        broken(reply.body)
    } else {
        Body::from(reply.body)
    };
    response.body(body).unwrap()
}

fn broken(start: Vec<u8>) -> Body {
    let parts = [Ok(Bytes::from(start)), Err(std::io::Error::other("cut"))];
    Body::from_stream(futures::stream::iter(parts))
}

/// A clock and a secret that tests turn and replace.
#[derive(Clone)]
pub(crate) struct Backend(Arc<Mutex<Drawer>>);

struct Drawer {
    now: Timestamp,
    secret: Result<String, SecretsError>,
    reads: usize,
}

impl Backend {
    pub(crate) fn new(secret: &str) -> Self {
        let now = "2026-11-21T12:00:00Z".parse().unwrap();
        Self(Arc::new(Mutex::new(Drawer {
            now,
            secret: Ok(secret.to_owned()),
            reads: 0,
        })))
    }

    pub(crate) fn client(&self, server: &Server, app_id: Option<u64>) -> Client {
        let settings = Settings::new(Some(&server.base), app_id).unwrap();
        Client::new(&settings, Arc::new(self.clone()), Arc::new(self.clone())).unwrap()
    }

    pub(crate) fn pass(&self, time: SignedDuration) {
        self.0.lock().unwrap().now += time;
    }

    pub(crate) fn replace(&self, secret: &str) {
        self.0.lock().unwrap().secret = Ok(secret.to_owned());
    }

    pub(crate) fn lose(&self) {
        self.0.lock().unwrap().secret = Err(SecretsError::Missing("github".to_owned()));
    }

    pub(crate) fn reads(&self) -> usize {
        self.0.lock().unwrap().reads
    }
}

impl Clock for Backend {
    fn now(&self) -> Timestamp {
        self.0.lock().unwrap().now
    }
}

#[async_trait::async_trait]
impl Secrets for Backend {
    async fn read(&self, name: &SecretName) -> Result<SecretString, SecretsError> {
        assert_eq!(name, &SecretName::GitHub);
        let mut drawer = self.0.lock().unwrap();
        drawer.reads += 1;
        drawer.secret.clone().map(SecretString::from)
    }

    async fn write(&self, name: &SecretName, _value: &SecretString) -> Result<(), SecretsError> {
        panic!("the adapter writes no secrets, not {name:?}")
    }

    async fn remove(&self, name: &SecretName) -> Result<(), SecretsError> {
        panic!("the adapter removes no secrets, not {name:?}")
    }
}

/// `acme/shop#7`, the pull request of all tests.
pub(crate) fn pull() -> PullRef {
    "acme/shop#7".parse().unwrap()
}

/// Everything, out of the common share.
pub(crate) fn common() -> Reading {
    Reading {
        share: Share::Common,
        depth: ReadDepth::WithClues,
    }
}

/// Everything, out of what is kept for merges.
pub(crate) fn kept() -> Reading {
    Reading {
        share: Share::Kept,
        ..common()
    }
}

/// Checks what a failure says of itself.
#[track_caller]
pub(crate) fn failed(failure: &Failure, class: FailureClass, happened: CallEffect) {
    let said = (failure.class, failure.happened);
    assert_eq!(said, (class, happened), "{failure}");
}

/// The time given to readings.
pub(crate) fn now() -> Timestamp {
    "2026-11-21T12:00:00Z".parse().unwrap()
}
