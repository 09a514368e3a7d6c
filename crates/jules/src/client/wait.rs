//! How long a refusal asks us to stay away.

use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::wire::StatusText;

/// The longest wait that is believed: a broken header must not silence an account for days.
const WAIT_MAX: SignedDuration = SignedDuration::from_hours(1);

/// The wait of the `Retry-After` header, or else of the `RetryInfo` detail.
pub(super) fn asked(
    headers: &HeaderMap,
    said: &StatusText,
    now: Timestamp,
) -> Option<SignedDuration> {
    let header = headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok());
    let wait = header
        .and_then(|header| of_header(header.trim(), now))
        .or_else(|| said.retry_delay.as_deref().and_then(of_seconds))?;
    Some(wait.clamp(SignedDuration::ZERO, WAIT_MAX))
}

/// Whole seconds or an HTTP date.
fn of_header(header: &str, now: Timestamp) -> Option<SignedDuration> {
    if !header.is_empty() && header.bytes().all(|b| b.is_ascii_digit()) {
        // A number too large for the type is still a very long wait.
        return Some(header.parse().map_or(WAIT_MAX, SignedDuration::from_secs));
    }
    let date = DateTimeParser::new().parse_timestamp(header).ok()?;
    Some(date.duration_since(now))
}

/// Seconds with up to nine decimals and an `s`, as protobuf writes durations.
fn of_seconds(text: &str) -> Option<SignedDuration> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    SignedDuration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked_by(header: Option<&str>, detail: Option<&str>) -> Option<SignedDuration> {
        let mut headers = HeaderMap::new();
        if let Some(header) = header {
            headers.insert(RETRY_AFTER, header.parse().unwrap());
        }
        let said = StatusText {
            retry_delay: detail.map(str::to_owned),
            ..StatusText::default()
        };
        asked(&headers, &said, "2026-11-20T10:00:00Z".parse().unwrap())
    }

    #[test]
    fn waits_are_read_and_bounded() {
        let secs = |secs| Some(SignedDuration::from_secs(secs));
        for (header, detail, wait) in [
            (None, None, None),
            (Some("7"), None, secs(7)),
            (Some("7"), Some("9s"), secs(7)),
            (Some("soon"), Some("9s"), secs(9)),
            (Some("-3"), None, None),
            (Some("86400"), None, secs(3600)),
            (Some("99999999999999999999999"), None, secs(3600)),
            (Some("Fri, 20 Nov 2026 10:02:00 GMT"), None, secs(120)),
            (Some("Fri, 20 Nov 2026 09:00:00 GMT"), None, secs(0)),
            (Some("Sat, 21 Nov 2026 10:00:00 GMT"), None, secs(3600)),
            (None, Some("3.5s"), Some(SignedDuration::from_millis(3500))),
            (None, Some("1e300s"), None),
            (None, Some("-4s"), secs(0)),
            (None, Some("soon"), None),
        ] {
            assert_eq!(asked_by(header, detail), wait, "{header:?} {detail:?}");
        }
    }
}
