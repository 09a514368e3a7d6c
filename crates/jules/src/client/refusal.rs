//! The meaning of a failed call: by status, by text, or by the way the answer is missing.

use std::error::Error as _;

use domain::failure::{Failure, FailureClass};
use jiff::Timestamp;
use reqwest::{Response, StatusCode};

use super::masking::shown;
use super::wait;
use crate::wire::StatusText;

/// A failure, and what the caller may do about it at once.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) failure: Failure,
    pub(crate) cause: Cause,
}

/// What the caller may do about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A 400 about the form of the request: an optional parameter may be dropped.
    BadRequest,
    /// The answer was larger than the read limit: a smaller page may be asked for.
    TooLarge,
    /// Nothing.
    Final,
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            cause: Cause::Final,
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        refusal.failure
    }
}

impl Refusal {
    /// An answer beyond the read limit.
    pub(super) fn too_large(doing: &str, limit: usize) -> Self {
        let message = format!(
            "{doing}: the answer is larger than {limit} bytes; ask for fewer items at a time"
        );
        Self {
            failure: Failure::new(FailureClass::Garbled, message),
            cause: Cause::TooLarge,
        }
    }

    /// A key that cannot even be sent.
    pub(super) fn unusable_key(doing: &str) -> Self {
        let message = format!(
            "{doing}: the stored key is empty or holds characters that no key has; store it again"
        );
        Failure::new(FailureClass::Unauthorized, message).into()
    }
}

/// A success whose body cannot be read; whether anything was done is open.
pub(crate) fn garbled(doing: &str, why: &str) -> Failure {
    let message = shown(
        &format!("{doing}: Jules's answer cannot be read: {why}"),
        "",
    );
    Failure::new(FailureClass::Garbled, message)
}

/// No answer, or not all of it.
pub(super) fn unanswered(doing: &str, error: &reqwest::Error, key: &str) -> Refusal {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let how = if error.is_timeout() {
        "Jules did not answer in time"
    } else if error.is_connect() {
        "Jules could not be reached"
    } else {
        "the connection to Jules broke"
    };
    // The outermost error is never shown: its text holds the address.
    let message = if error.source().is_some() {
        format!("{doing}: {how} ({cause})")
    } else {
        format!("{doing}: {how}")
    };
    let failure = Failure::new(FailureClass::Network, shown(&message, key));
    // Nothing leaves before there is a connection, which includes looking up the name and the TLS handshake.
    let unsent = error.is_connect() || error.is_builder();
    Refusal::from(if unsent {
        failure.never_sent()
    } else {
        failure
    })
}

/// An answer that is not a success.
pub(super) fn refused(
    doing: &str,
    response: &Response,
    body: &[u8],
    key: &str,
    now: Timestamp,
) -> Refusal {
    let status = response.status();
    let said = StatusText::read(body);
    let class = class(status, &said);
    let wait = wait::asked(response.headers(), &said, now);
    let mut message = format!("{doing}: Jules answered {}", status.as_u16());
    if !said.status.is_empty() {
        message.push(' ');
        message.push_str(&said.status);
    }
    message.push_str(advice(class, status));
    if !said.message.is_empty() {
        message.push_str(": ");
        message.push_str(&said.message);
    }
    let cause = if status == StatusCode::BAD_REQUEST && class == FailureClass::Invalid {
        Cause::BadRequest
    } else {
        Cause::Final
    };
    Refusal {
        failure: Failure::new(class, shown(&message, key)).after(wait),
        cause,
    }
}

/// What to do next, where the service's own text does not say it.
fn advice(class: FailureClass, status: StatusCode) -> &'static str {
    match class {
        FailureClass::Unauthorized => "; store a valid key for this account",
        FailureClass::Precondition => "; usually a limit of the account, so try later",
        FailureClass::Garbled if status.is_redirection() => {
            "; redirects are not followed, check the base address"
        }
        FailureClass::Forbidden
        | FailureClass::NotFound
        | FailureClass::Conflict
        | FailureClass::Invalid
        | FailureClass::Throttled
        | FailureClass::Unavailable
        | FailureClass::Network
        | FailureClass::Garbled => "",
    }
}

/// The class of a refusal; the table is section 1.4 of the API's description.
fn class(status: StatusCode, said: &StatusText) -> FailureClass {
    match status.as_u16() {
        401 => FailureClass::Unauthorized,
        400 if is_bad_key(said) => FailureClass::Unauthorized,
        400 if is_precondition(said) => FailureClass::Precondition,
        429 => FailureClass::Throttled,
        400 | 403 if is_rate(said) => FailureClass::Throttled,
        403 => FailureClass::Forbidden,
        404 | 410 => FailureClass::NotFound,
        // The front end gave up waiting for our request; the same request may work the next time.
        408 => FailureClass::Unavailable,
        400..=499 => FailureClass::Invalid,
        500..=599 => FailureClass::Unavailable,
        _ => FailureClass::Garbled,
    }
}

fn is_bad_key(said: &StatusText) -> bool {
    let words = said.message.to_ascii_lowercase();
    said.reasons
        .iter()
        .any(|reason| reason == "API_KEY_INVALID")
        || words.contains("api key not valid")
        || words.contains("api key expired")
}

fn is_precondition(said: &StatusText) -> bool {
    said.status == "FAILED_PRECONDITION" || said.message.starts_with("Precondition check failed")
}

/// Whether a refusal is about too many requests; a bare "quota" is not, since permission errors speak of a "quota project".
fn is_rate(said: &StatusText) -> bool {
    const WORDS: [&str; 5] = [
        "rate limit",
        "ratelimit",
        "too many requests",
        "quota exceeded",
        "resource has been exhausted",
    ];
    let words = said.message.to_ascii_lowercase();
    said.status == "RESOURCE_EXHAUSTED"
        || said
            .reasons
            .iter()
            .any(|reason| reason == "RATE_LIMIT_EXCEEDED")
        || WORDS.iter().any(|word| words.contains(word))
}
