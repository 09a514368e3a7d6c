//! `gaffer demo`: a sandbox and a whole Gaffer on real sockets, three jobs at once, and what the sandbox's own logs say of it.

mod agent;
mod chaos;
mod report;
mod stage;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use client::wire::CreateJob;

use crate::args::DemoArgs;
use crate::render;
use stage::Stage;

pub(crate) use chaos::child;
pub(crate) use chaos::moment::Moment;

/// The whole story takes about twenty seconds; a machine that needs more than this has stopped.
const STORY_WITHIN: Duration = Duration::from_secs(90);

/// How often the jobs are looked at for the display.
const LOOK_EVERY: Duration = Duration::from_millis(150);

/// Plays the story and prints what came of it.
pub(crate) async fn run(args: DemoArgs) -> Result<()> {
    if let Some(seed) = args.chaos {
        return chaos::run(seed, &args).await;
    }
    let began = tokio::time::Instant::now();
    let stage = Stage::set(!args.no_webhooks).await?;
    let answering = tokio::spawn(agent::answer(
        stage.sandbox.agents().subscribe(),
        stage.client.clone(),
    ));
    if !args.json {
        render::line(
            "A small Jules and a small GitHub on one socket, Gaffer on another, and an agent that sleeps until it is woken.",
        )?;
        render::line("Three jobs at once:")?;
    }
    let mut jobs = Vec::new();
    for (repo, prompt) in stage::PROMPTS {
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
        jobs.push(
            stage
                .client
                .create_job(&order, None)
                .await
                .context("creating a job")?
                .job_id
                .to_string(),
        );
    }
    let watched = tokio::time::timeout(STORY_WITHIN, watch(&stage, &jobs, args.json)).await;
    let report = report::of(&stage, &jobs, began.elapsed()).await;
    answering.abort();
    stage.clear().await;
    let report = report?;
    if args.json {
        render::json_line(&render::value(&report))?;
    } else {
        report.tell(args.no_webhooks)?;
    }
    match watched {
        Ok(outcome) => outcome?,
        Err(_) => bail!("the story did not end within {} s", STORY_WITHIN.as_secs()),
    }
    report.verdict()
}

/// Shows every change of a job's state until all are merged.
async fn watch(stage: &Stage, jobs: &[String], quiet: bool) -> Result<()> {
    let mut shown: BTreeMap<String, String> = BTreeMap::new();
    let mut interval = tokio::time::interval(LOOK_EVERY);
    loop {
        interval.tick().await;
        let mut merged = 0;
        for (number, id) in jobs.iter().enumerate() {
            let job = stage.client.job(id).await.context("looking at a job")?;
            merged += usize::from(job.state == "merged");
            if shown.get(id) != Some(&job.state) {
                if !quiet {
                    render::line(&format!("  {} {:<11} {}", number + 1, job.state, job.title))?;
                }
                shown.insert(id.clone(), job.state);
            }
        }
        if merged == jobs.len() {
            return Ok(());
        }
    }
}
