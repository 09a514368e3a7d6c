//! What the tests stand on: a running small GitHub, a client, and a target for its webhooks.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use jiff::{SignedDuration, Timestamp};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::clock::ManualClock;
use crate::counters::RequestCounts;
use crate::faults::Faults;
use crate::github::{
    ChangedFile, CiSetup, DEFAULT_TOKEN, GitHub, NewPull, PREFIX, RepoSetup, router,
};
use crate::webhook::WebhookTarget;

/// The repository that every test has.
pub(crate) const REPO: &str = "acme/shop";

/// The secret of the hook.
pub(crate) const SECRET: &str = "hook-secret";

/// A running small GitHub.
pub(crate) struct Stand {
    pub(crate) github: GitHub,
    pub(crate) clock: ManualClock,
    pub(crate) counters: RequestCounts,
    pub(crate) faults: Faults,
    pub(crate) base: String,
    pub(crate) http: Client,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    pub(crate) body: Value,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }

    /// Checks the status and the message.
    #[track_caller]
    pub(crate) fn says(&self, status: u16, message: &str) {
        assert_eq!((self.status, self.message()), (status, message));
    }

    /// One field of every entry of a list.
    pub(crate) fn each(&self, list: &str, field: &str) -> Vec<Value> {
        let list = if list.is_empty() {
            &self.body
        } else {
            &self.body[list]
        };
        list.as_array()
            .unwrap()
            .iter()
            .map(|item| item[field].clone())
            .collect()
    }
}

/// One webhook as the target saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) headers: HeaderMap,
    pub(crate) raw: Bytes,
    pub(crate) body: Value,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// Event and action, as `pull_request.opened`.
    pub(crate) fn kind(&self) -> String {
        let event = self.header("x-github-event");
        self.body["action"]
            .as_str()
            .map_or_else(|| event.to_owned(), |it| format!("{event}.{it}"))
    }
}

/// A target for webhooks that answers the statuses it was given, then 202.
#[derive(Clone, Default)]
pub(crate) struct Target {
    seen: Arc<Mutex<Vec<Seen>>>,
    answers: Arc<Mutex<Vec<u16>>>,
}

impl Target {
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Forgets what it saw.
    pub(crate) fn clear(&self) {
        self.seen.lock().unwrap().clear();
    }

    pub(crate) fn kinds(&self) -> Vec<String> {
        self.seen().iter().map(Seen::kind).collect()
    }

    pub(crate) fn answer(&self, statuses: &[u16]) {
        *self.answers.lock().unwrap() = statuses.to_vec();
    }

    fn take(&self, headers: HeaderMap, raw: Bytes) -> StatusCode {
        let body = serde_json::from_slice(&raw).unwrap();
        self.seen.lock().unwrap().push(Seen { headers, raw, body });
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let status = if answers.is_empty() {
            202
        } else {
            answers.remove(0)
        };
        StatusCode::from_u16(status).unwrap()
    }
}

pub(crate) fn start_time() -> Timestamp {
    "2026-11-21T10:00:00Z".parse().unwrap()
}

async fn serve(app: axum::Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{addr}")
}

impl Stand {
    /// A GitHub with the repository [`REPO`] and no checks.
    pub(crate) async fn start() -> Self {
        Self::with(RepoSetup::new(REPO)).await
    }

    pub(crate) async fn with_ci(ci: CiSetup) -> Self {
        Self::with(RepoSetup::new(REPO).with_ci(ci)).await
    }

    pub(crate) async fn with(repo: RepoSetup) -> Self {
        let (counters, faults) = (RequestCounts::default(), Faults::default());
        let clock = ManualClock::new(start_time());
        let github = GitHub::new(counters.clone(), faults.clone());
        github.add_repo(clock.now(), repo).unwrap();
        let app = axum::Router::new().nest(PREFIX, router(github.clone(), clock.clock()));
        let base = format!("{}{PREFIX}", serve(app).await);
        drop(rustls::crypto::ring::default_provider().install_default());
        let http = Client::builder().no_proxy().build().unwrap();
        Self {
            github,
            clock,
            counters,
            faults,
            base,
            http,
        }
    }

