//! Turns answers that are no success into the classes of failure that decisions branch on.

use domain::failure::{Failure, FailureClass};
use http::{HeaderMap, StatusCode};
use jiff::SignedDuration;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::transport::{Lost, Received};
use crate::text::{MESSAGE_CHARS_MAX, line};

/// Of an error's body only so much is read.
const ERROR_BYTES_MAX: usize = 8 * 1024;

/// GitHub asks to wait at least a minute after a secondary limit that names no time.
pub(crate) const SECONDARY_WAIT: SignedDuration = SignedDuration::from_secs(60);

/// Longest wait that we obey: primary budgets are full again within the hour.
pub(crate) const WAIT_MAX: SignedDuration = SignedDuration::from_hours(1);

/// Shortest wait, even when the service asks for none.
const WAIT_MIN: SignedDuration = SignedDuration::from_secs(1);

/// How GitHub says that an App, a fine-grained token or a classic one lacks a permission.
const NOT_ACCESSIBLE: [&str; 2] = ["Resource not accessible", "Must have admin rights"];

/// Whether a failure says that the credential lacks a permission.
pub(crate) fn is_missing_permission(failure: &Failure) -> bool {
    let says_so = |words: &str| failure.message.contains(words);
    failure.class == FailureClass::Forbidden && NOT_ACCESSIBLE.into_iter().any(says_so)
}

impl Lost {
    /// The failure of a call that got no answer.
    pub(crate) fn failure(self, doing: &str) -> Failure {
        match self {
            Self::NeverSent(why) => {
                let why = format!("{doing}: GitHub cannot be reached: {why}");
                failure(FailureClass::Network, &why).never_sent()
            }
            Self::Broken(why) => failure(FailureClass::Network, &format!("{doing}: {why}")),
        }
    }
}

/// A failure with a message that is fit to be stored.
pub(crate) fn failure(class: FailureClass, message: &str) -> Failure {
    Failure::new(class, line(message, MESSAGE_CHARS_MAX))
}

/// The failure of an answer that is neither a success nor "not modified".
pub(crate) fn refused(doing: &str, received: &Received) -> Failure {
    let (status, said) = (received.status, said(&received.body));
    let class = classify(status, &received.headers, &said);
    let hint = if said.contains(SAML) {
        "; authorise the token for the organisation's single sign-on, or use an App".to_owned()
    } else {
        hint(class, received)
    };
    let message = format!("{doing}: GitHub answered {}: {said}{hint}", status.as_u16());
    let asked = asked_wait(&received.headers).map(|wait| wait.clamp(WAIT_MIN, WAIT_MAX));
    failure(class, &message).after(received.stay_away.or(asked))
}

/// The JSON of an answer that is a success. The parser's message could repeat a secret, so it is not shown.
pub(crate) fn answered<T: DeserializeOwned>(
    received: &Received,
    doing: &str,
) -> Result<T, Failure> {
    if !received.status.is_success() {
        return Err(refused(doing, received));
    }
    serde_json::from_slice(&received.body).map_err(|_| {
        failure(
            FailureClass::Garbled,
            &format!("{doing}: the answer could not be read"),
        )
    })
}

fn classify(status: StatusCode, headers: &HeaderMap, said: &str) -> FailureClass {
    match status.as_u16() {
        401 => FailureClass::Unauthorized,
        429 => FailureClass::Throttled,
        403 if is_limit(status, headers, said) => FailureClass::Throttled,
        // 451: the repository was taken down by law.
        403 | 451 => FailureClass::Forbidden,
        // A redirect that could not be followed within the API.
        404 | 410 | 300..=399 => FailureClass::NotFound,
        405 | 409 | 422 => FailureClass::Conflict,
        400..=499 => FailureClass::Invalid,
        500..=599 => FailureClass::Unavailable,
        _other => FailureClass::Garbled,
    }
}

/// Whether an answer is a limit, of the hour or the secondary one, rather than a refusal.
pub(crate) fn is_limit(status: StatusCode, headers: &HeaderMap, said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    let disguised = word(headers, "retry-after").is_some()
        || word(headers, "x-ratelimit-remaining") == Some("0")
        || said.contains("rate limit")
        || said.contains("abuse detection");
    status.as_u16() == 429 || status.as_u16() == 403 && disguised
}

/// A word in GitHub's refusal where an organisation requires a SAML sign-in first.
const SAML: &str = "SAML";

/// The header in which GitHub names the permissions that a request takes, such as `contents=read`.
const ACCEPTED_PERMISSIONS: &str = "x-accepted-github-permissions";

fn hint(class: FailureClass, received: &Received) -> String {
    let hint = match class {
        FailureClass::Unauthorized => {
            "; the GitHub credential does not work: store another token or App key"
        }
        FailureClass::NotFound if received.status.is_redirection() => {
            "; the repository was renamed or moved, and GitHub does not say where to: register it under its new name"
        }
        FailureClass::NotFound => "; it does not exist, or the GitHub credential may not see it",
        FailureClass::Forbidden => {
            let named = word(&received.headers, ACCEPTED_PERMISSIONS).map(|it| format!(": {it}"));
            let named = named.unwrap_or_default();
            return format!("; give the token or the App this permission{named}");
        }
        FailureClass::Precondition
        | FailureClass::Conflict
        | FailureClass::Invalid
        | FailureClass::Throttled
        | FailureClass::Unavailable
        | FailureClass::Network
        | FailureClass::Garbled => "",
    };
    hint.to_owned()
}

/// The wait that an answer asks for.
pub(crate) fn asked_wait(headers: &HeaderMap) -> Option<SignedDuration> {
    let seconds = word(headers, "retry-after")?.parse().ok()?;
    Some(SignedDuration::from_secs(seconds))
}

/// A header's value as text.
pub(crate) fn word<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorBody {
    message: String,
    errors: Vec<serde_json::Value>,
}

/// GitHub's message, or the beginning of the answer.
pub(crate) fn said(body: &[u8]) -> String {
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
