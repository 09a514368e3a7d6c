//! `gaffer pipeline`, `gaffer requirement` and `gaffer run`: runs of a pipeline, through the API of a running `gaffer up`.

mod exchange;
mod one_layer;
mod report;
mod requirement;
mod schedule;
mod show;
mod wait;

use anyhow::{Context, Result};
use client::Client;
use client::wire::{PipelineSettings, PipelineView, StartPipeline};
use domain::ids::{PipelineId, RepoName};
use domain::policy::Source;
use engine::backend::Backend;
use jiff::SignedDuration;

use crate::args::pipeline::{
    OneRun, PipelineArgs, PipelineCommand, PipelineOnArgs, PipelineStartArgs, RunName,
};
use crate::context::CommandContext;
use crate::error::{Doing, Error};
use crate::render::{self, Answer};
use crate::site::{self, StoreAccess};
use crate::source;

pub(crate) use exchange::{labels, run as exchange};
pub(crate) use one_layer::run as one_layer;
pub(crate) use report::run as reported;
pub(crate) use requirement::run as requirement;

/// What is done about the name `latest`.
const LOOKING: &str = "looking for the latest run";

pub(crate) async fn run(args: PipelineArgs, here: &CommandContext, as_json: bool) -> Result<()> {
    let answer = match args.command {
        PipelineCommand::On(args) => {
            let context = format!("switching the pipeline of {} on", args.repo);
            on(args, here).await.context(context)
        }
        PipelineCommand::Off { repo } => off(&repo, here)
            .await
            .with_context(|| format!("switching the pipeline of {repo} off")),
        PipelineCommand::Start(start) => {
            let client = site::api_client(args.url, here).await?;
            return begin(&client, start, as_json).await;
        }
        PipelineCommand::List { repo, limit } => {
            let client = site::api_client(args.url, here).await?;
            let listed = client.pipelines(&repo, limit).await;
            let listed = listed.with_context(|| format!("listing the runs of {repo}"))?;
            Ok(show::list(&repo, &listed))
        }
        PipelineCommand::Show(OneRun { id }) => {
            let client = site::api_client(args.url, here).await?;
            let id = named(&client, id).await?;
            let found = client.pipeline(&id).await;
            let found = found.with_context(|| format!("reading pipeline {id}"))?;
            Ok(show::run(&found))
        }
        PipelineCommand::Why(OneRun { id }) => {
            let client = site::api_client(args.url, here).await?;
            let id = named(&client, id).await?;
            let why = client.pipeline_why(&id).await;
            let why = why.with_context(|| format!("asking about pipeline {id}"))?;
            Ok(show::why(&why))
        }
        PipelineCommand::Cancel(OneRun { id }) => {
            let client = site::api_client(args.url, here).await?;
            let id = named(&client, id).await?;
            let off = client.cancel_pipeline(&id).await;
            let off = off.with_context(|| format!("calling off pipeline {id}"))?;
            Ok(show::run(&off))
        }
    };
    render::answer(&answer?, as_json).context("writing the answer")
}

/// The run that is meant: its id, or the newest of all sources.
async fn named(client: &Client, name: RunName) -> Result<PipelineId> {
    let latest = match name {
        RunName::Id(id) => return Ok(id),
        RunName::Latest => latest(client).await,
    };
    let latest = latest.context(LOOKING)?;
    must_have_run(latest.map(|run| run.id))
}

/// The same by the store alone.
pub(crate) async fn named_in_store(backend: &Backend, name: RunName) -> Result<PipelineId> {
    let latest = match name {
        RunName::Id(id) => return Ok(id),
        RunName::Latest => backend.newest_pipeline().await,
    };
    let latest = latest.context(LOOKING)?;
    must_have_run(latest.map(|run| run.id))
}

fn must_have_run(latest: Option<PipelineId>) -> Result<PipelineId> {
    latest.ok_or_else(|| {
        let next = "begin one with `gaffer pipeline start OWNER/REPO`";
        Error::refused("no_such", "no pipeline has run yet", next).into()
    })
}

async fn latest(client: &Client) -> Result<Option<PipelineView>, client::Error> {
    let mut newest: Option<PipelineView> = None;
    for feed in client.status().await?.feeds {
        let runs = client.pipelines(&feed.repo, Some(1)).await?.pipelines;
        let found = newest.into_iter().chain(runs);
        newest = found.max_by_key(|run| run.created_at);
    }
    Ok(newest)
}

async fn begin(client: &Client, start: PipelineStartArgs, as_json: bool) -> Result<()> {
    let wanted = StartPipeline {
        from: start.from.map(|from| from.name().to_owned()),
        ..StartPipeline::whole(start.repo.clone())
    };
    let begun = match client.start_pipeline(&wanted).await {
        Ok(begun) => Ok(begun),
        Err(error) => Err(site::with_nearest_source(client, &start.repo, error).await),
    };
    let doing = || format!("starting the pipeline of {}", start.repo);
    let begun = begun.with_context(|| Doing::of(&start.repo, doing()))?;
    let within = start.wait.then_some(start.within);
    show_begun(client, &begun, within, as_json).await
}

/// Shows a run that was just begun, or waits for its end.
async fn show_begun(
    client: &Client,
    begun: &PipelineView,
    within: Option<SignedDuration>,
    as_json: bool,
) -> Result<()> {
    let Some(within) = within else {
        let answer = show::run(begun).piped(begun.id.to_string());
        return render::answer(&answer, as_json).context("writing the answer");
    };
    if !as_json {
        render::line(&format!("Pipeline {}", begun.id)).context("writing the answer")?;
    }
    let waited = wait::until_over(client, &begun.id, within, as_json).await;
    waited.with_context(|| format!("waiting for pipeline {}", begun.id))
}

/// Switches it on where the other settings of a source are.
async fn on(args: PipelineOnArgs, here: &CommandContext) -> Result<Answer> {
    let settings = PipelineSettings {
        exchange: args.exchange,
        implement: args.implement,
        worker: args.worker,
    };
    let change = |source: &Source| Source {
        pipeline: Some(settings.clone().over(source.pipeline.as_ref())),
        ..source.clone()
    };
    changed(&args.repo, here, change).await
}

async fn off(repo: &RepoName, here: &CommandContext) -> Result<Answer> {
    let change = |source: &Source| Source {
        pipeline: None,
        ..source.clone()
    };
    changed(repo, here, change).await
}

async fn changed(
    repo: &RepoName,
    here: &CommandContext,
    change: impl Fn(&Source) -> Source,
) -> Result<Answer> {
    let backend = StoreAccess::found(here).await?.backend;
    let source = source::change_source(&backend, repo, |source| Ok(change(source))).await?;
    Ok(show::settings(&source))
}
