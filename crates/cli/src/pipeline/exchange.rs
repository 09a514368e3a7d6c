//! `gaffer exchange` and `gaffer labels`: what is in the exchange, and the runs that change it or the labels of its requirements.

use anyhow::{Context, Result};
use client::wire::StartPipeline;
use domain::pipeline::{EntryPoint, MockTag};

use crate::args::scaffold::{CleanCommand, ExchangeCommand, ExchangeRun, LabelsCommand};
use crate::context::CommandContext;
use crate::error::Error;
use crate::{render, scaffold, site};

/// Runs one of the commands. Only those that change something need a Gaffer that runs.
pub(crate) async fn run(
    command: ExchangeCommand,
    here: impl FnOnce() -> Result<CommandContext, Error>,
    as_json: bool,
) -> Result<()> {
    match command {
        ExchangeCommand::Inspect { revision } => {
            let answer = scaffold::inspect(revision.as_deref())?;
            render::answer(&answer, as_json).context("writing the answer")
        }
        ExchangeCommand::PublishProposals(run) => {
            let what = (Some(EntryPoint::Proposals), None);
            begin(run, what, &here()?, as_json).await
        }
        ExchangeCommand::Clean(CleanCommand::Mock { tag, run }) => {
            begin(run, (None, Some(tag)), &here()?, as_json).await
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
    begin(run, (Some(EntryPoint::Labels), None), here, as_json).await
}

/// Begins a run of one step, or one that removes a trial run.
async fn begin(
    run: ExchangeRun,
    (from, clean): (Option<EntryPoint>, Option<MockTag>),
    here: &CommandContext,
    as_json: bool,
) -> Result<()> {
    let repo = scaffold::repository(&run.on)?;
    let client = site::api_client(run.url, here).await?;
    let wanted = StartPipeline {
        from: from.map(|from| from.name().to_owned()),
        clean,
        ..StartPipeline::whole(repo.clone())
    };
    let begun = client.start_pipeline(&wanted).await;
    let begun = begun.with_context(|| format!("beginning a run of {repo}"))?;
    let within = run.wait.then_some(run.within);
    super::show_begun(&client, &begun, within, as_json).await
}
