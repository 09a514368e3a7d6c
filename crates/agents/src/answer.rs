//! The receiver's answer, read no further than a person will look.

use domain::fence::clip;
use domain::redact::redact;
use engine::ports::Delivered;
use jiff::fmt::{rfc2822, strtime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode};

/// Most bytes of an answer that are read: a sentence of explanation, not a page.
const ANSWER_BYTES_MAX: usize = 8 * 1024;

/// Most characters of an answer that are kept, the mark of a cut included.
const ANSWER_CHARS_MAX: usize = 200;

/// Longest wait that a receiver may ask for: a mistaken header must not silence an agent.
const RETRY_AFTER_MAX: SignedDuration = SignedDuration::from_hours(24);

/// The obsolete date formats of HTTP: RFC 9110, section 5.6.7.
const OLD_DATES: [&str; 2] = ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

/// Judges by the status alone; the body is read only to be shown, and one that never ends or breaks changes nothing.
pub(crate) async fn read(response: Response, now: Timestamp) -> Delivered {
    let status = response.status();
    if status == StatusCode::ACCEPTED {
        Delivered::Accepted
    } else if status.is_success() {
        Delivered::Acknowledged
    } else if status == StatusCode::GONE {
        Delivered::Gone
    } else {
        let retry_after = retry_after(response.headers(), now);
        Delivered::Refused {
            status: status.as_u16(),
            answer: first_words(response).await,
            retry_after,
        }
    }
}

async fn first_words(mut response: Response) -> String {
    let mut bytes = Vec::new();
    while bytes.len() < ANSWER_BYTES_MAX {
        let Ok(Some(chunk)) = response.chunk().await else {
            break;
        };
        bytes.extend_from_slice(&chunk);
    }
    bytes.truncate(ANSWER_BYTES_MAX);
    shown(&String::from_utf8_lossy(&bytes))
}

/// Redacts before cutting, so that no secret is cut to something that no longer looks like one.
fn shown(text: &str) -> String {
    clip(redact(text).trim(), ANSWER_CHARS_MAX - 1)
}

/// Seconds or a date; anything else is as if nothing was asked.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<SignedDuration> {
    let asked = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = seconds(asked).or_else(|| date(asked).map(|until| until.duration_since(now)))?;
    Some(wait.clamp(SignedDuration::ZERO, RETRY_AFTER_MAX))
}

/// A number too long to count is long enough.
fn seconds(asked: &str) -> Option<SignedDuration> {
    let digits = !asked.is_empty() && asked.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| SignedDuration::from_secs(asked.parse().unwrap_or(i64::MAX)))
}

fn date(asked: &str) -> Option<Timestamp> {
    let usual = rfc2822::DateTimeParser::new().parse_timestamp(asked).ok();
    usual.or_else(|| OLD_DATES.iter().find_map(|format| old_date(format, asked)))
}

fn old_date(format: &str, asked: &str) -> Option<Timestamp> {
    let date = strtime::parse(format, asked).ok()?.to_datetime().ok()?;
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(value: &str) -> Option<SignedDuration> {
        let now = Timestamp::new(1_772_366_400, 0).ok()?; // Sunday, 2026-03-01 12:00:00
        let headers = HeaderMap::from_iter([(RETRY_AFTER, value.parse().ok()?)]);
        retry_after(&headers, now)
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_and_capped() {
        let seconds = |count| Some(SignedDuration::from_secs(count));
        for (value, expected) in [
            ("0", seconds(0)),
            ("120", seconds(120)),
            (" 7 ", seconds(7)),
            ("86400", seconds(86_400)),
            ("86401", seconds(86_400)),
            ("1000000000000", seconds(86_400)),
            ("99999999999999999999999999", seconds(86_400)),
            ("Sun, 01 Mar 2026 12:05:00 GMT", seconds(300)),
            ("Sunday, 01-Mar-26 12:05:00 GMT", seconds(300)),
            ("Sun Mar  1 12:05:00 2026", seconds(300)),
            ("Sun, 01 Mar 2026 11:00:00 GMT", seconds(0)),
            ("Wed, 01 Mar 2028 12:00:00 GMT", seconds(86_400)),
            ("-5", None),
            ("1e12", None),
            ("1.5", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(asked(value), expected, "{value}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), Timestamp::UNIX_EPOCH), None);
    }

    #[test]
    fn what_is_shown_is_short_and_holds_no_secret() {
        let secret = format!("whsec_{}", "A".repeat(40));
        assert_eq!(
            shown(&format!(" bad signature for {secret} \n")),
            "bad signature for [secret]"
        );
        let long = shown(&format!("{} {secret}", "x".repeat(195)));
        assert_eq!(long.chars().count(), ANSWER_CHARS_MAX);
        assert!(!long.contains("whsec"), "{long}");
    }
}
