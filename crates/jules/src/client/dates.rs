//! How far Jules's clock is ahead of ours, by the `Date` of its answers.

use std::sync::{Mutex, PoisonError};

use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::{DATE, HeaderMap};

/// What the newest answer said.
#[derive(Default)]
pub(super) struct Dates(Mutex<Option<SignedDuration>>);

impl Dates {
    /// Notes an answer that came at `now`.
    pub(super) fn note(&self, headers: &HeaderMap, now: Timestamp) {
        let date = headers.get(DATE).and_then(|value| value.to_str().ok());
        let date = date.and_then(|date| DateTimeParser::new().parse_timestamp(date).ok());
        if let Some(date) = date {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(date.duration_since(now));
        }
    }

    /// How far its clock was ahead; none before the first answer with a date.
    pub(super) fn ahead(&self) -> Option<SignedDuration> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
