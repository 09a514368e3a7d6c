//! The price file of `gaffer cost`, and what counts come to by it.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use engine::usage::Used;
use serde_json::Value;

use crate::detect::Spent;

/// The one place where prices stand.
const FILE: &str = include_str!("../../../crates/engine/src/usage/prices.json");

/// Halves of a million units, and a million of anything else.
const MILLION_HALVES: f64 = 2e6;
const MILLION: f64 = 1e6;

/// Megabytes times milliseconds of a gigabyte times a second.
const MB_MS_OF_GB_S: f64 = 1_024_000.0;

/// Prices by name.
pub(super) struct Prices(BTreeMap<String, Value>);

impl Prices {
    pub(super) fn read() -> Result<Self> {
        Ok(Self(
            serde_json::from_str(FILE).context("reading the price file")?,
        ))
    }

    /// The price of this name, in dollars.
    pub(super) fn dollars(&self, name: &str) -> Result<f64> {
        let price = self.0.get(name).and_then(|it| it["dollars"].as_f64());
        price.with_context(|| format!("the price file has no {name}"))
    }

    /// What reading and writing the table costs, in dollars.
    pub(super) fn of_table(&self, used: &Used) -> Result<(f64, f64)> {
        let price = |halves: u64, name| -> Result<f64> {
            Ok(halves as f64 / MILLION_HALVES * self.dollars(name)?)
        };
        Ok((
            price(used.read_halves, "million_read_units")?,
            price(used.write_halves, "million_write_units")?,
        ))
    }
}

impl Prices {
    /// What was used comes to, in dollars.
    pub(super) fn used(&self, used: &Used) -> Result<f64> {
        let spent = Spent {
            used: *used,
            ..Spent::default()
        };
        Ok(Cost::from_usage(&spent, self)?.total())
    }
}

/// Dollars by what they are for.
pub(super) struct Cost([(&'static str, f64); 7]);

impl Cost {
    pub(super) fn from_usage(spent: &Spent, prices: &Prices) -> Result<Self> {
        let used = &spent.used;
        let price = |count: u64, unit: f64, name: &str| -> Result<f64> {
            Ok(count as f64 / unit * prices.dollars(name)?)
        };
        let requests = "million_queue_requests";
        let (reads, writes) = prices.of_table(used)?;
        Ok(Self([
            ("reads of the table", reads),
            ("writes of the table", writes),
            (
                "messages sent",
                price(used.queue_requests, MILLION, requests)?,
            ),
            (
                "messages taken by the triggers",
                price(spent.trigger_requests, MILLION, requests)?,
            ),
            (
                "calls of the schedule",
                price(spent.scheduled, MILLION, "million_schedule_calls")?,
            ),
            (
                "invocations",
                price(used.invocations, MILLION, "million_invocations")?,
            ),
            ("compute", price(used.mb_ms, MB_MS_OF_GB_S, "gb_second")?),
        ]))
    }

    pub(super) fn total(&self) -> f64 {
        self.0.iter().map(|(_, dollars)| dollars).sum()
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.0.into_iter()
    }
}
