//! The same server over HTTP: one request, one answer, and no state between them.
//!
//! The official SDK's streamable HTTP service reads, checks and answers the messages, of every version of the
//! protocol that it supports.
//! The API replaces the SDK's bare-text errors, and this module answers what is no message at all.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};

use super::Server;

/// Longest body of a message, in bytes: the longest prompt fits with any escaping.
pub const BODY_BYTES_MAX: usize = 2 * 1024 * 1024;

/// What a message and its answer are.
const JSON: &str = "application/json";

/// A stream of events, which may carry an answer.
const EVENTS: &str = "text/event-stream";

/// The SDK asks for both, as the specification does; we know what the caller can read.
const BOTH: &str = "application/json, text/event-stream";

/// Headers that the protocol gives a meaning begin with this.
const OURS: &str = "mcp-";

/// Codes of JSON-RPC 2.0 for what is no message.
const NO_JSON: i32 = -32_700;
const NO_REQUEST: i32 = -32_600;

/// The outcome of a message.
#[derive(Debug)]
pub enum PostOutcome {
    /// An answer of the protocol.
    Answer(Response<BoxBody<Bytes, Infallible>>),
    /// It was refused before it was read.
    Refused {
        /// The status.
        status: StatusCode,
        /// Why.
        why: String,
    },
}

/// Answers one message that was sent with these headers.
pub async fn posted(server: Server, headers: &HeaderMap, body: Bytes) -> PostOutcome {
    let Some(takes_json) = takes_json(headers) else {
        let why = format!("`Accept` has to allow `{JSON}` or `{EVENTS}`");
        return refused(StatusCode::NOT_ACCEPTABLE, why);
    };
    if !is_json(headers) {
        let why = format!("`Content-Type` has to be `{JSON}`");
        return refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
    }
    if let Some(answer) = unreadable(&body) {
        return PostOutcome::Answer(answer);
    }
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(takes_json)
        // The caller has shown a token, which no page with a rebound name knows.
        .disable_allowed_hosts()
        .with_max_request_body_bytes(BODY_BYTES_MAX);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    let answer = service.handle(request(headers, body)).await;
    let is_message = |kind: &str| kind.starts_with(JSON) || kind.starts_with(EVENTS);
    if answer.status().is_success() || content_type(answer.headers()).is_some_and(is_message) {
        return PostOutcome::Answer(answer);
    }
    let status = answer.status();
    let Ok(text) = answer.into_body().collect().await;
    let why = String::from_utf8_lossy(&text.to_bytes()).into_owned();
    refused(status, why)
}

fn refused(status: StatusCode, why: String) -> PostOutcome {
    PostOutcome::Refused { status, why }
}

/// Whether the caller accepts JSON; `None` when it accepts neither that nor events.
fn takes_json(headers: &HeaderMap) -> Option<bool> {
    let mut accepted = headers.get_all(ACCEPT).iter().peekable();
    if accepted.peek().is_none() {
        return Some(true);
    }
    let texts = accepted.filter_map(|it| it.to_str().ok());
    let kinds = texts.flat_map(|it| it.split(','));
    let kinds: Vec<_> = kinds
        .map(|it| it.split(';').next().unwrap_or(it).trim())
        .map(str::to_ascii_lowercase)
        .collect();
    let names = |wanted: &[&str]| kinds.iter().any(|it| wanted.contains(&it.as_str()));
    if names(&[JSON, "application/*", "*/*"]) {
        return Some(true);
    }
    names(&[EVENTS, "text/*"]).then_some(false)
}

fn content_type(headers: &HeaderMap) -> Option<&str> {
    headers.get(CONTENT_TYPE)?.to_str().ok()
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = content_type(headers).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case(JSON)
}

/// What is no message is answered with the protocol's own code, which the SDK has not for it.
fn unreadable(body: &[u8]) -> Option<Response<BoxBody<Bytes, Infallible>>> {
    let value = match serde_json::from_slice::<Value>(body) {
        Ok(value) if value.is_object() => value,
        Ok(_) => return Some(wrong(NO_REQUEST, "a message is one JSON object")),
        Err(error) => return Some(wrong(NO_JSON, &format!("the body is no JSON: {error}"))),
    };
    let read = serde_json::from_value::<ClientJsonRpcMessage>(value);
    let told = |error| wrong(NO_REQUEST, &format!("the body is no message: {error}"));
    read.err().map(told)
}

fn wrong(code: i32, message: &str) -> Response<BoxBody<Bytes, Infallible>> {
    let error = json!({ "code": code, "message": message });
    let told = json!({ "jsonrpc": "2.0", "id": null, "error": error });
    let mut response = Response::new(Full::from(told.to_string()).boxed());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// The request as the SDK is to see it: what the protocol gives a meaning, and never the token.
fn request(headers: &HeaderMap, body: Bytes) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    let seen = request.headers_mut();
    for (name, value) in headers {
        if name.as_str().starts_with(OURS) {
            seen.append(name.clone(), value.clone());
        }
    }
    seen.insert(HOST, HeaderValue::from_static("localhost"));
    seen.insert(ACCEPT, HeaderValue::from_static(BOTH));
    seen.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    request
}
