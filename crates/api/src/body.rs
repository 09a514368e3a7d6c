//! Reads bodies, and names what is wrong with them.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::extract::{FromRequest, Path, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use client::in_plain_words;
use client::wire::{IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_BYTES_MAX};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;
use tokio::time::timeout;

use crate::refusal::Refused;

/// Longest body of an order, in bytes: the longest prompt fits with any escaping.
pub const JOB_BODY_BYTES_MAX: usize = 1024 * 1024;

/// Longest part of an unknown name that an answer repeats, in characters.
pub(crate) const SHOWN_CHARS_MAX: usize = 80;

/// Time limit of a body: a slow line takes far less, and a silent client would hold a connection.
pub(crate) const BODY_WITHIN: Duration = Duration::from_secs(30);

/// A raw body, or why it is not read.
pub(crate) struct Sent(Result<Bytes, Refused>);

impl<S: Send + Sync> FromRequest<S> for Sent {
    type Rejection = Infallible;

    async fn from_request(request: Request, state: &S) -> Result<Self, Infallible> {
        let is_json = is_json(request.headers());
        let read = timeout(BODY_WITHIN, Bytes::from_request(request, state)).await;
        let sent = match read {
            Ok(Ok(bytes)) if is_json || bytes.trim_ascii().is_empty() => Ok(bytes),
            Ok(Ok(_)) => Err(foreign()),
            Ok(Err(rejection)) => Err(not_whole(&rejection)),
            Err(_) => Err(too_slow()),
        };
        Ok(Self(sent))
    }
}

/// Whether a body is said to be JSON, or nothing is said of it.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(given) = headers.get(CONTENT_TYPE) else {
        return true;
    };
    let given = given.to_str().unwrap_or_default().split(';').next();
    let kind = given.unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind.starts_with("application/") && kind.ends_with("+json")
}

/// The body did not come in time.
pub(crate) fn too_slow() -> Refused {
    let detail = format!(
        "the body did not come within {} seconds: send it again",
        BODY_WITHIN.as_secs()
    );
    Refused::new(StatusCode::REQUEST_TIMEOUT, "too_slow", &detail)
}

fn foreign() -> Refused {
    let detail = "`content-type` is not JSON: send `application/json`";
    let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    Refused::new(status, "not_json", detail).about(CONTENT_TYPE.as_str())
}

fn not_whole(rejection: &BytesRejection) -> Refused {
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            let detail = format!("the body is longer than {JOB_BODY_BYTES_MAX} bytes");
            Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", &detail)
        }
        _ => {
            let detail = "the body did not come whole";
            Refused::new(StatusCode::BAD_REQUEST, "bad_body", detail)
        }
    }
}

/// Parts of a path as they came, or why they cannot be read.
pub(crate) type Parts<T> = Result<Path<T>, PathRejection>;

/// The parts of a path.
pub(crate) fn parts<T>(parts: Parts<T>) -> Result<T, Refused> {
    let bad = |_| {
        let detail = "the path holds an escape that cannot be read";
        Refused::new(StatusCode::BAD_REQUEST, "bad_path", detail).about("path")
    };
    Ok(parts.map_err(bad)?.0)
}

/// A required order.
pub(crate) fn order<T: DeserializeOwned>(sent: Sent) -> Result<T, Refused> {
    read(&sent.0?)
}

/// An order all of whose fields may be missing, and so the order itself.
pub(crate) fn maybe_order<T: DeserializeOwned>(sent: Sent) -> Result<T, Refused> {
    let bytes = sent.0?;
    let blank = bytes.trim_ascii().is_empty();
    read(if blank { b"{}" } else { &bytes })
}

/// The name that makes repeating an order harmless, if it has one.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, Refused> {
    let mut given = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(first) = given.next() else {
        return Ok(None);
    };
    let text = first
        .to_str()
        .ok()
        .map(str::trim)
        .filter(|text| !text.is_empty() && text.len() <= IDEMPOTENCY_KEY_BYTES_MAX);
    match text {
        Some(key) if given.next().is_none() => Ok(Some(key)),
        Some(_) | None => {
            let detail = format!(
                "`{IDEMPOTENCY_KEY}` is one text of 1 to {IDEMPOTENCY_KEY_BYTES_MAX} visible ASCII characters"
            );
            let refused = Refused::new(StatusCode::BAD_REQUEST, "bad_idempotency_key", &detail);
            Err(refused.about(IDEMPOTENCY_KEY))
        }
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refused> {
    // Without this, a list would be read as the fields in their order.
    if !bytes.trim_ascii_start().starts_with(b"{") {
        let detail = "the body is not a JSON object";
        return Err(Refused::new(StatusCode::BAD_REQUEST, "bad_json", detail));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let read = serde_path_to_error::deserialize(&mut deserializer);
    let value = read.map_err(|error| {
        let path = error.path().to_string();
        // A list in place of a word counts as a syntax error.
        let is_json = serde_json::from_slice::<Value>(bytes).is_ok();
        refusal(&path, error.inner(), is_json)
    })?;
    deserializer
        .end()
        .map_err(|error| refusal(".", &error, false))?;
    Ok(value)
}

fn refusal(path: &str, error: &serde_json::Error, is_json: bool) -> Refused {
    let message = error.to_string();
    let category = if is_json {
        Category::Data
    } else {
        error.classify()
    };
    match category {
        Category::Data => {
            let (code, field) = named(path, &message);
            let words = in_plain_words(&message);
            match field {
                "." => Refused::new(StatusCode::UNPROCESSABLE_ENTITY, code, &words),
                _ if words.starts_with(&format!("`{field}` ")) => {
                    Refused::field(field, code, &words)
                }
                _ => Refused::field(field, code, &format!("`{field}`: {words}")),
            }
        }
        Category::Syntax | Category::Eof | Category::Io => {
            let detail = format!("the body is not JSON: {message}");
            Refused::new(StatusCode::BAD_REQUEST, "bad_json", &detail)
        }
    }
}

/// What kind of mistake it is, and in which field: an unknown, doubled or missing one is named in the message alone.
fn named<'a>(path: &'a str, message: &'a str) -> (&'static str, &'a str) {
    let kinds = [
        ("unknown field `", "unknown_field"),
        ("duplicate field `", "doubled_field"),
        ("missing field `", "missing_field"),
    ];
    for (start, code) in kinds {
        let rest = message.strip_prefix(start);
        if let Some((field, _)) = rest.and_then(|rest| rest.split_once('`')) {
            return (code, field);
        }
    }
    ("bad_field", path)
}
