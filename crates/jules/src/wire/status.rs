//! Refusals as they travel: Google's `google.rpc.Status` in an `error` envelope, or whatever else came.

use serde::Deserialize;

use super::loose::{Loose, Many, Text};

/// What a refusal said.
#[derive(Debug, Default)]
pub(crate) struct StatusText {
    /// The canonical code such as `FAILED_PRECONDITION`; empty if there was none.
    pub(crate) status: String,
    /// The words, or the whole body if it was no envelope.
    pub(crate) message: String,
    /// Machine-readable reasons such as `API_KEY_INVALID`.
    pub(crate) reasons: Vec<String>,
    /// How long to stay away, as written, for example `3.5s`.
    pub(crate) retry_delay: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Envelope {
    error: Loose<Status>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Status {
    message: Loose<Text>,
    status: Loose<Text>,
    details: Many<Detail>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Detail {
    reason: Loose<Text>,
    retry_delay: Loose<Text>,
}

/// The codes and reasons that matter when the body is cut and cannot be parsed.
const TELLING: [&str; 3] = [
    "FAILED_PRECONDITION",
    "RESOURCE_EXHAUSTED",
    "API_KEY_INVALID",
];

impl StatusText {
    /// Reads a refusal's body, which may be cut, HTML or empty.
    pub(crate) fn read(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let envelope: Envelope = serde_json::from_str(&text).unwrap_or_default();
        match envelope.error.0 {
            Some(status) => Self::from_status(status),
            None => Self::of_text(&text),
        }
    }

    fn from_status(status: Status) -> Self {
        let details = status.details.0;
        Self {
            retry_delay: details
                .iter()
                .find_map(|detail| detail.retry_delay.some().map(str::to_owned)),
            reasons: details
                .into_iter()
                .map(|detail| detail.reason.or_empty())
                .collect(),
            message: status.message.or_empty(),
            status: status.status.or_empty(),
        }
    }

    fn of_text(text: &str) -> Self {
        let found = TELLING.into_iter().find(|code| text.contains(code));
        Self {
            status: found.unwrap_or_default().to_owned(),
            message: text.to_owned(),
            reasons: found.map(str::to_owned).into_iter().collect(),
            retry_delay: None,
        }
    }
}
