//! Check data of a commit: check runs, suites and statuses.

use serde_json::json;

use super::ask::{Ask, number};
use super::paging;
use super::reply::{Outcome, Reply};
use crate::clock::plus;
use crate::github::access::Resource;
use crate::github::checks::{Check, NewStatus, Status};
use crate::github::pen::is_shown;
use crate::github::setup::CheckKind;
use crate::github::world::{GitHubRefusal, GitHubWorld, Repo};

pub(super) fn answer(world: &mut GitHubWorld, ask: &Ask, repo: &str, rest: &[&str]) -> Outcome {
    match (ask.method.as_str(), rest) {
        ("GET", ["commits", reference @ .., "check-runs"]) => {
            runs(world, ask, repo, &commit(world, repo, reference)?)
        }
        ("GET", ["commits", reference @ .., "check-suites"]) => {
            suites(world, ask, repo, &commit(world, repo, reference)?)
        }
        ("GET", ["commits", reference @ .., "status"]) => {
            combined(world, ask, repo, &commit(world, repo, reference)?)
        }
        ("GET", ["commits", reference @ .., "statuses"]) => {
            statuses(world, ask, repo, &commit(world, repo, reference)?)
        }
        ("GET", ["commits", reference @ .., "pulls"]) => {
            pulls(world, ask, repo, &commit(world, repo, reference)?)
        }
        ("GET", ["commits", reference @ ..]) => {
            show_commit(world, ask, repo, &commit(world, repo, reference)?)
        }
        ("POST", ["statuses", sha]) => post_status(world, ask, repo, sha),
        ("GET", ["check-runs", id]) => show(world, ask, repo, number(id)?),
        ("GET", ["check-runs", id, "annotations"]) => annotations(world, ask, repo, number(id)?),
        ("POST", ["check-runs", id, "rerequest"]) => rerequest(world, ask, repo, number(id)?),
        ("GET", ["check-suites", id]) => show_suite(world, ask, repo, number(id)?),
        _ => Err(GitHubRefusal::not_found()),
    }
}

/// The SHA of a commit named by SHA or by a branch, whose name may contain slashes.
pub(super) fn commit(
    world: &GitHubWorld,
    repo: &str,
    reference: &[&str],
) -> Result<String, GitHubRefusal> {
    let name = reference.join("/");
    let branch = name.strip_prefix("heads/").unwrap_or(&name);
    let tip = world.repo(repo)?.tip(branch);
    if !tip.is_empty() {
        return Ok(tip.to_owned());
    }
    let missing = || GitHubRefusal::new(422, format!("No commit found for SHA: {name}"));
    world
        .commits
        .get(&name)
        .map(|commit| commit.sha.clone())
        .ok_or_else(missing)
}

fn show_commit(world: &GitHubWorld, ask: &Ask, repo: &str, sha: &str) -> Outcome {
    ask.reads(Resource::Contents)?;
    let found = world
        .commits
        .get(sha)
        .ok_or_else(GitHubRefusal::not_found)?;
    Ok(Reply::json(ask.pen(world).commit(world.repo(repo)?, found)))
}

/// Whether a check run is visible yet, given the lag of reads.
fn visible(world: &GitHubWorld, ask: &Ask, check: &Check) -> bool {
    let since = check.appears_at;
    is_shown(check)
        && check.kind == CheckKind::CheckRun
        && plus(since, world.faults.lags().checks) <= ask.now
}

fn runs(world: &GitHubWorld, ask: &Ask, repo: &str, sha: &str) -> Outcome {
    ask.reads(Resource::Checks)?;
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let latest = ask.param("filter") != Some("all");
    let app = ask.param("app_id").and_then(|id| id.parse::<u64>().ok());
    let wanted = |check: &&Check| {
        check.sha == sha
            && visible(world, ask, check)
            && !(latest && check.superseded)
            && ask
                .param("check_name")
                .is_none_or(|name| name == check.name)
            && app.is_none_or(|id| id == check.app.id)
    };
    let mut items: Vec<_> = found
        .checks
        .iter()
        .filter(wanted)
        .map(|check| pen.check_run(found, check))
        .collect();
    if let Some(status) = ask.param("status") {
        items.retain(|item| item.get("status").is_some_and(|own| own == status));
    }
    // GitHub lists the newest first.
    items.reverse();
    Ok(paging::object(ask, "check_runs", items))
}

fn suites(world: &GitHubWorld, ask: &Ask, repo: &str, sha: &str) -> Outcome {
    ask.reads(Resource::Checks)?;
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let of_commit = found
        .suites
        .iter()
        .filter(|suite| suite.sha == sha && suite.told.is_some());
    let items = of_commit.map(|suite| pen.suite(found, suite)).collect();
    Ok(paging::object(ask, "check_suites", items))
}

