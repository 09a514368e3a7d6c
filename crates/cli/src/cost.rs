//! `gaffer cost`: what was counted times what it costs, and what is left of the plans.

use anyhow::{Context, Result};
use engine::status::AccountStatus;
use engine::usage::{DAYS_KEPT, ROLES, Used};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::here::Here;
use crate::render::{Answer, value};
use crate::site::Site;

/// Halves of a million units.
const MILLION_HALVES: f64 = 2_000_000.0;
/// A million of anything else.
const MILLION: f64 = 1_000_000.0;
/// Megabytes times milliseconds of a gigabyte times a second: Lambda's gigabytes have 1,024 megabytes.
const MB_MS_OF_GB_S: f64 = 1_024_000.0;

/// What the prices cover, and what they do not.
const NOT_COUNTED: &str = "Not counted: the functions webhook and api, and the deletes of the functions' triggers. Without any free tier, a month besides:";

/// Of each of the two triggers Lambda keeps five receives open, each for twenty seconds, in a month of 730 hours.
///
/// Source: AWS, "Using Lambda with Amazon SQS", polling and batching.
const EMPTY_RECEIVES: f64 = 2.0 * 5.0 * 180.0 * 730.0;

/// Once a minute, in such a month.
const SCHEDULE_CALLS: f64 = 60.0 * 730.0;

/// The price file.
#[derive(Debug, Deserialize)]
struct Prices {
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

#[derive(Debug, Deserialize)]
struct Price {
    dollars: f64,
    source: String,
    read_on: String,
}

impl Prices {
    fn read() -> Result<Self> {
        serde_json::from_str(include_str!("cost/prices.json")).context("reading the price file")
    }

    fn all(&self) -> [&Price; 13] {
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

    /// What a deployed stack costs in a month whatever happens, and for a gigabyte of what grows.
    fn fixed(&self) -> Vec<(&'static str, f64)> {
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
    fn of(&self, used: &Used) -> f64 {
        let times = |count: u64, of: f64, price: &Price| count as f64 / of * price.dollars;
        times(used.read_halves, MILLION_HALVES, &self.million_read_units)
            + times(used.write_halves, MILLION_HALVES, &self.million_write_units)
            + times(used.queue_requests, MILLION, &self.million_queue_requests)
            + times(used.invocations, MILLION, &self.million_invocations)
            + times(used.mb_ms, MB_MS_OF_GB_S, &self.gb_second)
    }
}

/// Tells what was used and what is left.
pub(crate) async fn run(here: &Here) -> Result<Answer> {
    let site = Site::of(here).await?;
    let prices = Prices::read()?;
    let (mut rows, mut roles, mut total) = (Vec::new(), Vec::new(), 0.0);
    for role in ROLES {
        let usage = site.desk.store.usage(role).await;
        let usage = usage.context("reading what was used")?.value;
        let used = usage.total();
        let dollars = prices.of(&used);
        total += dollars;
        roles.push(json!({ "role": role, "days": usage.days, "dollars": dollars }));
        if !usage.days.is_empty() {
            rows.push(row(role, &used, dollars));
        }
    }
    let status = site.desk.status().await;
    let status = status.context("reading what is left")?;
    let sources: Vec<Value> = prices.all().iter().map(|it| source(it)).collect();
    let answer = Answer::new(json!({
        "now": status.now, "days_kept": DAYS_KEPT, "roles": roles, "dollars": total, "prices": sources,
        "fixed": prices.fixed().iter().map(|(what, dollars)| json!({ "what": what, "dollars": dollars })).collect::<Vec<_>>(),
        "accounts": status.accounts.iter().map(left_json).collect::<Vec<_>>(),
        "github": value(&status.github.budgets),
    }));
    let accounts = status.accounts.iter().map(left_row).collect();
    let none = "Nothing on AWS was counted: there is no function here that uses any.";
    let answer = answer.table(
        &[
            "role",
            "reads",
            "writes",
            "queue requests",
            "invocations",
            "GB-s",
            "dollars",
        ],
        rows,
        none,
    );
    let told = format!(
        "{total:.6} dollars in all, of at most {DAYS_KEPT} days{}.",
        since(&roles)
    );
    let fixed = prices.fixed().into_iter();
    let fixed = fixed.map(|(what, dollars)| vec![what.to_owned(), format!("{dollars:.4}")]);
    let fixed = fixed.collect();
    let head = ["account", "tasks left today", "slots left", "polls"];
    let none = "No account yet: `gaffer account add default`.";
    Ok(answer
        .line(told)
        .line(NOT_COUNTED)
        .table(&["a month", "dollars"], fixed, none)
        .line("")
        .table(&head, accounts, none))
}

fn since(roles: &[Value]) -> String {
    let days = roles.iter().filter_map(|role| role["days"].as_object());
    let first = days.filter_map(|days| days.keys().next()).min();
    first.map_or_else(String::new, |first| format!(", since {first}"))
}

fn source(price: &Price) -> Value {
    json!({ "source": price.source, "read_on": price.read_on, "dollars": price.dollars })
}

fn row(role: &str, used: &Used, dollars: f64) -> Vec<String> {
    let units = |halves: u64| format!("{}", halves as f64 / 2.0);
    vec![
        role.to_owned(),
        units(used.read_halves),
        units(used.write_halves),
        used.queue_requests.to_string(),
        used.invocations.to_string(),
        format!("{:.1}", used.mb_ms as f64 / MB_MS_OF_GB_S),
        format!("{dollars:.6}"),
    ]
}

fn left((used, of): (u64, u32)) -> u64 {
    u64::from(of).saturating_sub(used)
}

fn left_row(account: &AccountStatus) -> Vec<String> {
    vec![
        account.name.to_string(),
        format!("{} of {}", left(account.today), account.today.1),
        format!("{} of {}", left(account.slots), account.slots.1),
        account.tally.polls.to_string(),
    ]
}

fn left_json(account: &AccountStatus) -> Value {
    let polled: Option<Timestamp> = account.tally.last;
    json!({
        "name": account.name, "tasks_left": left(account.today), "slots_left": left(account.slots),
        "polls": account.tally.polls, "last_poll": polled,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_price_says_where_it_comes_from() {
        for price in Prices::read().unwrap().all() {
            assert!(price.dollars > 0.0 && price.source.starts_with("AWS, "));
            assert!(
                price.read_on.parse::<jiff::civil::Date>().is_ok(),
                "{price:?}"
            );
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
        let dollars = Prices::read().unwrap().of(&used);
        let expected = 0.125 + 0.625 + 0.4 + 0.2 + 1_250.0 * 0.0000133334;
        assert!((dollars - expected).abs() < 1e-9, "{dollars}");
    }
}
