//! AWS's prices for counted usage: read from one file, the only place with prices.

use std::sync::LazyLock;

use serde::Deserialize;

use super::Used;

/// Halves of a million units.
const MILLION_HALVES: f64 = 2_000_000.0;
/// A million of anything else.
const MILLION: f64 = 1_000_000.0;
/// Megabytes times milliseconds of a gigabyte times a second: Lambda's gigabytes have 1,024 megabytes.
pub const MB_MS_OF_GB_S: f64 = 1_024_000.0;

/// Of each of the two triggers Lambda keeps five receives open, each for twenty seconds, in a month of 730 hours.
///
/// Source: AWS, "Using Lambda with Amazon SQS", polling and batching.
const EMPTY_RECEIVES: f64 = 2.0 * 5.0 * 180.0 * 730.0;

/// Once a minute, in such a month.
const SCHEDULE_CALLS: f64 = 60.0 * 730.0;

/// The price file.
#[derive(Debug, Deserialize)]
pub struct Prices {
    million_read_units: Price,
    million_write_units: Price,
    million_queue_requests: Price,
    million_invocations: Price,
    gb_second: Price,
    million_schedule_calls: Price,
    log_gb: Price,
    log_gb_month: Price,
    metric_month: Price,
    alarm_month: Price,
    dashboard_month: Price,
    table_gb_month: Price,
    recovery_gb_month: Price,
}

/// One price.
#[derive(Debug, Deserialize)]
pub struct Price {
    /// In US dollars.
    pub dollars: f64,
    /// The page of AWS with the price.
    pub source: String,
    /// When it was read there, `YYYY-MM-DD`.
    pub read_on: String,
}

impl Prices {
    /// The prices that this version knows; `None` if the file that it was built with cannot be read, which a test rules out.
    pub fn known() -> Option<&'static Self> {
        static KNOWN: LazyLock<Option<Prices>> =
            LazyLock::new(|| serde_json::from_str(include_str!("prices.json")).ok());
        KNOWN.as_ref()
    }

    /// All of them.
    pub fn all(&self) -> [&Price; 13] {
        [
            &self.million_read_units,
            &self.million_write_units,
            &self.million_queue_requests,
            &self.million_invocations,
            &self.gb_second,
            &self.million_schedule_calls,
            &self.log_gb,
            &self.log_gb_month,
            &self.metric_month,
            &self.alarm_month,
            &self.dashboard_month,
            &self.table_gb_month,
            &self.recovery_gb_month,
        ]
    }

    /// The fixed monthly cost of a deployed stack, and the cost of a gigabyte of what grows.
    pub fn fixed(&self) -> Vec<(&'static str, f64)> {
        vec![
            (
                "receives of the two triggers, computed",
                EMPTY_RECEIVES / MILLION * self.million_queue_requests.dollars,
            ),
            (
                "calls of the schedule",
                SCHEDULE_CALLS / MILLION * self.million_schedule_calls.dollars,
            ),
            ("each alarm", self.alarm_month.dollars),
            ("dashboard", self.dashboard_month.dollars),
            ("each metric of the functions", self.metric_month.dollars),
            ("each GB of logs taken in", self.log_gb.dollars),
            ("each GB of logs kept", self.log_gb_month.dollars),
            ("each GB of the table", self.table_gb_month.dollars),
            ("recovery of each GB", self.recovery_gb_month.dollars),
        ]
    }

    /// What so much costs, in dollars.
    pub fn cost_of(&self, used: &Used) -> f64 {
        let times = |count: u64, of: f64, price: &Price| count as f64 / of * price.dollars;
        times(used.read_halves, MILLION_HALVES, &self.million_read_units)
            + times(used.write_halves, MILLION_HALVES, &self.million_write_units)
            + times(used.queue_requests, MILLION, &self.million_queue_requests)
            + times(used.invocations, MILLION, &self.million_invocations)
            + times(used.mb_ms, MB_MS_OF_GB_S, &self.gb_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_price_says_where_it_comes_from() {
        for price in Prices::known().unwrap().all() {
            assert!(price.dollars > 0.0 && price.source.starts_with("AWS, "));
            let date = price.read_on.parse::<jiff::civil::Date>();
            assert!(date.is_ok(), "{price:?}");
        }
    }

    #[test]
    fn counts_are_priced() {
        let used = Used {
            read_halves: 2_000_000,
            write_halves: 2_000_000,
            queue_requests: 1_000_000,
            invocations: 1_000_000,
            // A million invocations of 128 MB for 10 ms each.
            mb_ms: 1_280_000_000,
        };
        let dollars = Prices::known().unwrap().cost_of(&used);
        let expected = 0.125 + 0.625 + 0.4 + 0.2 + 1_250.0 * 0.0000133334;
        assert!((dollars - expected).abs() < 1e-9, "{dollars}");
    }
}
