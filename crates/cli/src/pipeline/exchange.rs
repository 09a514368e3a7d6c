//! `gaffer exchange`: what is in it, and the runs that change it.

use anyhow::{Context, Result};
use client::wire::StartPipeline;
use domain::pipeline::{EntryPoint, MockTag};

use crate::args::scaffold::{CleanCommand, ExchangeCommand, ExchangeRun};
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
        ExchangeCommand::PublishProposals(run) => begin(run, None, &here()?, as_json).await,
        ExchangeCommand::Clean(CleanCommand::Mock { tag, run }) => {
            begin(run, Some(tag), &here()?, as_json).await
        }
    }
}

/// Begins a run that publishes proposals, or one that removes a trial run.
async fn begin(
    run: ExchangeRun,
    clean: Option<MockTag>,
    here: &CommandContext,
    as_json: bool,
) -> Result<()> {
    let repo = scaffold::repository(&run.on)?;
    let client = site::api_client(run.url, here).await?;
    let publish = clean
        .is_none()
        .then(|| EntryPoint::Proposals.name().to_owned());
    let wanted = StartPipeline {
        from: publish,
        clean,
        ..StartPipeline::whole(repo.clone())
    };
    let begun = client.start_pipeline(&wanted).await;
    let begun = begun.with_context(|| format!("changing the exchange of {repo}"))?;
    let within = run.wait.then_some(run.within);
    super::show_begun(&client, &begun, within, as_json).await
}
