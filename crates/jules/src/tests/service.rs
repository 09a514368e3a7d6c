//! A scripted Jules on a real socket, with the secrets and the clock that a client needs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use domain::failure::{CallEffect, Failure, FailureClass};
use domain::ids::{AccountName, SessionId};
use domain::marker::Marker;
use domain::session::{Activity, SessionView};
use engine::ports::{
    Clock, NewSession, SecretName, Secrets, SecretsError, SessionPage, SessionsRead, SessionsWrite,
};
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;

use crate::{Client, Reader, Settings, Writer};

/// The key that must never be seen outside the header.
pub(super) const CANARY: &str = "canary-7f3a91c2-key";

/// The id of most examples, above every signed 64-bit number.
pub(super) const ID: &str = "14550388554331055113";

/// One request as it arrived.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: HashMap<String, String>,
    pub(super) headers: axum::http::HeaderMap,
    pub(super) body: String,
}

impl Asked {
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

type Script = dyn Fn(&Asked) -> Response + Send + Sync;

struct Inner {
    script: Box<Script>,
    asked: Mutex<Vec<Asked>>,
}

/// A running service, its client's world, and the client.
pub(super) struct World {
    inner: Arc<Inner>,
    pub(super) clock: Arc<Watch>,
    pub(super) safe: Arc<Safe>,
    pub(super) client: Client,
}

impl World {
    /// A service that answers every request with what `script` says.
    pub(super) async fn start(script: impl Fn(&Asked) -> Response + Send + Sync + 'static) -> Self {
        Self::with(|_| (), script).await
    }

    /// The same with other settings.
    pub(super) async fn with(
        adjust: impl FnOnce(&mut Settings),
        script: impl Fn(&Asked) -> Response + Send + Sync + 'static,
    ) -> Self {
        let inner = Arc::new(Inner {
            script: Box::new(script),
            asked: Mutex::default(),
        });
        let app = Router::new().fallback(answer).with_state(inner.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/jules/v1alpha", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        let (clock, safe, client) = client_of(&base, adjust);
        Self {
            inner,
            clock,
            safe,
            client,
        }
    }

    pub(super) fn reader(&self) -> Reader {
        Reader::new(self.client.clone())
    }

    pub(super) fn writer(&self) -> Writer {
        Writer::new(self.client.clone())
    }

    pub(super) async fn get(&self) -> Result<SessionView, Failure> {
        self.reader().get(&account(), &session()).await
    }

    pub(super) async fn list(
        &self,
        size: u32,
        token: Option<&str>,
    ) -> Result<SessionPage, Failure> {
        self.reader().list(&account(), size, token).await
    }

    pub(super) async fn activities(
        &self,
        after: Option<Timestamp>,
    ) -> Result<Vec<Activity>, Failure> {
        self.reader()
            .activities(&account(), &session(), after)
            .await
    }

    pub(super) async fn find(&self, since: Timestamp) -> Result<Vec<SessionView>, Failure> {
        self.reader().find(&account(), &marker(), since).await
    }

    pub(super) async fn create(&self, new: &NewSession) -> Result<SessionView, Failure> {
        self.writer().create(&account(), new).await
    }

    pub(super) async fn send(&self, text: &str) -> Result<(), Failure> {
        self.writer().send(&account(), &session(), text).await
    }

    pub(super) async fn approve(&self) -> Result<(), Failure> {
        self.writer().approve(&account(), &session()).await
    }

    /// Everything asked so far.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.inner.asked.lock().unwrap().clone()
    }
}

/// A client of a base, and the parts of its world.
pub(super) fn client_of(
    base: &str,
    adjust: impl FnOnce(&mut Settings),
) -> (Arc<Watch>, Arc<Safe>, Client) {
    // Another test may have been first, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let clock = Arc::new(Watch(Mutex::new("2026-11-20T12:00:00Z".parse().unwrap())));
    let safe = Arc::new(Safe::default());
    safe.put(CANARY);
    let (mut settings, _) = Settings::at(base).unwrap();
    adjust(&mut settings);
    let client = Client::new(settings, safe.clone(), clock.clone()).unwrap();
    (clock, safe, client)
}

async fn answer(State(inner): State<Arc<Inner>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let pairs = url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
    let asked = Asked {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: pairs.into_owned().collect(),
        headers: parts.headers,
        body: String::from_utf8(body.to_vec()).unwrap(),
    };
    inner.asked.lock().unwrap().push(asked.clone());
    (inner.script)(&asked)
}

/// A 200 with a body.
pub(super) fn ok(body: impl Into<String>) -> Response {
    said(200, body)
}

/// A status with a body.
pub(super) fn said(status: u16, body: impl Into<String>) -> Response {
    (StatusCode::from_u16(status).unwrap(), body.into()).into_response()
}

/// A refusal in Google's envelope.
pub(super) fn refusal(code: u16, status: &str, message: &str) -> Response {
    let error =
        serde_json::json!({ "error": { "code": code, "message": message, "status": status } });
    said(code, error.to_string())
}

/// A 200 whose connection breaks in the middle of the body.
pub(super) fn broken() -> Response {
    let parts: [Result<Bytes, std::io::Error>; 2] = [
        Ok(Bytes::from_static(b"{\"sessions\":[")),
        Err(std::io::Error::other("gone")),
    ];
    Body::from_stream(futures::stream::iter(parts)).into_response()
}

/// A clock that moves only when it is set.
pub(super) struct Watch(Mutex<Timestamp>);

impl Watch {
    pub(super) fn advance(&self, span: SignedDuration) {
        *self.0.lock().unwrap() += span;
    }
}

impl Clock for Watch {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// One secret for all names, or none, and how often it was read.
#[derive(Default)]
pub(super) struct Safe {
    key: Mutex<Option<String>>,
    reads: Mutex<Vec<String>>,
}

impl Safe {
    pub(super) fn put(&self, key: &str) {
        *self.key.lock().unwrap() = Some(key.to_owned());
    }

