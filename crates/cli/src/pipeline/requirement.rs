//! `gaffer requirement`: what the exchange asks for, and having it implemented.

use anyhow::{Context, Result};
use client::wire::StartRequirement;

use super::show;
use crate::args::pipeline::{OneRequirement, RequirementArgs, RequirementCommand};
use crate::context::CommandContext;
use crate::error::Doing;
use crate::render::Answer;
use crate::site;

pub(crate) async fn run(args: RequirementArgs, here: &CommandContext) -> Result<Answer> {
    let client = site::api_client(args.url, here).await?;
    match args.command {
        RequirementCommand::List { repo } => {
            let listed = client.requirements(&repo).await;
            let listed = listed.with_context(|| format!("listing the requirements of {repo}"))?;
            Ok(show::requirements(&listed))
        }
        RequirementCommand::Show(OneRequirement { repo, id }) => {
            let found = client.requirement(&repo, &id).await;
            let doing = || format!("reading requirement {id} of {repo}");
            let found = found.with_context(|| Doing::of(&repo, doing()).of_requirement(&id))?;
            Ok(show::requirement(&found))
        }
        RequirementCommand::Start {
            one: OneRequirement { repo, id },
            keep_files,
        } => {
            let start = StartRequirement { keep_files };
            let begun = client.start_requirement(&repo, &id, &start).await;
            let doing = || format!("starting requirement {id} of {repo}");
            let begun = begun.with_context(|| Doing::of(&repo, doing()).of_requirement(&id))?;
            Ok(show::requirement(&begun))
        }
    }
}