    /// The same with a target for its webhooks.
    pub(crate) async fn hook(&self) -> Target {
        let target = Target::default();
        let taker = target.clone();
        let app = axum::Router::new().fallback(move |headers: HeaderMap, raw: Bytes| {
            let status = taker.take(headers, raw);
            async move { status }
        });
        let url = format!("{}/hook", serve(app).await);
        self.github.set_webhook(Some(WebhookTarget {
            url,
            secret: SECRET.to_owned(),
        }));
        target
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Lets time pass and performs what is due.
    pub(crate) fn pass(&self, secs: i64) {
        self.clock.advance(SignedDuration::from_secs(secs));
        self.github.advance(self.now());
    }

    pub(crate) async fn deliver(&self) -> usize {
        self.github.deliver_due(self.now()).await
    }

    /// Opens a pull request from `branch` that changes `file`.
    pub(crate) fn open(&self, branch: &str, file: &str) -> u64 {
        self.github
            .open_pull(self.now(), REPO, new_pull(branch, file))
    }

    pub(crate) fn head(&self, number: u64) -> String {
        self.github.pull(REPO, number).unwrap().head_sha
    }

    pub(crate) async fn get(&self, path: &str) -> Got {
        self.send(Method::GET, path, Value::Null).await
    }

    /// A GET below the repository.
    pub(crate) async fn repo(&self, path: &str) -> Got {
        self.get(&format!("/repos/{REPO}{path}")).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Got {
        self.send(Method::POST, &format!("/repos/{REPO}{path}"), body)
            .await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Got {
        self.send(Method::PUT, &format!("/repos/{REPO}{path}"), body)
            .await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Got {
        self.send(Method::PATCH, &format!("/repos/{REPO}{path}"), body)
            .await
    }

    pub(crate) async fn delete(&self, path: &str) -> Got {
        self.send(Method::DELETE, &format!("/repos/{REPO}{path}"), Value::Null)
            .await
    }

    /// The pull request as GitHub shows it.
    pub(crate) async fn shown(&self, number: u64) -> Value {
        self.repo(&format!("/pulls/{number}")).await.body
    }

    /// Checks that a merge is refused with these words.
    pub(crate) async fn refuses(&self, number: u64, words: &str) {
        let got = self.merge(number).await;
        assert!(got.message().contains(words), "{got:?}");
    }

    /// Merges a pull request at the head it has.
    pub(crate) async fn merge(&self, number: u64) -> Got {
        let body = json!({ "sha": self.head(number), "merge_method": "squash" });
        self.put(&format!("/pulls/{number}/merge"), body).await
    }

    pub(crate) async fn send(&self, method: Method, path: &str, body: Value) -> Got {
        self.send_as(DEFAULT_TOKEN, (method, path), (body, &[]))
            .await
    }

    pub(crate) async fn get_as(&self, token: &str, path: &str) -> Got {
        self.send_as(token, (Method::GET, path), (Value::Null, &[]))
            .await
    }

    pub(crate) async fn send_as(
        &self,
        token: &str,
        (method, path): (Method, &str),
        (body, headers): (Value, &[(&str, &str)]),
    ) -> Got {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        if !token.is_empty() {
            request = request.bearer_auth(token);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !body.is_null() {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.unwrap();
        let body = serde_json::from_str(&text).unwrap_or_default();
        Got {
            status,
            headers,
            text,
            body,
        }
    }
}

pub(crate) fn new_pull(branch: &str, file: &str) -> NewPull {
    NewPull {
        title: format!("Change {file}"),
        body: "A change.".to_owned(),
        head_branch: branch.to_owned(),
        author_login: "google-labs-jules[bot]".to_owned(),
        author_id: 161_369_871,
        files: vec![ChangedFile::modified(file)],
        ..NewPull::default()
    }
}
