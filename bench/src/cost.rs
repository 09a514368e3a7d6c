//! Cost of watching on AWS, and detection time: the functions over a real table and real queues, with each call
//! counted by the adapters and priced by the one price file.

mod prices;
mod run;

use anyhow::Result;

use crate::added;
use crate::figure::{Figure, Target};
use prices::{Cost, Prices};
use run::{Play, Ran};

pub(crate) use run::{Play as CostPlay, alone};

const SECTION: &str = "cost";

/// Millionths of a dollar for one hour of one watched job, which has one life.
const TEN_SECONDS: Target = Target::AtMost(120.0);
const FORTY_FIVE_SECONDS: Target = Target::AtMost(80.0);

/// Dollars of a month in which nothing is watched: requests and compute.
const IDLE_MONTH: Target = Target::AtMost(0.15);

/// Hours of a month.
const MONTH_HOURS: f64 = 730.0;

/// Dollars are shown in millionths where they are so few.
const MILLIONTHS: f64 = 1e6;

/// What the table charges for one kind of row is shown from so many millionths on.
const SHOWN: f64 = 0.25;

/// Of each trigger Lambda keeps so many receives open, each for twenty seconds.
const RECEIVERS: f64 = 5.0;
const RECEIVES_AN_HOUR: f64 = 180.0;

const TRIGGERS: &str = include_str!("../../infra/triggers.yaml");

/// Plays all, and prices what was counted.
pub(crate) fn measure() -> Result<Vec<Figure>> {
    let prices = Prices::read()?;
    let mut figures = Vec::new();
    let mut metrics = 0.0_f64;
    for (play, name, target) in [
        (Play::TenSeconds, "20 jobs, a tick of 10 s", None),
        (Play::FortyFiveSeconds, "15 jobs, a tick of 45 s", None),
        (
            Play::TenSecondsLong,
            "20 jobs of an hour, a tick of 10 s",
            Some(TEN_SECONDS),
        ),
        (
            Play::FortyFiveSecondsLong,
            "15 jobs of an hour, a tick of 45 s",
            Some(FORTY_FIVE_SECONDS),
        ),
    ] {
        let ran = run::run(play)?;
        // Only a run with work has the figures of every function.
        metrics = metrics.max(ran.metrics);
        figures.extend(watched(&ran, &prices, name, target)?);
    }
    let idle = run::run(Play::Idle)?;
    figures.extend(idle_month(&idle, &prices)?);
    figures.extend(fixed(&idle, &prices, metrics)?);
    figures.push(delivery(&prices)?);
    Ok(figures)
}

/// What a delivery adds to a bare job, by the length of what it puts.
fn delivery(prices: &Prices) -> Result<Figure> {
    let units = added::measure()?.write_units;
    let dollars = units / MILLIONTHS * prices.dollars("million_write_units")?;
    let name = "a delivery adds to a bare job: writes of the table, computed";
    Ok(Figure::new(SECTION, name, dollars * MILLIONTHS, "u$"))
}

fn watched(ran: &Ran, prices: &Prices, name: &str, target: Option<Target>) -> Result<Vec<Figure>> {
    let spent = &ran.spent;
    let cost = Cost::from_usage(spent, prices)?;
    let share = MILLIONTHS / spent.job_hours;
    let figure =
        |what: &str, value, unit| Figure::new(SECTION, format!("{name}: {what}"), value, unit);
    let all = figure("a watched job-hour", cost.total() * share, "u$");
    let mut figures = vec![
        match target {
            Some(target) => all.aimed(target),
            None => all,
        },
        figure("seen after, mean", ran.seen.mean, "s"),
        figure("seen after, p99", ran.seen.p99, "s"),
        figure("watched at a time", spent.job_hours / spent.hours, "jobs"),
        figure(
            "lives in a job-hour",
            f64::from(spent.lives) / spent.job_hours,
            "jobs",
        ),
    ];
    let part =
        |(what, dollars): (&str, f64)| figure(&format!("of this {what}"), dollars * share, "u$");
    figures.extend(cost.parts().map(part));
    for (what, used) in &spent.table {
        let (reads, writes) = prices.of_table(used)?;
        for (verb, dollars) in [("reads", reads), ("writes", writes)] {
            if dollars * share >= SHOWN {
                figures.push(part((&format!("{verb}: {what}"), dollars)));
            }
        }
    }
    let called_off = prices.used(&spent.after)? / f64::from(spent.lives);
    let name = "calling a job off, apart from it, each";
    figures.push(figure(name, called_off * MILLIONTHS, "u$"));
    let logs = ran.log_gb * prices.dollars("log_gb")?;
    figures.push(figure("logs, apart from it", logs * share, "u$"));
    Ok(figures)
}

fn idle_month(ran: &Ran, prices: &Prices) -> Result<Vec<Figure>> {
    let cost = Cost::from_usage(&ran.spent, prices)?;
    let month = MONTH_HOURS / ran.spent.hours;
    let figure =
        |what: &str, value| Figure::new(SECTION, format!("an idle month: {what}"), value, "$");
    let all = figure("requests and compute", cost.total() * month);
    let mut figures = vec![all.aimed(IDLE_MONTH)];
    let part = |(what, dollars): (&str, f64)| figure(&format!("of this {what}"), dollars * month);
    figures.extend(cost.parts().map(part));
    let queues = count("AWS::Lambda::EventSourceMapping");
    let receives = queues * RECEIVERS * RECEIVES_AN_HOUR * MONTH_HOURS;
    let empty = receives / MILLIONTHS * prices.dollars("million_queue_requests")?;
    figures.push(figure("empty receives of the triggers, computed", empty));
    Ok(figures)
}

/// What a month costs whatever happens in it. The table is taken to hold a tenth of a gigabyte.
fn fixed(ran: &Ran, prices: &Prices, metrics: f64) -> Result<Vec<Figure>> {
    const TABLE_GB: f64 = 0.1;
    let month = MONTH_HOURS / ran.spent.hours;
    let of = |name: &str, count: f64| -> Result<f64> { Ok(count * prices.dollars(name)?) };
    let logs = ran.log_gb * month;
    let charges = [
        (
            "alarms",
            of("alarm_month", count("AWS::CloudWatch::Alarm"))?,
        ),
        (
            "dashboard",
            of("dashboard_month", count("AWS::CloudWatch::Dashboard"))?,
        ),
        ("metrics of our own", of("metric_month", metrics)?),
        ("logs taken in", of("log_gb", logs)?),
        ("logs kept for a month", of("log_gb_month", logs)?),
        (
            "recovery of 0.1 GB to any moment",
            of("recovery_gb_month", TABLE_GB)?,
        ),
        ("a table of 0.1 GB", of("table_gb_month", TABLE_GB)?),
    ];
    let figure = |(what, dollars): (&str, f64)| {
        Figure::new(
            SECTION,
            format!("fixed, a month, without any free tier: {what}"),
            dollars,
            "$",
        )
    };
    Ok(charges.map(figure).to_vec())
}

/// How many resources of a kind the triggers' template makes.
fn count(kind: &str) -> f64 {
    let line = format!("Type: {kind}");
    let found = TRIGGERS.lines().filter(|it| it.trim() == line).count();
    u32::try_from(found).map_or(f64::NAN, f64::from)
}
