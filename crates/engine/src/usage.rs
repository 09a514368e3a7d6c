//! What running on AWS has used, by day: counted by the adapters, and kept in one small record for each role.

pub mod prices;

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::backend::{Backend, Error};
use crate::ports::RecordsError;
use crate::store::{Store, Versioned};

/// Days that are kept: a whole month of any length.
pub const DAYS_KEPT: usize = 31;

/// Interval of storing the counters: two more requests in ten minutes are next to nothing.
pub const STORED_EVERY: SignedDuration = SignedDuration::from_mins(10);

/// Usage counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// Halves of DynamoDB's read request units.
    pub read_halves: u64,
    /// Halves of DynamoDB's write request units.
    pub write_halves: u64,
    /// Requests to SQS.
    pub queue_requests: u64,
    /// Invocations of the function.
    pub invocations: u64,
    /// Memory times time of these, in megabytes times milliseconds.
    pub mb_ms: u64,
}

impl AddAssign for Used {
    fn add_assign(&mut self, other: Self) {
        self.read_halves += other.read_halves;
        self.write_halves += other.write_halves;
        self.queue_requests += other.queue_requests;
        self.invocations += other.invocations;
        self.mb_ms += other.mb_ms;
    }
}

/// What a role has used, by day in UTC (`2026-11-22`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consumption {
    /// The days.
    pub days: BTreeMap<String, Used>,
}

/// The day of a moment, in UTC.
fn date(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).date().to_string()
}

impl Consumption {
    /// With so much more on a day; the oldest days go.
    pub fn with(&self, used: Used, at: Timestamp) -> Self {
        let mut next = self.clone();
        *next.days.entry(date(at)).or_default() += used;
        while next.days.len() > DAYS_KEPT {
            next.days.pop_first();
        }
        next
    }

    /// All days together.
    pub fn total(&self) -> Used {
        let mut total = Used::default();
        self.days.values().for_each(|day| total += *day);
        total
    }
}

/// What running may cost in a day, in UTC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Allowance {
    /// In US dollars; `None` for as much as it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dollars_a_day: Option<f64>,
}

/// Today's cost so far, as far as it was stored.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spending {
    /// In US dollars.
    pub dollars_today: f64,
    /// The daily limit.
    pub dollars_a_day: Option<f64>,
}

impl Spending {
    /// Whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.dollars_a_day
            .is_some_and(|allowed| self.dollars_today >= allowed)
    }
}

/// Counts billable usage of calls.
pub trait Meter: Send + Sync {
    /// The usage since the last call.
    fn take(&self) -> Used;
}

/// The roles that count their usage.
pub const ROLES: [&str; 2] = ["poller", "dispatcher"];

/// Stores what one role of this process uses, now and then.
pub struct Recorder {
    role: &'static str,
    meter: Arc<dyn Meter>,
    pending: Mutex<(Used, Option<Timestamp>)>,
}

impl Recorder {
    /// A recorder for a role, one of [`ROLES`].
    pub fn new(role: &'static str, meter: Arc<dyn Meter>) -> Self {
        Self {
            role,
            meter,
            pending: Mutex::default(),
        }
    }

    /// Counts an invocation with its duration in milliseconds and its megabytes. A failure to store it is no failure
    /// of the work: the next call stores it.
    pub async fn invoked(&self, backend: &Backend, (took_ms, memory_mb): (u64, u64)) {
        let mut used = self.meter.take();
        used.invocations += 1;
        used.mb_ms += took_ms * memory_mb;
        let Some(all) = self.ripe(used, backend.now()) else {
            return;
        };
        if let Err(error) = store(backend, self.role, all).await {
            tracing::warn!(%error, "what was used could not be stored; it is tried again later");
            self.pending().0 += all;
        }
    }

    /// Everything that waits to be stored, if it is time. The first is stored at once: where little happens, a
    /// process may not live to see another.
    fn ripe(&self, used: Used, now: Timestamp) -> Option<Used> {
        let mut pending = self.pending();
        pending.0 += used;
        let waits = |since: Timestamp| now.duration_since(since) < STORED_EVERY;
        if pending.1.is_some_and(waits) {
            return None;
        }
        pending.1 = Some(now);
        Some(std::mem::take(&mut pending.0))
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, (Used, Option<Timestamp>)> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds to a role's usage; after a conflict the next call tries again.
async fn store(backend: &Backend, role: &str, used: Used) -> Result<(), Error> {
    let found = backend.store.usage(role).await?;
    let next = found.value.with(used, backend.now());
    let mut unit = backend.unit();
    unit.save(role, &next, Some(found.version));
    backend.commit(unit).await
}

impl Backend {
    /// Today's cost so far, and its limit.
    pub async fn spending(&self) -> Result<Spending, Error> {
        let mut used = Used::default();
        let today = date(self.now());
        for role in ROLES {
            let usage = self.store.usage(role).await?.value;
            used += usage.days.get(&today).copied().unwrap_or_default();
        }
        let prices = prices::Prices::known();
        Ok(Spending {
            dollars_today: prices.map_or(0.0, |prices| prices.cost_of(&used)),
            dollars_a_day: self.store.allowance().await?.value.dollars_a_day,
        })
    }
}

impl Store {
    /// What running may cost in a day; nothing was said before it was first stored (version 0).
    pub async fn allowance(&self) -> Result<Versioned<Allowance>, RecordsError> {
        self.get_or_initial(&()).await
    }

    /// What a role has used; nothing before it was first stored (version 0).
    pub async fn usage(&self, role: &str) -> Result<Versioned<Consumption>, RecordsError> {
        self.get_or_initial(role).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_month_is_kept() {
        let mut usage = Consumption::default();
        let begin = Timestamp::constant(1_772_355_600, 0);
        let used = Used {
            invocations: 1,
            ..Used::default()
        };
        for hour in 0..(40 * 24) {
            usage = usage.with(used, begin + SignedDuration::from_hours(hour));
        }
        assert_eq!(usage.days.len(), DAYS_KEPT);
        assert_eq!(usage.days.first_key_value().unwrap().0, "2026-03-11");
        assert!(usage.total().invocations <= 31 * 24);
        assert_eq!(
            usage.days["2026-03-12"],
            Used {
                invocations: 24,
                ..used
            }
        );
    }
}
