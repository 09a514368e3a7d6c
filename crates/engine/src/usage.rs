//! What running on AWS has used, by day: counted by the adapters, and kept in one small record for each role.

pub mod prices;
mod recording;

use std::collections::BTreeMap;
use std::ops::AddAssign;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use recording::Recorder;

/// Days that are kept: a whole month of any length.
pub const DAYS_KEPT: usize = 31;

/// Interval of storing the counters: two more requests in ten minutes are next to nothing.
const STORED_EVERY: SignedDuration = SignedDuration::from_mins(10);

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

/// Counts billable usage of calls.
pub trait Meter: Send + Sync {
    /// The usage since the last call.
    fn take(&self) -> Used;
}

/// The roles that count their usage.
pub const ROLES: [&str; 2] = ["poller", "dispatcher"];

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