    pub(super) fn empty(&self) {
        *self.key.lock().unwrap() = None;
    }

    pub(super) fn reads(&self) -> usize {
        self.reads.lock().unwrap().len()
    }
}

#[async_trait]
impl Secrets for Safe {
    async fn read(&self, name: &SecretName) -> Result<SecretString, SecretsError> {
        self.reads.lock().unwrap().push(name.path());
        let key = self.key.lock().unwrap().clone();
        key.map(SecretString::from)
            .ok_or_else(|| SecretsError::Missing(name.path()))
    }

    async fn write(&self, _: &SecretName, _: &SecretString) -> Result<(), SecretsError> {
        Ok(())
    }

    async fn remove(&self, _: &SecretName) -> Result<(), SecretsError> {
        Ok(())
    }
}

/// The account that everything is asked for.
pub(super) fn account() -> AccountName {
    "main".parse().unwrap()
}

/// The session that most things are asked about.
pub(super) fn session() -> SessionId {
    ID.parse().unwrap()
}

/// The marker that is searched for.
pub(super) fn marker() -> Marker {
    Marker {
        installation: "main".parse().unwrap(),
        job: "01jd8r3w6k0000000000000000".parse().unwrap(),
        attempt: 1,
    }
}

/// The ids of activities, in their order.
pub(super) fn ids(activities: &[Activity]) -> Vec<&str> {
    activities.iter().map(|it| it.id.as_str()).collect()
}

/// Checks a failure's two decisions, and that it gives nothing away.
pub(super) fn check(failure: &Failure, class: FailureClass, happened: CallEffect) {
    assert_eq!(
        (failure.class, failure.happened),
        (class, happened),
        "{failure}"
    );
    assert!(!format!("{failure:?}").contains(CANARY), "{failure:?}");
    assert!(failure.message.chars().count() <= 1024);
    assert!(!failure.message.contains(char::is_control));
}
