//! What every request passes first: time moves on, faults strike, the request is logged and counted.
//! The handlers behind it need no fault code of their own, save for the lags.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::counters::{Logged, RequestCounts};
use crate::faults::{FaultKind, Faults, Service};
use crate::jules::JulesRefusal;
use crate::wire::Cutter;

/// The gate of one service.
#[derive(Clone)]
pub(crate) struct Gate {
    /// Whose gate it is.
    pub(crate) service: Service,
    /// The sandbox's clock.
    pub(crate) clock: Clock,
    /// The switchboard.
    pub(crate) faults: Faults,
    pub(crate) counters: RequestCounts,
    /// Performs everything that is due.
    pub(crate) advance: Arc<dyn Fn() + Send + Sync>,
}

/// Lets one request through, or not.
pub(crate) async fn pass(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    (gate.advance)();
    let cutter = request
        .extensions()
        .get::<ConnectInfo<Cutter>>()
        .map(|it| it.0.clone());
    gate.counters.came();
    let mut line = Line {
        counters: gate.counters.clone(),
        entry: Some(gate.arrival(&request)),
    };
    let mut body = String::new();
    if gate.faults.read_bodies() {
        (request, body) = read(request).await;
    }
    let fault = gate
        .faults
        .take(gate.service, line.method(), line.path(), &body);
    line.struck(fault.as_ref());
    let response = match fault {
        None => next.run(request).await,
        Some(fault) => gate.strike(fault, request, next, cutter.as_ref()).await,
    };
    if !cutter.is_some_and(|it| it.is_cut()) {
        line.answered(&response);
    }
    response
}

/// A line of the log, written when it is dropped: also a request whose client gave up waiting is logged.
struct Line {
    counters: RequestCounts,
    entry: Option<Logged>,
}

impl Line {
    fn method(&self) -> &str {
        self.entry.as_ref().map_or("", |it| &it.method)
    }

    fn path(&self) -> &str {
        self.entry.as_ref().map_or("", |it| &it.path)
    }

    fn struck(&mut self, fault: Option<&FaultKind>) {
        if let Some(entry) = &mut self.entry {
            entry.fault = fault.map(FaultKind::word);
        }
    }

    fn answered(&mut self, response: &Response) {
        if let Some(entry) = &mut self.entry {
            entry.status = response.status().as_u16();
            entry.bytes = content_length(response);
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.counters.went();
        if let Some(entry) = self.entry.take() {
            self.counters.log(entry);
        }
    }
}

impl Gate {
    /// Counts the request and opens its line of the log.
    fn arrival(&self, request: &Request) -> Logged {
        self.counters.count(|it| match self.service {
            Service::Jules => it.jules_calls += 1,
            Service::GitHub => it.github_calls += 1,
            // The receiver counts its wakes when it records them.
            Service::Agent => {}
        });
        let path = request
            .uri()
            .path_and_query()
            .map_or_else(String::new, ToString::to_string);
        let method = request.method().to_string();
        Logged {
            at: (self.clock)(),
            service: self.service,
            method,
            path,
            status: 0,
            bytes: 0,
            fault: None,
        }
    }

    async fn strike(
        &self,
        fault: FaultKind,
        request: Request,
        next: Next,
        cutter: Option<&Cutter>,
    ) -> Response {
        match fault {
            FaultKind::Status {
                code,
                retry_after_secs,
                body,
            } => self.refuse(code, retry_after_secs, body),
            FaultKind::StatusAfterEffect { code } => {
                drop(next.run(request).await);
                self.refuse(code, None, None)
            }
            FaultKind::CutBefore => cut(cutter),
            FaultKind::CutAfterEffect => {
                drop(next.run(request).await);
                cut(cutter)
            }
            FaultKind::TruncatedPage => rewrite(next.run(request).await, |it| halve(&it)).await,
            FaultKind::HtmlInstead => {
                drop(next.run(request).await);
                html()
            }
            FaultKind::SlowerThan { millis } => {
                let response = next.run(request).await;
                pause(Duration::from_millis(millis)).await;
                response
            }
            FaultKind::MergeableNull => nulled(request, next, "mergeable").await,
            FaultKind::NullSha => nulled(request, next, "merge_commit_sha").await,
        }
    }

    /// The fault's own answer, in the service's usual error shape unless the fault brings a body.
    fn refuse(&self, code: u16, retry_after_secs: Option<u64>, body: Option<Value>) -> Response {
        let status = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = body.unwrap_or_else(|| match self.service {
            Service::Jules => JulesRefusal::of_status(code).to_json(),
            Service::GitHub | Service::Agent => {
                json!({ "message": status.canonical_reason().unwrap_or("Unknown"), "status": code.to_string() })
            }
        });
        let mut response = Response::new(Body::from(body.to_string()));
        *response.status_mut() = status;
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(secs) = retry_after_secs {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(secs));
        }
        response
    }
}

/// Drops the connection; without one (a router called in process) a 502 stands for it.
fn cut(cutter: Option<&Cutter>) -> Response {
    if let Some(cutter) = cutter {
        cutter.cut();
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    response
}

fn html() -> Response {
    let page = "<!doctype html><html><body><h1>Please sign in to the network</h1></body></html>";
    let mut response = Response::new(Body::from(page));
    response.headers_mut().insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    response
}

/// Waits in real time; only faults that outlast a client's timeout do.
pub(crate) async fn pause(time: Duration) {
    #[expect(
        clippy::disallowed_methods,
        reason = "a slow server has to be slow on the client's clock, which is the real one"
    )]
    tokio::time::sleep(time).await;
}

/// The first half of a body: a page whose JSON stops in the middle.
fn halve(body: &Bytes) -> Bytes {
    body.slice(..body.len() / 2)
}

/// Answers whole and with every `key` null; an entity tag must not confirm the other picture.
async fn nulled(mut request: Request, next: Next, key: &str) -> Response {
    request.headers_mut().remove(IF_NONE_MATCH);
    rewrite(
        next.run(request).await,
        |body| match serde_json::from_slice::<Value>(&body) {
            Ok(mut value) => {
                null_key(&mut value, key);
                Bytes::from(value.to_string())
            }
            Err(_) => body,
        },
    )
    .await
}

/// Sets every member called `key` to null, at any depth.
fn null_key(value: &mut Value, key: &str) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if name == key {
                    *member = Value::Null;
                } else {
                    null_key(member, key);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| null_key(item, key)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The raw request, and the text of its body; empty if it breaks off.
async fn read(request: Request) -> (Request, String) {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&body).into_owned();
    (Request::from_parts(parts, Body::from(body)), text)
}

async fn rewrite(response: Response, change: impl FnOnce(Bytes) -> Bytes) -> Response {
    let (mut parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.remove(ETAG);
    Response::from_parts(parts, Body::from(change(body)))
}

/// Bytes of the answer where they are known before it is sent.
fn content_length(response: &Response) -> u64 {
    use axum::body::HttpBody as _;
    response.body().size_hint().exact().unwrap_or_default()
}
