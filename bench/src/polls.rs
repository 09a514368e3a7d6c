//! Polls that find nothing new: the decision about one unchanged job, and a whole poll of sixty.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result};
use domain::ids::JobId;
use domain::job::{self, Job, JobPhase, NewJob, Observation, Snapshot};
use domain::policy::{Policy, Terms, Timing};
use domain::session::{SessionState, SessionView};
use jiff::{SignedDuration, Timestamp};
use tokio::runtime;

use crate::detect::{Town, Weather, calm};
use crate::figure::{Figure, Target};
use crate::spread::{Spread, micros, time_each};

const SECTION: &str = "polls";

/// Decisions timed together: one alone is shorter than reading the clock is exact.
const TOGETHER: u32 = 100;

/// How often that is done.
const TIMES: usize = 2_000;

/// Microseconds that one decision may take.
const TARGET: Target = Target::AtMost(2.0);

/// Sessions of the whole poll.
const SESSIONS: u32 = 60;

/// Polls that are timed.
const POLLS: usize = 1_000;

/// When the decisions are made.
const NOW: Timestamp = Timestamp::constant(1_772_355_600, 0);

/// Measures both.
pub(crate) fn measure() -> Result<Vec<Figure>> {
    let mut figures = decisions()?;
    figures.extend(whole_polls()?);
    Ok(figures)
}

fn decisions() -> Result<Vec<Figure>> {
    let (job, view) = watched()?;
    let sight = Observation::Seen(Box::new(Snapshot {
        view,
        activities: None,
    }));
    let (policy, timing) = (Policy::default(), Timing::default());
    let now = NOW + SignedDuration::from_mins(10);
    let all = time_each(TIMES, || {
        for _ in 0..TOGETHER {
            black_box(job::observe(
                black_box(&job),
                black_box(&sight),
                now,
                &policy,
                &timing,
            ));
        }
    });
    let one = |together: f64| together / f64::from(TOGETHER);
    let spread = Spread {
        mean: one(all.mean),
        p50: one(all.p50),
        p99: one(all.p99),
    };
    Ok(spread.figures(SECTION, "observe an unchanged job", "us", Some(TARGET)))
}

/// A job whose session works.
fn watched() -> Result<(Job, SessionView)> {
    let view = SessionView {
        id: "14550388554331055113".parse()?,
        title: "Add a search box".to_owned(),
        state: SessionState::InProgress,
        url: Some("https://jules.google.com/session/14550388554331055113".to_owned()),
        created_at: Some(NOW),
        updated_at: Some(NOW),
        repo: Some("acme/shop".parse()?),
        branch: Some("main".parse()?),
        pulls: Vec::new(),
        archived: false,
    };
    let new = NewJob {
        id: JobId::from_ulid(ulid::Ulid(7)),
        installation: "bench".parse()?,
        account: "default".parse()?,
        repo: "acme/shop".parse()?,
        branch: "main".parse()?,
        title: None,
        prompt: "Add a search box to the page of all products and test it".to_owned(),
        agent: None,
        resume: None,
        priority: domain::priority::Priority::default(),
        terms: Terms::default(),
        part: None,
        delivery: None,
    };
    let job = job::adopt(new, &view, NOW)?.aggregate;
    anyhow::ensure!(
        matches!(job.phase, JobPhase::Watching(_)),
        "the job is not watched"
    );
    Ok((job, view))
}

/// The real poller over records in memory. Polls that read logs are left out: something was to be found there.
fn whole_polls() -> Result<Vec<Figure>> {
    let runtime = runtime::Builder::new_current_thread()
        .build()
        .context("starting a runtime")?;
    let samples = runtime.block_on(async {
        let weather = Weather {
            bytes_per_session: 2_048,
        };
        let mut town = Town::new(&calm(SESSIONS), &weather).await?;
        town.play_until(SignedDuration::from_mins(20)).await?;
        let mut samples = Vec::with_capacity(POLLS);
        while samples.len() < POLLS {
            town.clock.advance(SignedDuration::from_secs(10));
            let logs = town.calls().quiet_logs;
            let began = Instant::now();
            let tick = town.poller.tick().await?;
            let took = micros(began.elapsed()) / f64::from(SESSIONS);
            if tick.polled == 1 && tick.passed_on == 0 && town.calls().quiet_logs == logs {
                samples.push(took);
            }
        }
        Ok::<_, anyhow::Error>(samples)
    })?;
    let name = "whole poll of 60 unchanged jobs, for each session";
    Ok(Spread::from_samples(samples).figures(SECTION, name, "us", None))
}
