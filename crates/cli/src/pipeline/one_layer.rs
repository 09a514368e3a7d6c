//! `gaffer run LAYER`: a run of one layer.

use anyhow::{Context, Result};
use client::wire::StartPipeline;

use super::{show, wait};
use crate::args::scaffold::RunArgs;
use crate::context::CommandContext;
use crate::render::{self, Answer};
use crate::{scaffold, site};

/// Begins the run, and waits for its end if that is wanted.
pub(crate) async fn run(args: RunArgs, here: &CommandContext, as_json: bool) -> Result<()> {
    let repo = scaffold::repository(&args)?;
    let client = site::api_client(args.url, here).await?;
    let wanted = StartPipeline {
        layer: Some(args.layer.name().to_owned()),
        role: args.role,
        requirement: args
            .requirement
            .or(args.requirement_file)
            .map(|path| path.as_str().to_owned()),
        task: args.task,
        ..StartPipeline::whole(repo.clone())
    };
    let begun = client.start_pipeline(&wanted).await;
    let begun = begun.with_context(|| format!("running the {} of {repo}", args.layer))?;
    if !args.wait {
        let answer: Answer = show::run(&begun).piped(begun.id.to_string());
        return render::answer(&answer, as_json).context("writing the answer");
    }
    if !as_json {
        render::line(&format!("Pipeline {}", begun.id)).context("writing the answer")?;
    }
    let waited = wait::until_over(&client, &begun.id, args.within, as_json).await;
    waited.with_context(|| format!("waiting for pipeline {}", begun.id))
}