fn show_suite(world: &GitHubWorld, ask: &Ask, repo: &str, id: u64) -> Outcome {
    ask.reads(Resource::Checks)?;
    let found = world.repo(repo)?;
    let suite = found
        .suites
        .iter()
        .find(|suite| suite.id == id)
        .ok_or_else(GitHubRefusal::not_found)?;
    Ok(Reply::json(ask.pen(world).suite(found, suite)))
}

fn combined(world: &GitHubWorld, ask: &Ask, repo: &str, sha: &str) -> Outcome {
    ask.reads(Resource::Statuses)?;
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let latest = found.latest_statuses(sha);
    let around = json!({
        "state": pen.combined_state(&latest),
        "sha": sha,
        "repository": pen.repo_minimal(found),
        "commit_url": format!("{}/commits/{sha}", pen.repo_url(found)),
        "url": format!("{}/commits/{sha}/status", pen.repo_url(found)),
    });
    let items = latest
        .into_iter()
        .map(|status| pen.status(found, status))
        .collect();
    Ok(paging::extended(ask, around, "statuses", items))
}

fn statuses(world: &GitHubWorld, ask: &Ask, repo: &str, sha: &str) -> Outcome {
    ask.reads(Resource::Statuses)?;
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let posted: Vec<&Status> = found
        .statuses
        .iter()
        .rev()
        .filter(|status| status.sha == sha)
        .collect();
    Ok(paging::list(
        ask,
        posted.into_iter().map(|status| pen.status(found, status)),
    ))
}

fn post_status(world: &mut GitHubWorld, ask: &Ask, repo: &str, sha: &str) -> Outcome {
    ask.writes(Resource::Statuses)?;
    let state = ask.demand("state")?;
    if !["error", "failure", "pending", "success"].contains(&state) {
        return Err(GitHubRefusal::new(422, "Validation Failed"));
    }
    if !world.commits.contains_key(sha) {
        return Err(GitHubRefusal::new(
            422,
            format!("No commit found for SHA: {sha}"),
        ));
    }
    let context = ask.text("context").unwrap_or("default");
    let new = NewStatus {
        sha,
        context,
        state,
        target_url: ask.text("target_url").map(str::to_owned),
        creator: ask.caller.actor(),
    };
    world.post_status(ask.now, repo, new);
    let found: &Repo = world.repo(repo)?;
    let posted = found.statuses.last().ok_or_else(GitHubRefusal::not_found)?;
    Ok(Reply::status(201, ask.pen(world).status(found, posted)))
}

/// The pull requests a commit belongs to.
fn pulls(world: &GitHubWorld, ask: &Ask, repo: &str, sha: &str) -> Outcome {
    ask.reads(Resource::PullRequests)?;
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let holds = |base: &str, head: &str| {
        world
            .between(base, head)
            .iter()
            .any(|commit| commit.sha == sha)
    };
    let items = found.pulls.values().filter_map(|pull| {
        let issue = found.issues.get(&pull.number)?;
        let merged = pull.merged.as_ref().is_some_and(|merged| merged.sha == sha);
        let within = pull.head_sha == sha || holds(&world.base_sha(found, pull), &pull.head_sha);
        (merged || within).then(|| pen.pull(found, pull, issue))
    });
    Ok(paging::list(ask, items))
}

fn run<'a>(
    world: &'a GitHubWorld,
    ask: &Ask,
    repo: &str,
    id: u64,
) -> Result<(&'a Repo, &'a Check), GitHubRefusal> {
    let check = world.check(repo, id)?;
    if visible(world, ask, check) {
        Ok((world.repo(repo)?, check))
    } else {
        Err(GitHubRefusal::not_found())
    }
}

fn show(world: &GitHubWorld, ask: &Ask, repo: &str, id: u64) -> Outcome {
    ask.reads(Resource::Checks)?;
    let (found, check) = run(world, ask, repo, id)?;
    Ok(Reply::json(ask.pen(world).check_run(found, check)))
}

fn annotations(world: &GitHubWorld, ask: &Ask, repo: &str, id: u64) -> Outcome {
    ask.reads(Resource::Checks)?;
    let (found, check) = run(world, ask, repo, id)?;
    Ok(paging::list(ask, ask.pen(world).annotations(found, check)))
}

fn rerequest(world: &mut GitHubWorld, ask: &Ask, repo: &str, id: u64) -> Outcome {
    ask.writes(Resource::Checks)?;
    run(world, ask, repo, id)?;
    match world.rerun(ask.now, repo, |check| check.id == id) {
        0 => Err(GitHubRefusal::new(
            422,
            "This check run is not rerequestable",
        )),
        _ => Ok(Reply::status(201, json!({}))),
    }
}
