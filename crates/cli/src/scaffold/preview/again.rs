//! The prompt of a job, put together again from the commits that its record names.

use std::sync::Arc;

use ::scaffold::layout::{CONTROL, SYSTEM};
use ::scaffold::prompt::{self, Ask, Prompt, Records, Trees, ids_wanted};
use ::scaffold::tree::Tree;
use anyhow::{Context, Result};
use client::wire::PromptSource;
use domain::ids::{ArtefactId, CommitSha};
use domain::layer::Layer;

use super::{range, refusal};
use crate::args::scaffold::LayerArgs;
use crate::context::CommandContext;
use crate::error::Error;
use crate::git::Git;
use crate::scaffold::CONFIG;
use crate::scaffold::place::settings;
use crate::site;

/// The prompt with its ids, as far as files decide: what Gaffer's records told the session besides is not known here.
pub(super) async fn assembled(
    git: &Git,
    name: &str,
    args: LayerArgs,
    here: &CommandContext,
) -> Result<(Prompt, Vec<ArtefactId>)> {
    let client = site::api_client(args.url, here).await?;
    let job = client.job(name).await;
    let job = job.with_context(|| format!("reading job {name}"))?;
    let Some(source) = &job.prompt_source else {
        let what = format!("job {} has no prompt of a layer", job.job_id);
        let next = "`gaffer pipeline show ID` names the jobs of a run";
        return Err(Error::unfit("no_prompt", what, next).into());
    };
    must_be_of(source, args.layer)?;
    let run = match &source.pipeline_id {
        Some(id) => {
            let run = client.pipeline(id).await;
            Some(run.with_context(|| format!("reading pipeline {id}"))?)
        }
        None => None,
    };
    let trees = Trees {
        target: Arc::new(tree(git, &source.target, CONTROL)?),
        worker: Arc::new(tree(git, &source.worker, SYSTEM)?),
    };
    let place = format!("{CONFIG} at {}", source.target);
    let settings = settings(&place, trees.target.text(CONFIG).unwrap_or_default())?;
    let range_description = match args.layer {
        Layer::Narrator => {
            let summed_up = run.as_ref().and_then(|run| run.summed_up.as_ref());
            range(git, &source.target, summed_up, &trees.worker)?
        }
        Layer::Observers
        | Layer::Decider
        | Layer::Planner
        | Layer::Implementer
        | Layer::Innovators => String::new(),
    };
    let ids = ArtefactId::of_job(&job.job_id, ids_wanted(args.layer));
    let requirement = source.requirement.as_deref();
    let ask = Ask {
        layer: args.layer,
        role: source.role.clone(),
        stream: source.stream.clone(),
        task: run.and_then(|run| run.task),
        requirement: requirement.and_then(|path| path.parse().ok()),
        repository: job.repo.clone(),
        target_branch: settings.target_branch,
        worker_branch: settings.worker_branch,
        range_description,
        ids: ids.clone(),
        records: Records {
            // Whether it had to be planned first was asked when it was started.
            as_it_is: true,
            ..Records::default()
        },
    };
    let prompt = prompt::assemble(&trees, &ask).map_err(|error| refusal(&error))?;
    Ok((prompt, ids))
}

/// Refuses another layer than that of the job.
fn must_be_of(source: &PromptSource, layer: Layer) -> Result<()> {
    if source.layer == layer.name() {
        return Ok(());
    }
    let what = format!("the job is one of the layer {}", source.layer);
    Err(Error::usage(what, "name that layer").into())
}

/// A folder at a commit that has to be here.
fn tree(git: &Git, commit: &CommitSha, folder: &str) -> Result<Tree> {
    if git.commit(commit.as_str())?.is_none() {
        let what = format!("the prompt is made of files at {commit}, and that commit is not here");
        let next = "fetch the branches of the repository with `git fetch`, and try again";
        return Err(Error::unfit("no_commit", what, next).into());
    }
    git.tree(commit, &[folder])
}
