//! Turns answers that are no success into the classes of failure that decisions branch on.

use domain::failure::{Failure, FailureClass};
use http::{HeaderMap, StatusCode};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use super::rates::{self, word};
use super::transport::Received;
use crate::text::{MESSAGE_CHARS_MAX, line};

/// Of an error's body only so much is read.
const ERROR_BYTES_MAX: usize = 8 * 1024;

/// GitHub asks to wait at least a minute after a secondary limit that names no time.
pub(crate) const SECONDARY_WAIT: SignedDuration = SignedDuration::from_secs(60);

/// Nobody is obeyed for longer than this: primary budgets are full again within the hour.
pub(crate) const WAIT_MAX: SignedDuration = SignedDuration::from_hours(1);

/// A failure with a message that is fit to be stored.
pub(crate) fn failure(class: FailureClass, message: &str) -> Failure {
    Failure::new(class, line(message, MESSAGE_CHARS_MAX))
}

/// The failure of an answer that is neither a success nor "not modified".
pub(crate) fn refused(doing: &str, received: &Received, now: Timestamp) -> Failure {
    let (status, said) = (received.status, said(&received.body));
    let class = classify(status, &received.headers, &said);
    let hint = hint(class, status);
    let message = format!("{doing}: GitHub answered {}: {said}{hint}", status.as_u16());
    failure(class, &message).after(wait(class, &received.headers, now))
}

fn classify(status: StatusCode, headers: &HeaderMap, said: &str) -> FailureClass {
    match status.as_u16() {
        401 => FailureClass::Unauthorized,
        429 => FailureClass::Throttled,
        403 if is_limit(headers, said) => FailureClass::Throttled,
        403 => FailureClass::Forbidden,
        // Redirects are not followed: a repository that was renamed is not the one that somebody registered.
        404 | 410 | 300..=399 => FailureClass::NotFound,
        405 | 409 | 422 => FailureClass::Conflict,
        400..=499 => FailureClass::Invalid,
        500..=599 => FailureClass::Unavailable,
        _other => FailureClass::Garbled,
    }
}

fn is_limit(headers: &HeaderMap, said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    word(headers, "retry-after").is_some()
        || word(headers, "x-ratelimit-remaining") == Some("0")
        || said.contains("rate limit")
        || said.contains("abuse detection")
}

fn hint(class: FailureClass, status: StatusCode) -> &'static str {
    match class {
        FailureClass::Unauthorized => {
            "; the GitHub credential does not work: store another token or App key"
        }
        FailureClass::NotFound if status.is_redirection() => {
            "; the repository was renamed or moved: register it under its new name"
        }
        FailureClass::NotFound => "; it does not exist, or the GitHub credential may not see it",
        FailureClass::Forbidden => "; give the token or the App this permission",
        FailureClass::Precondition
        | FailureClass::Conflict
        | FailureClass::Invalid
        | FailureClass::Throttled
        | FailureClass::Unavailable
        | FailureClass::Network
        | FailureClass::Garbled => "",
    }
}

fn wait(class: FailureClass, headers: &HeaderMap, now: Timestamp) -> Option<SignedDuration> {
    let asked = word(headers, "retry-after")
        .and_then(|text| text.parse().ok())
        .map(SignedDuration::from_secs);
    let throttled = class == FailureClass::Throttled;
    let until_reset = rates::read(headers)
        .filter(|rate| rate.remaining == 0)
        .map(|rate| rate.reset.duration_since(now));
    let wait = asked.or_else(|| throttled.then(|| until_reset.unwrap_or(SECONDARY_WAIT)))?;
    Some(wait.clamp(SignedDuration::from_secs(1), WAIT_MAX))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorBody {
    message: String,
    errors: Vec<serde_json::Value>,
}

/// What GitHub says about it, or the beginning of whatever was answered.
fn said(body: &[u8]) -> String {
    let body = body.get(..ERROR_BYTES_MAX).unwrap_or(body);
    match serde_json::from_slice::<ErrorBody>(body) {
        Ok(error) if !error.message.is_empty() => {
            let more = error.errors.iter().filter_map(detail);
            std::iter::once(error.message.clone())
                .chain(more)
                .collect::<Vec<_>>()
                .join("; ")
        }
        Ok(_) | Err(_) => line(&String::from_utf8_lossy(body), 200),
    }
}

fn detail(error: &serde_json::Value) -> Option<String> {
    let text = error
        .as_str()
        .or_else(|| error.get("message")?.as_str())
        .or_else(|| error.get("code")?.as_str());
    text.map(ToOwned::to_owned)
}
