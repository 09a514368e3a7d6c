//! `gaffer sprint`: sprints of a repository, through the API of a running `gaffer up`.

mod show;
mod state;

use anyhow::{Context, Result};
use client::Client;
use client::wire::{SprintSettings, StartSprint};
use domain::policy::Source;

use crate::args::sprint::{
    AtOnce, OneSprint, SprintArgs, SprintCommand, SprintSetArgs, SprintStartArgs,
};
use crate::context::CommandContext;
use crate::error::Doing;
use crate::render::Answer;
use crate::site::{self, StoreAccess};
use crate::source;

pub(crate) async fn run(args: SprintArgs, here: &CommandContext) -> Result<Answer> {
    if let SprintCommand::Set(set) = args.command {
        let context = format!("setting how the sprints of {} go", set.repo);
        return self::set(set, here).await.context(context);
    }
    let client = site::api_client(args.url, here).await?;
    match args.command {
        // It was done above, where no API is needed.
        SprintCommand::Set(set) => self::set(set, here).await,
        SprintCommand::Start(start) => begin(&client, start).await,
        SprintCommand::Status(one) => {
            let found = client.sprint(&one.repo, one.number).await;
            let found = found.with_context(|| doing("reading", &one))?;
            Ok(show::sprint(&found))
        }
        SprintCommand::List { repo, limit } => {
            let listed = client.sprints(&repo, limit).await;
            let listed = listed.with_context(|| format!("listing the sprints of {repo}"))?;
            Ok(show::list(&repo, &listed))
        }
        SprintCommand::Why(one) => {
            let why = client.sprint_why(&one.repo, one.number).await;
            let why = why.with_context(|| doing("asking about", &one))?;
            Ok(show::why(&one.repo, &why))
        }
        SprintCommand::Tick(one) => {
            let found = client.tick_sprint(&one.repo, one.number).await;
            let found = found.with_context(|| doing("looking at", &one))?;
            Ok(show::sprint(&found))
        }
        SprintCommand::Integrate { one, now } => {
            let woven = client.integrate_sprint(&one.repo, one.number, now).await;
            let woven = woven.with_context(|| doing("integrating", &one))?;
            Ok(show::sprint(&woven))
        }
        SprintCommand::Abort(one) => {
            let off = client.abort_sprint(&one.repo, one.number).await;
            let off = off.with_context(|| doing("aborting", &one))?;
            Ok(show::sprint(&off))
        }
        SprintCommand::State(one) => {
            let written = state::write(&client, &one).await;
            written.with_context(|| doing("writing the state of", &one))
        }
    }
}

/// Sets it where the other settings of a source are.
async fn set(args: SprintSetArgs, here: &CommandContext) -> Result<Answer> {
    let settings = SprintSettings {
        parallel: args.parallel,
        at_once: args.at_once.map(|AtOnce(count)| count),
        member_timeout: args.member_timeout,
        next: args.next,
        integration: args.integration,
    };
    let backend = StoreAccess::found(here).await?.backend;
    let change = |source: &Source| {
        Ok(Source {
            sprints: settings.clone().over(&source.sprints),
            ..source.clone()
        })
    };
    let source = source::change_source(&backend, &args.repo, change).await?;
    Ok(show::settings(&source))
}

async fn begin(client: &Client, start: SprintStartArgs) -> Result<Answer> {
    let repo = start.repo;
    let wanted = StartSprint {
        number: start.number,
        personas: start.personas,
        dry_run: start.dry_run,
    };
    if wanted.dry_run {
        let plan = client.plan_sprint(&repo, wanted).await;
        let plan = plan.with_context(|| format!("planning a sprint of {repo}"))?;
        return Ok(show::plan(&plan));
    }
    let begun = client.start_sprint(&repo, wanted).await;
    let begun = begun.with_context(|| format!("starting a sprint of {repo}"))?;
    let why = client.sprint_why(&repo, Some(begun.number)).await;
    let why = why.with_context(|| {
        let number = begun.number;
        format!("sprint {number} of {repo} was started; asking what it waits for")
    })?;
    Ok(show::launched(&begun, &why))
}

fn doing(what: &str, one: &OneSprint) -> Doing {
    let repo = &one.repo;
    let what = match one.number {
        Some(number) => format!("{what} sprint {number} of {repo}"),
        None => format!("{what} the newest sprint of {repo}"),
    };
    Doing::of(repo, what)
}
