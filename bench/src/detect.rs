//! Detection time of decisions and its cost, by simulation: the real poller and dispatcher on virtual time, around a
//! Jules in memory.

mod absent;
mod charged;
mod cloud;
mod jules;
mod kind;
mod life;
mod town;
mod witness;

use anyhow::{Context, Result};

use crate::figure::{Figure, Target};
use crate::spread::Spread;
pub(crate) use cloud::{CloudTown, Spent};
use jules::Calls;
pub(crate) use life::{Life, MEDIAN_MINUTES, lives};
pub(crate) use town::{Town, Weather, calm};

const SECTION: &str = "detection";

/// Jobs in an hour.
const RATES: [u32; 3] = [60, 15, 3];

/// Bytes of one session in a list: without a patch, and with one.
const LIGHT_BYTES: u64 = 2 * 1024;
const HEAVY_BYTES: u64 = 64 * 1024;

/// Seconds between polls of one session by those who poll each for itself.
const FIXED: [u32; 2] = [45, 5];

/// Targets at 60 jobs an hour with light lists: seconds in the mean, seconds at the 99th percentile, calls a job.
const MEAN: Target = Target::AtMost(5.0);
const P99: Target = Target::AtMost(10.0);
const CALLS: Target = Target::AtMost(6.5);

/// What one simulation showed.
struct Seen {
    delays: Spread,
    calls: Calls,
    jobs: f64,
}

/// Simulates all rates, light lists and heavy ones on two threads.
pub(crate) fn measure(jobs: u32) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let (light, heavy) = std::thread::scope(|scope| {
        let light = scope.spawn(|| simulate_all(jobs, "light", LIGHT_BYTES));
        let heavy = scope.spawn(|| simulate_all(jobs, "heavy", HEAVY_BYTES));
        (light.join(), heavy.join())
    });
    for part in [light, heavy] {
        figures.extend(part.ok().context("a simulation stopped")??);
    }
    for seconds in FIXED {
        figures.extend(fixed(&lives(jobs, RATES[0], MEDIAN_MINUTES), seconds));
    }
    Ok(figures)
}

fn simulate_all(jobs: u32, weight: &str, bytes: u64) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for rate in RATES {
        let lives = lives(jobs, rate, MEDIAN_MINUTES);
        let weather = Weather {
            bytes_per_session: bytes,
        };
        let seen = simulate(&lives, &weather)
            .with_context(|| format!("simulating {rate} jobs an hour with {weight} lists"))?;
        let aimed = rate == RATES[0] && bytes == LIGHT_BYTES;
        figures.extend(shown(
            &seen,
            &format!("{rate} jobs/h, {weight} lists"),
            aimed,
        ));
    }
    Ok(figures)
}

fn simulate(lives: &[Life], weather: &Weather) -> Result<Seen> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .context("starting a runtime")?;
    let (delays, calls) = runtime.block_on(async {
        let mut town = Town::new(lives, weather).await?;
        let delays = town.play().await?;
        Ok::<_, anyhow::Error>((delays, town.calls()))
    })?;
    Ok(Seen {
        jobs: u32::try_from(delays.len()).map_or(1.0, f64::from),
        delays: Spread::from_samples(delays),
        calls,
    })
}

fn shown(seen: &Seen, name: &str, aimed: bool) -> Vec<Figure> {
    let figure = |what: &str, value, unit, target: Target| {
        let figure = Figure::new(SECTION, format!("{name}: {what}"), value, unit);
        if aimed { figure.aimed(target) } else { figure }
    };
    let a_job = |calls: u64| u32::try_from(calls).map_or(f64::NAN, f64::from) / seen.jobs;
    let calls = &seen.calls;
    let plain = |what: &str, calls: u64| {
        Figure::new(
            SECTION,
            format!("{name}: {what}"),
            a_job(calls),
            "calls/job",
        )
    };
    vec![
        figure("mean", seen.delays.mean, "s", MEAN),
        figure("p99", seen.delays.p99, "s", P99),
        figure(
            "lists and gets that look for a change",
            a_job(calls.lists + calls.gets),
            "calls/job",
            CALLS,
        ),
        plain("of these lists", calls.lists),
        plain("of these gets", calls.gets),
        plain(
            "logs read while nothing had happened, for silence and late words",
            calls.quiet_logs,
        ),
        plain("logs read after it had, for its words", calls.word_logs),
        plain("proofs of the key while nothing was watched", calls.idle),
    ]
}

/// What polling each session for itself would have seen of the same jobs.
fn fixed(lives: &[Life], seconds: u32) -> Vec<Figure> {
    let every = f64::from(seconds);
    let polls = |life: &Life| (life.decides_after.as_secs_f64() / every).ceil().max(1.0);
    let delays = Spread::from_samples(
        lives
            .iter()
            .map(|life| polls(life) * every - life.decides_after.as_secs_f64())
            .collect(),
    );
    let calls = Spread::from_samples(lives.iter().map(polls).collect());
    let figure = |what: &str, value, unit| {
        Figure::new(
            SECTION,
            format!("each session every {seconds} s: {what}"),
            value,
            unit,
        )
    };
    vec![
        figure("mean", delays.mean, "s"),
        figure("p99", delays.p99, "s"),
        figure("gets", calls.mean, "calls/job"),
    ]
}
