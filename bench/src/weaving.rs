//! Pull requests woven on a tree of real size, read from the sandbox over real sockets: how long that takes, and in how many calls.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use engine::ports::Secrets;
use engine::weaving::{Ask, Weaver};
use jiff::SignedDuration;
use sandbox::github::{DEFAULT_TOKEN, RepoSetup};
use sandbox::{Scenario, Service};
use serde_json::{Value, json};
use tempfile::TempDir;
use tests::world::{REPO, Setup, World};
use weave::verdict::Verdict;
use weave::weave::Order;

use crate::figure::{Figure, Target};
use crate::machine::one_thread;

const SECTION: &str = "weave";

/// Pull requests that are woven.
const MEMBERS: usize = 25;

/// Of these so many change one file, each in a place of its own but for the last, which conflicts.
const SHARING: usize = 5;

/// Files that each of the others changes.
const OWN_FILES: usize = 3;

/// Files of the tree.
const FILES: usize = 5_000;

/// Lines of each file.
const LINES: usize = 120;

const SHARED: &str = "src/part00/file00000.rs";

/// Seconds that a weave may take; the plan allows five minutes for twenty.
const SECONDS: Target = Target::AtMost(10.0);

pub(crate) fn measure() -> Result<Vec<Figure>> {
    let runtime = one_thread()?;
    runtime.block_on(Box::pin(woven()))
}

async fn woven() -> Result<Vec<Figure>> {
    let mut setup = RepoSetup::new(REPO);
    setup.files = (0..FILES).map(|at| (path(at), text(&[]))).collect();
    let world = World::with(Setup {
        scenario: Scenario {
            repos: vec![setup],
            ..Scenario::default()
        },
        ..Setup::default()
    })
    .await;
    let numbers = opened(&world).await?;
    let settings = github::Settings::new(Some(&world.sandbox.github_base()), None)?;
    let secrets: Arc<dyn Secrets> = world.secrets.clone();
    let client = github::Client::new(&settings, secrets, world.backend.clock.clone())?;
    let reader = github::Reader::new(client);
    let weaver = Weaver {
        pulls: &reader,
        git: &reader,
        with_drafts: false,
    };
    let ask = Ask {
        repo: REPO.parse()?,
        base: "main".parse()?,
        numbers,
        order: Order::Planned,
        known: BTreeMap::new(),
    };
    let before = calls(&world);
    let began = Instant::now();
    let weave = weaver.weave(&ask, world.backend.now()).await?;
    let took = began.elapsed().as_secs_f64();
    let calls = calls(&world) - before;
    let outcomes = weave.woven.outcomes.iter();
    let inside = outcomes.filter(|it| matches!(it.verdict, Verdict::In { .. }));
    let inside = inside.count();
    ensure!(
        inside == MEMBERS - 1,
        "{inside} of {MEMBERS} are in: {:?}",
        weave.skipped
    );
    let figure = |what: &str, value: f64, unit| {
        let name = format!("{MEMBERS} pull requests on {FILES} files: {what}");
        Figure::new(SECTION, name, value, unit)
    };
    Ok(vec![
        figure("read and woven", took, "s").aimed(SECONDS),
        figure("calls to GitHub", calls as f64, "calls"),
        figure("of these for each", calls as f64 / MEMBERS as f64, "calls"),
    ])
}

/// The path of a file: a hundred to a folder.
fn path(at: usize) -> String {
    format!("src/part{:02}/file{at:05}.rs", at / 100)
}

/// A file in which some lines are other ones.
fn text(others: &[usize]) -> String {
    let line = |number: usize| match others.contains(&number) {
        true => format!("    let value{number} = changed({number});\n"),
        false => format!("    let value{number} = compute({number});\n"),
    };
    (1..=LINES).map(line).collect()
}

fn changes(member: usize) -> Vec<(String, String)> {
    let alone = MEMBERS - SHARING;
    if member < alone {
        let first = 100 + member * OWN_FILES;
        let files = first..first + OWN_FILES;
        return files.map(|at| (path(at), text(&[member + 1]))).collect();
    }
    let place = (member - alone) * 20 + 5;
    let last = MEMBERS - 1;
    let text = match member == last {
        // The line that the one before it changes to something else.
        true => text(&[]).replace("compute(65)", "other(65)"),
        false => text(&[place]),
    };
    vec![(SHARED.to_owned(), text)]
}

/// Pushes a branch for each member, and opens its pull request.
async fn opened(world: &World) -> Result<Vec<u64>> {
    let folder = world.sandbox.github().folder(REPO);
    let folder = folder.context("the repository is no real one")?;
    let clone = tempfile::tempdir().context("making a folder")?;
    let bare = folder.to_string_lossy();
    git(clone.path(), &["clone", "--quiet", &bare, "."])?;
    for member in 0..MEMBERS {
        pushed(&clone, member)?;
    }
    world.sandbox.advance();
    let mut numbers = Vec::new();
    for member in 0..MEMBERS {
        world.clock.advance(SignedDuration::from_secs(2));
        world.sandbox.advance();
        numbers.push(open(world, &branch(member)).await?);
    }
    Ok(numbers)
}

fn branch(member: usize) -> String {
    format!("member-{member}")
}

fn pushed(clone: &TempDir, member: usize) -> Result<()> {
    git(
        clone.path(),
        &["checkout", "--quiet", "--detach", "origin/main"],
    )?;
    for (path, text) in changes(member) {
        fs::write(clone.path().join(path), text).context("writing a file")?;
    }
    git(
        clone.path(),
        &["commit", "--quiet", "--all", "--message", "Change"],
    )?;
    let branch = format!("HEAD:refs/heads/{}", branch(member));
    git(clone.path(), &["push", "--quiet", "origin", &branch])
}

fn git(folder: &Path, arguments: &[&str]) -> Result<()> {
    let names = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"];
    let output = std::process::Command::new("git")
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .args(names)
        .args(arguments)
        .output()
        .context("running git")?;
    ensure!(output.status.success(), "git {arguments:?}: {output:?}");
    Ok(())
}

/// Opens a pull request as a person does. The sandbox answers in this process, so nothing may block meanwhile.
async fn open(world: &World, branch: &str) -> Result<u64> {
    let url = format!("{}/repos/{REPO}/pulls", world.sandbox.github_base());
    let new = json!({ "head": branch, "base": "main", "title": branch, "body": "" });
    let token = format!("Authorization: Bearer {DEFAULT_TOKEN}");
    let output = tokio::process::Command::new("curl")
        .args([
            "-sS",
            "-X",
            "POST",
            "-H",
            &token,
            "-d",
            &new.to_string(),
            &url,
        ])
        .output()
        .await
        .context("running curl")?;
    let answer: Value = serde_json::from_slice(&output.stdout).context("reading an answer")?;
    answer["number"]
        .as_u64()
        .with_context(|| format!("opening a pull request: {answer}"))
}

fn calls(world: &World) -> usize {
    let all = world.sandbox.requests().into_iter();
    all.filter(|it| it.service == Service::GitHub).count()
}
