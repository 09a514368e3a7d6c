//! How much of GitHub's budget is left, as its answers tell.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use http::HeaderMap;
use jiff::Timestamp;

/// GitHub names about a dozen kinds of budget; more than this is not kept.
const RESOURCES_MAX: usize = 32;

/// One budget, as of the last answer that named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rate {
    /// Requests granted until the reset.
    pub limit: u64,
    /// Requests left.
    pub remaining: u64,
    /// When the budget is full again.
    pub reset: Timestamp,
}

/// The last seen budgets by resource.
#[derive(Debug, Default)]
pub(crate) struct Rates(Mutex<BTreeMap<String, Rate>>);

impl Rates {
    /// Remembers what an answer tells.
    pub(crate) fn note(&self, headers: &HeaderMap) {
        let Some(rate) = read(headers) else {
            return;
        };
        let resource = word(headers, "x-ratelimit-resource").unwrap_or("core");
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < RESOURCES_MAX || known.contains_key(resource) {
            known.insert(crate::text::line(resource, 40), rate);
        }
    }

    /// Everything known.
    pub(crate) fn all(&self) -> BTreeMap<String, Rate> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The budget that an answer tells.
pub(crate) fn read(headers: &HeaderMap) -> Option<Rate> {
    let number = |name| word(headers, name)?.parse::<u64>().ok();
    let reset = i64::try_from(number("x-ratelimit-reset")?).ok()?;
    Some(Rate {
        limit: number("x-ratelimit-limit")?,
        remaining: number("x-ratelimit-remaining")?,
        reset: Timestamp::from_second(reset).ok()?,
    })
}

/// A header's value as text.
pub(crate) fn word<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}
