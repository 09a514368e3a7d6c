//! The demo of a pipeline: agents look at a repository, write down what they see, and make a requirement of it, which is
//! implemented and tidied away. They hand work on by files, and each file comes in by a pull request.

mod report;
mod repository;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use client::wire::{PipelineView, RequirementView, StartPipeline, StepView};
use domain::ids::{PipelineId, RepoName};

pub use report::PipelineReport;

use crate::stage::{Address, SHOP, Stage};

/// The whole story takes less than a minute; a machine that needs more than this has stopped.
const STORY_WITHIN: Duration = Duration::from_secs(180);

/// Refresh interval of the display.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Plays the story, and leaves the repository in the folder `keep`, which is empty or not there. `show` gets a line for
/// each thing to show on the way; `stay` is awaited before all of it is thrown away, with the address and the token of
/// the API.
pub async fn play_pipeline<S>(
    webhooks: bool,
    keep: Option<&Path>,
    mut show: impl FnMut(&str) -> Result<()>,
    stay: impl FnOnce(Address) -> S,
) -> Result<PipelineReport>
where
    S: Future<Output = Result<()>>,
{
    let began = tokio::time::Instant::now();
    let stage = Stage::set(webhooks, &repository::play()).await?;
    show(
        "A repository with `.jlo/`, and agents that know nothing but their prompt and their branch.",
    )?;
    let repo: RepoName = SHOP.parse().context("reading the demo's repository")?;
    let whole = StartPipeline::whole(repo);
    let begun = stage.client.start_pipeline(&whole).await;
    let run = begun.context("starting the pipeline")?.id;
    let watched = tokio::time::timeout(STORY_WITHIN, watch(&stage, &run, show)).await;
    let has_ended = watched.is_ok();
    watched.unwrap_or(Ok(()))?;
    let report = report::collect(&stage, &run, began.elapsed(), has_ended).await?;
    if let Some(folder) = keep {
        let kept = stage.sandbox.github().keep(SHOP, folder);
        kept.with_context(|| format!("leaving the repository in {}", folder.display()))?;
    }
    stay(stage.address()).await?;
    stage.clear().await;
    Ok(report)
}

/// Shows every change until the run is over, and all that came of it.
async fn watch(
    stage: &Stage,
    run: &PipelineId,
    mut show: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let mut shown: BTreeMap<String, String> = BTreeMap::new();
    let mut interval = tokio::time::interval(LOOK_EVERY);
    loop {
        interval.tick().await;
        let run = stage.client.pipeline(run).await;
        let run = run.context("looking at the run")?;
        let found = stage.client.requirements(&run.repo).await;
        let found = found.context("listing the requirements")?.requirements;
        let steps = run.steps.iter().filter(|step| step.state != "pending");
        let steps = steps.map(|step| (step.step.clone(), step_line(step)));
        let requirements = found
            .iter()
            .map(|it| (it.id.to_string(), requirement_line(it)));
        for (name, line) in steps.chain(requirements) {
            if shown.get(&name) != Some(&line) {
                show(&line)?;
                shown.insert(name, line);
            }
        }
        if is_over(stage, &run, &found) {
            return Ok(());
        }
    }
}

/// Whether nothing more happens: branches of pull requests are deleted after everything else.
fn is_over(stage: &Stage, run: &PipelineView, found: &[RequirementView]) -> bool {
    let is_through = |it: &RequirementView| ["tidied", "failed"].contains(&it.state.as_str());
    run.is_over && found.iter().all(is_through) && repository::is_clear(stage)
}

fn step_line(step: &StepView) -> String {
    let agents = match step.members.len() {
        0 => String::new(),
        1 => "1 agent".to_owned(),
        more => format!("{more} agents"),
    };
    let told = step.reason.as_ref().unwrap_or(&agents);
    let line = format!("  {:<12} {:<13} {told}", step.step, step.state);
    line.trim_end().to_owned()
}

fn requirement_line(it: &RequirementView) -> String {
    format!("  {:<12} {:<13} {}", "requirement", it.state, it.title)
}
