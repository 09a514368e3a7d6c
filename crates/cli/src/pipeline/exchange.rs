//! `gaffer exchange` and `gaffer labels`: what is in the exchange, and the runs that change it or the labels of its requirements.

use anyhow::{Context, Result};
use client::wire::StartPipeline;
use domain::pipeline::EntryPoint;

use crate::args::scaffold::{CleanCommand, ExchangeCommand, ExchangeRun, LabelsCommand};
use crate::context::CommandContext;
use crate::error::{Doing, Error};
use crate::{render, scaffold, site};

/// Runs one of the commands. Only those that change something need a Gaffer that runs.
pub(crate) async fn run(
    command: ExchangeCommand,
    here: impl FnOnce() -> Result<CommandContext, Error>,
    as_json: bool,
) -> Result<()> {
    match command {
        ExchangeCommand::Inspect { revision, stream } => {
            let stream = stream.unwrap_or_default();
            let answer = scaffold::inspect(revision.as_deref(), &stream)?;
            render::answer(&answer, as_json).context("writing the answer")
        }
        ExchangeCommand::PublishProposals(run) => {
            begin(run, from(EntryPoint::Proposals), &here()?, as_json).await
        }
        ExchangeCommand::Clean(CleanCommand::Requirement { path, run }) => {
            let clean = |whole| StartPipeline {
                clean_requirement: Some(path.as_str().to_owned()),
                ..whole
            };
            begin(run, clean, &here()?, as_json).await
        }
        ExchangeCommand::Clean(CleanCommand::Mock { tag, run }) => {
            let clean = |whole| StartPipeline {
                clean: Some(tag),
                ..whole
            };
            begin(run, clean, &here()?, as_json).await
        }
    }
}

/// Runs `gaffer labels`.
pub(crate) async fn labels(
    command: LabelsCommand,
    here: &CommandContext,
    as_json: bool,
) -> Result<()> {
    let LabelsCommand::Sync(run) = command;
    begin(run, from(EntryPoint::Labels), here, as_json).await
}

/// A run that begins with a step.
fn from(entry: EntryPoint) -> impl FnOnce(StartPipeline) -> StartPipeline {
    move |whole| StartPipeline {
        from: Some(entry.name().to_owned()),
        ..whole
    }
}

/// Begins a run of one step, or one that removes something.
async fn begin(
    run: ExchangeRun,
    wanted: impl FnOnce(StartPipeline) -> StartPipeline,
    here: &CommandContext,
    as_json: bool,
) -> Result<()> {
    let repo = scaffold::repository(&run.on)?;
    let client = site::api_client(run.url, here).await?;
    let wanted = wanted(StartPipeline::whole(repo.clone()));
    let begun = client.start_pipeline(&wanted).await;
    let doing = || format!("beginning a run of {repo}");
    let begun = begun.with_context(|| Doing::of(&repo, doing()))?;
    let within = run.wait.then_some(run.within);
    super::show_begun(&client, &begun, within, as_json).await
}
