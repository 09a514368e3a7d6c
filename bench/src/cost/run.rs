//! One play, in a process of its own: what the functions write to their log is counted, and is no part of the report.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::detect::{CloudTown, Life, MEDIAN_MINUTES, Spent, lives};
use crate::machine::one_thread;
use crate::output;
use crate::spread::Spread;

/// Jobs of one play: two to six hours, which the emulator takes minutes for.
const JOBS: u32 = 120;

/// Jobs of a life of an hour come so slowly that fewer make as long a play.
const LONG_JOBS: u32 = 60;

/// Minutes within which half of the sessions want something whose mean is an hour: the deviation is that of all lives.
const LONG_MEDIAN_MINUTES: f64 = 43.6;

/// How long nothing happens in the play that is taken for a month.
const IDLE: SignedDuration = SignedDuration::from_hours(24);

/// Prefix of the line with the result of a play.
const MARK: &str = "what-came-of-it ";

/// Bytes of what Lambda itself writes about an invocation, and what CloudWatch adds to each line.
const BYTES_OF_AN_INVOCATION: usize = 400;
const BYTES_OF_A_LINE: usize = 26;

/// Bytes of a gigabyte.
const GB: f64 = 1024.0 * 1024.0 * 1024.0;

/// What is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Play {
    /// Jobs at the pace that is shipped.
    TenSeconds,
    /// Jobs at a slow pace.
    FortyFiveSeconds,
    /// Jobs that are watched for an hour each, as the bars were reckoned: a job-hour has one life.
    TenSecondsLong,
    /// The same at a slow pace.
    FortyFiveSecondsLong,
    /// None.
    Idle,
}

/// Arrival rate and tick interval of jobs.
struct Rhythm {
    jobs: u32,
    an_hour: u32,
    /// Of them are watched at a time, in the mean.
    at_once: usize,
    median_minutes: f64,
    tick: SignedDuration,
}

impl Rhythm {
    /// That of a play; `None` where nothing comes. Usual sessions work for some 21 minutes in the mean.
    fn from_play(play: Play) -> Option<Self> {
        let (median_minutes, jobs) = match play {
            Play::TenSeconds | Play::FortyFiveSeconds => (MEDIAN_MINUTES, JOBS),
            Play::TenSecondsLong | Play::FortyFiveSecondsLong => (LONG_MEDIAN_MINUTES, LONG_JOBS),
            Play::Idle => return None,
        };
        let (an_hour, at_once, secs) = match play {
            Play::TenSeconds => (55, 20, 10),
            Play::FortyFiveSeconds => (38, 15, 45),
            Play::TenSecondsLong => (18, 20, 10),
            Play::FortyFiveSecondsLong => (14, 15, 45),
            Play::Idle => return None,
        };
        Some(Self {
            jobs,
            an_hour,
            at_once,
            median_minutes,
            tick: SignedDuration::from_secs(secs),
        })
    }

    /// As many as are watched in the mean are there from the beginning: they would have come before.
    fn lives(&self) -> Vec<Life> {
        let mut lives = lives(self.jobs, self.an_hour, self.median_minutes);
        let first = lives
            .get(self.at_once)
            .map_or(SignedDuration::ZERO, |life| life.comes);
        for life in &mut lives {
            life.comes = (life.comes - first).max(SignedDuration::ZERO);
        }
        lives
    }
}

/// What came of it.
pub(super) struct Ran {
    pub(super) seen: Spread,
    pub(super) spent: Spent,
    pub(super) log_gb: f64,
    /// Metrics that CloudWatch makes of the log.
    pub(super) metrics: f64,
}

#[derive(Serialize, Deserialize)]
struct Told {
    seen: Spread,
    spent: Spent,
}

/// Plays in this process, and prints the result in the last line.
pub(crate) fn alone(play: Play) -> Result<()> {
    let runtime = one_thread()?;
    let told = runtime.block_on(Box::pin(played(play)))?;
    let told = serde_json::to_string(&told).context("telling what came of it")?;
    output::line(&format!("{MARK}{told}"));
    Ok(())
}

async fn played(play: Play) -> Result<Told> {
    let Some(rhythm) = Rhythm::from_play(play) else {
        let town = CloudTown::new(&[], SignedDuration::from_secs(10)).await?;
        let spent = town.play_for(IDLE).await?;
        let seen = Spread::from_samples(Vec::new());
        return Ok(Told { seen, spent });
    };
    let town = CloudTown::new(&rhythm.lives(), rhythm.tick).await?;
    let (delays, spent) = town.play().await?;
    let seen = Spread::from_samples(delays);
    Ok(Told { seen, spent })
}

/// Has a process of its own play, and reads its log.
pub(super) fn run(play: Play) -> Result<Ran> {
    ensure!(
        std::env::var_os("AWS_ENDPOINT_URL").is_some(),
        "this section plays on LocalStack: run `cargo xtask bench`, which starts it, or `cargo xtask localstack` and what that says"
    );
    let name = play.to_possible_value().context("a play")?;
    let this = std::env::current_exe().context("finding this program")?;
    let output = Command::new(this)
        .args(["--cost-play", name.get_name()])
        .stderr(Stdio::inherit())
        .output()
        .context("starting a play")?;
    ensure!(
        output.status.success(),
        "a play ended with {}",
        output.status
    );
    let log = String::from_utf8_lossy(&output.stdout);
    let told = log.lines().find_map(|line| line.strip_prefix(MARK));
    let told: Told = serde_json::from_str(told.context("a play told nothing")?)?;
    let lines = log.lines().filter(|line| !line.starts_with(MARK));
    let written: usize = lines.map(|line| line.len() + BYTES_OF_A_LINE).sum();
    let invocations = usize::try_from(told.spent.used.invocations).unwrap_or(usize::MAX);
    let bytes = written + invocations * BYTES_OF_AN_INVOCATION;
    Ok(Ran {
        seen: told.seen,
        spent: told.spent,
        log_gb: bytes as f64 / GB,
        metrics: u32::try_from(metrics(&log).len()).map_or(f64::NAN, f64::from),
    })
}

/// The names of all metrics, each with the function that it is of.
fn metrics(log: &str) -> BTreeSet<(String, String)> {
    let lines = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let named = lines.flat_map(|line| {
        let function = line["Function"].as_str().unwrap_or_default().to_owned();
        let all = line["_aws"]["CloudWatchMetrics"][0]["Metrics"]
            .as_array()
            .cloned();
        let names = all.into_iter().flatten();
        names.filter_map(move |metric| {
            let name = metric["Name"].as_str()?.to_owned();
            Some((function.clone(), name))
        })
    });
    named.collect()
}
