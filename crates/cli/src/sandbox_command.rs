//! `gaffer sandbox`: serves a small Jules and a small GitHub for trying things.

use std::path::Path;

use anyhow::{Context, Result};
use engine::machine::SystemClock;
use engine::ports::Clock;
use sandbox::github::NewIssue;
use sandbox::{NAMED, Named, Options, Sandbox, Scenario};

use crate::args::demo::SandboxArgs;
use crate::error::Error;
use crate::render::{self, Answer};

/// The label of an issue that is opened at the start.
const ISSUE_LABEL: &str = "gaffer";

/// Serves the sandbox until it is stopped.
pub(crate) async fn run(args: SandboxArgs) -> Result<()> {
    if args.list {
        return render::answer(&listed(), args.json).context("writing the answer");
    }
    let scenario = scenario(&args)?;
    let key = scenario
        .accounts
        .first()
        .map(|account| account.key.clone())
        .unwrap_or_default();
    let repos = scenario.repos.iter();
    let repos: Vec<String> = repos.map(|repo| repo.full_name.clone()).collect();
    let options = Options {
        listen: args.listen,
        ..Options::real_time(scenario)
    };
    let sandbox = Sandbox::start(options)
        .await
        .context("starting the sandbox")?;
    if let Some(title) = &args.issue {
        let issue = NewIssue {
            title: title.clone(),
            body: String::new(),
            author_login: "ann".to_owned(),
            labels: vec![ISSUE_LABEL.to_owned()],
        };
        let now = SystemClock.now();
        let repo = repos.first().map(String::as_str).unwrap_or_default();
        sandbox.github().open_issue(now, repo, issue);
    }
    let answer = served(&sandbox, &key, &repos);
    let stop = crate::up::told_to_stop();
    render::announcement(&answer, args.json).context("writing the answer")?;
    stop.await?;
    sandbox.stop().await;
    Ok(())
}

fn must_be_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let what = format!("`{}` is no folder that is there", folder.display());
    let next = "name the folder whose files the sandbox's repository gets";
    Err(Error::usage(what, next).into())
}

/// What is served, and how it is used.
fn served(sandbox: &Sandbox, key: &str, repos: &[String]) -> Answer {
    let git = |repo: &String| sandbox.github().folder(repo);
    let named = |repo: &String| serde_json::json!({ "repository": repo, "git": git(repo) });
    let word = match repos.len() {
        1 => "repository",
        _ => "repositories",
    };
    let answer = Answer::new(serde_json::json!({
        "jules_base": sandbox.jules_base(),
        "github_base": sandbox.github_base(),
        "agent": sandbox.agent_url("NAME"),
        "control": sandbox.control_base(),
        "jules_api_key": key,
        "github_token": sandbox::github::DEFAULT_TOKEN,
        "repository": repos.first().map(String::as_str).unwrap_or_default(),
        "git": repos.first().and_then(git),
        "repositories": repos.iter().map(named).collect::<Vec<_>>(),
    }))
    .line(format!(
        "A small Jules is at {} (key {key}).",
        sandbox.jules_base()
    ))
    .line(format!(
        "A small GitHub is at {} (token {}, {word} {}).",
        sandbox.github_base(),
        sandbox::github::DEFAULT_TOKEN,
        repos.join(", ")
    ))
    .line(format!(
        "Agents can be woken at {}; control is at {}.",
        sandbox.agent_url("NAME"),
        sandbox.control_base()
    ));
    let gits = repos.iter().filter_map(|repo| Some((repo, git(repo)?)));
    gits.fold(answer, |answer, (repo, git)| {
        answer.line(format!(
            "The git of {repo} is {}: clone it, and push to it.",
            git.display()
        ))
    })
}

/// The scenario that was asked for, over the files of a folder if one was named.
fn scenario(args: &SandboxArgs) -> Result<Scenario> {
    let mut scenario = match &args.scenario {
        Some(path) => chosen(path).context("reading the scenario")?,
        None => Scenario::default(),
    };
    if let Some(folder) = &args.folder {
        must_be_folder(folder)?;
        if let Some(first) = scenario.repos.first_mut() {
            first.folder = Some(folder.clone());
        }
    }
    Ok(scenario)
}

/// A scenario by its name, or from a file, which a name with a dot or a slash always is.
fn chosen(path: &Path) -> Result<Scenario> {
    let name = path.to_string_lossy();
    if let Some(named) = Named::parse(&name) {
        return Ok(named.scenario()?);
    }
    if !name.contains(['.', '/']) && !path.exists() {
        let names = NAMED.map(|named| named.name).join(", ");
        let what = format!("`{name}` is neither the name of a scenario nor a file that is there");
        return Err(Error::usage(what, format!("there are {names}; or give a file")).into());
    }
    Ok(Scenario::load(path)?)
}

/// The scenarios that have names.
fn listed() -> Answer {
    let told = |named: &Named| serde_json::json!({ "name": named.name, "shows": named.shows });
    let json = serde_json::json!({ "scenarios": NAMED.iter().map(told).collect::<Vec<_>>() });
    let row = |named: &Named| vec![named.name.to_owned(), named.shows.to_owned()];
    Answer::new(json).table(&["scenario", "shows"], NAMED.iter().map(row).collect(), "")
}
