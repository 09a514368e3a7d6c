//! The demo: a sandbox and a whole Gaffer on real sockets, three jobs at once, and what the sandbox's own logs say of it.

mod agent;
mod deliveries;
mod jobs;
mod pipeline;
mod report;
mod sprint;
mod stage;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use client::wire::CreateJob;

pub use deliveries::{DeliveriesReport, play_deliveries};
pub use pipeline::{PipelineReport, play_pipeline};
pub use report::Report;
pub use sprint::{SprintReport, play_sprint};
pub use stage::Address;
use stage::Stage;

/// The whole story takes about twenty seconds; a machine that needs more than this has stopped.
const STORY_WITHIN: Duration = Duration::from_secs(90);

/// Refresh interval of the display.
const LOOK_EVERY: Duration = Duration::from_millis(150);

/// Plays the story, with GitHub's webhooks or without. `show` gets a line for each thing to show on the way.
pub async fn play(webhooks: bool, mut show: impl FnMut(&str) -> Result<()>) -> Result<Report> {
    let began = tokio::time::Instant::now();
    let stage = Stage::set(webhooks, &jobs::play()).await?;
    let answering = tokio::spawn(agent::answer(
        stage.sandbox.agents().subscribe(),
        stage.client.clone(),
    ));
    show(
        "A small Jules and a small GitHub on one socket, Gaffer on another, and an agent that sleeps until it is woken.",
    )?;
    show("Three jobs at once:")?;
    let jobs = hand_over(&stage).await?;
    let watched = tokio::time::timeout(STORY_WITHIN, watch(&stage, &jobs, show)).await;
    let has_ended = watched.is_ok();
    watched.unwrap_or(Ok(()))?;
    let report = report::collect(&stage, &jobs, began.elapsed(), has_ended).await;
    answering.abort();
    stage.clear().await;
    report
}

async fn hand_over(stage: &Stage) -> Result<Vec<String>> {
    let mut jobs = Vec::new();
    for (repo, prompt) in jobs::PROMPTS {
        let order = CreateJob {
            repo: repo.parse().context("reading the demo's repository")?,
            branch: None,
            prompt: prompt.to_owned(),
            title: None,
            agent: None,
            resume: None,
            priority: None,
            constraints: None,
        };
        let created = stage.client.create_job(&order, None).await;
        jobs.push(created.context("creating a job")?.job_id.to_string());
    }
    Ok(jobs)
}

/// Shows every change of a job's state until all are merged.
async fn watch(
    stage: &Stage,
    jobs: &[String],
    mut show: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let mut shown: BTreeMap<String, String> = BTreeMap::new();
    let mut interval = tokio::time::interval(LOOK_EVERY);
    loop {
        interval.tick().await;
        let mut merged = 0;
        for (number, id) in jobs.iter().enumerate() {
            let job = stage.client.job(id).await.context("looking at a job")?;
            merged += usize::from(job.state == "merged");
            if shown.get(id) != Some(&job.state) {
                show(&format!("  {} {:<11} {}", number + 1, job.state, job.title))?;
                shown.insert(id.clone(), job.state);
            }
        }
        if merged == jobs.len() {
            return Ok(());
        }
    }
}
