//! `gaffer run LAYER`: a run of one layer.

use anyhow::{Context, Result};
use client::Client;
use client::wire::{PipelineView, StartPipeline};

use crate::args::scaffold::{LayerArgs, RunArgs};
use crate::context::CommandContext;
use crate::error::Doing;
use crate::{scaffold, site};

/// Begins the run, and waits for its end if that is wanted.
pub(crate) async fn run(args: RunArgs, here: &CommandContext, as_json: bool) -> Result<()> {
    let (client, begun) = begin(args.of, here).await?;
    let within = args.wait.then_some(args.within);
    super::show_begun(&client, &begun, within, as_json).await
}

/// Begins the run of a layer.
pub(super) async fn begin(
    args: LayerArgs,
    here: &CommandContext,
) -> Result<(Client, PipelineView)> {
    let repo = scaffold::repository(&args.on)?;
    let client = site::api_client(args.url, here).await?;
    let wanted = StartPipeline {
        layer: Some(args.layer.name().to_owned()),
        role: args.role,
        stream: args.stream,
        requirement: args
            .requirement
            .or(args.requirement_file)
            .map(|path| path.as_str().to_owned()),
        task: args.task,
        mock: args.mock,
        keep_files: args.keep_files,
        ..StartPipeline::whole(repo.clone())
    };
    let begun = client.start_pipeline(&wanted).await;
    let doing = || format!("running the {} of {repo}", args.layer);
    let begun = begun.with_context(|| Doing::of(&repo, doing()))?;
    Ok((client, begun))
}
