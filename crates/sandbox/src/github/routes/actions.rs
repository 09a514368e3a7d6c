//! GitHub Actions: workflow runs, workflows, jobs and their logs.

use jiff::Timestamp;
use serde_json::json;

use super::ask::{Ask, number};
use super::paging;
use super::reply::{Outcome, Reply};
use crate::clock::plus;
use crate::github::access::Resource;
use crate::github::checks::{Check, Conclusion, Phase, Run, Suite};
use crate::github::dispatches::is_workflow;
use crate::github::pen::{is_shown, log_of};
use crate::github::setup::{ACTIONS_APP_SLUG, CheckKind, Outcome as Ending};
use crate::github::world::{GitHubRefusal, GitHubWorld};

pub(super) fn answer(world: &mut GitHubWorld, ask: &Ask, repo: &str, rest: &[&str]) -> Outcome {
    if ask.is_write() {
        ask.writes(Resource::Actions)?
    } else {
        ask.reads(Resource::Actions)?
    }
    match (ask.method.as_str(), rest) {
        ("GET", ["runs"]) => runs(world, ask, repo, None),
        ("GET", ["runs", id]) => show(world, ask, repo, number(id)?),
        ("GET", ["runs", id, "jobs"]) => jobs(world, ask, repo, number(id)?),
        ("POST", ["runs", id, "rerun"]) => rerun(world, ask, repo, number(id)?, Wanted::All),
        ("POST", ["runs", id, "rerun-failed-jobs"]) => {
            rerun(world, ask, repo, number(id)?, Wanted::Failed)
        }
        ("POST", ["runs", id, "approve"]) => rerun(world, ask, repo, number(id)?, Wanted::Waiting),
        ("GET", ["workflows", workflow, "runs"]) => runs(world, ask, repo, Some(workflow)),
        ("POST", ["workflows", workflow, "dispatches"]) => {
            world.dispatch(ask.now, repo, workflow, ask.demand("ref")?)?;
            Ok(Reply::nothing())
        }
        ("GET", ["workflows"]) => workflows(world, ask, repo),
        ("GET", ["jobs", id]) => job(world, ask, repo, number(id)?),
        ("GET", ["jobs", id, "logs"]) => log(world, repo, number(id)?),
        _ => Err(GitHubRefusal::not_found()),
    }
}

/// Which jobs of a run shall run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    All,
    Failed,
    /// Those that waited for a person's approval.
    Waiting,
}

/// Whether a suite is a run that can be seen yet.
fn shown<'a>(world: &GitHubWorld, ask: &Ask, suite: &'a Suite) -> Option<&'a Run> {
    let due = plus(suite.created_at, world.faults.lags().checks) <= ask.now;
    suite.run.as_ref().filter(|_| suite.told.is_some() && due)
}

fn runs(world: &GitHubWorld, ask: &Ask, repo: &str, workflow: Option<&str>) -> Outcome {
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let known = |file: &str| {
        let mut names = found.ci().checks.iter().map(|check| &check.workflow);
        names.any(|name| is_workflow(found, name, file))
    };
    if workflow.is_some_and(|file| !known(file)) {
        return Err(GitHubRefusal::not_found());
    }
    let wanted = |suite: &&Suite| {
        let run = suite.run.as_ref();
        let of = |file: &str| run.is_some_and(|run| is_workflow(found, &run.workflow, file));
        workflow.is_none_or(of)
            && ask.param("head_sha").is_none_or(|sha| sha == suite.sha)
            && ask
                .param("branch")
                .is_none_or(|branch| branch == suite.branch)
            && ask
                .param("created")
                .is_none_or(|when| is_within(suite.created_at, when))
    };
    let own = found.suites.iter().rev().filter(wanted);
    let mut items: Vec<_> = own
        .filter_map(|suite| Some(pen.workflow_run(found, suite, shown(world, ask, suite)?)))
        .collect();
    if let Some(event) = ask.param("event") {
        items.retain(|item| item.get("event").is_some_and(|own| *own == event));
    }
    // `status` also takes a conclusion.
    if let Some(status) = ask.param("status") {
        items.retain(|item| {
            [item.get("status"), item.get("conclusion")]
                .iter()
                .flatten()
                .any(|own| *own == status)
        });
    }
    Ok(paging::object(ask, "workflow_runs", items))
}

/// Whether a time, in whole seconds, is `>=T`, `<=T` or `T..U`; whatever else is asked for excludes nothing.
fn is_within(at: Timestamp, when: &str) -> bool {
    let seconds = |text: &str| text.parse::<Timestamp>().ok().map(Timestamp::as_second);
    let from = |text: &str| seconds(text).is_none_or(|from| at.as_second() >= from);
    let to = |text: &str| seconds(text).is_none_or(|to| at.as_second() <= to);
    if let Some(text) = when.strip_prefix(">=") {
        from(text)
    } else if let Some(text) = when.strip_prefix("<=") {
        to(text)
    } else {
        when.split_once("..")
            .is_none_or(|(first, last)| from(first) && to(last))
    }
}

fn suite_of<'a>(
    world: &'a GitHubWorld,
    repo: &str,
    run: u64,
) -> Result<(&'a Suite, &'a Run), GitHubRefusal> {
    let mut runs = world
        .repo(repo)?
        .suites
        .iter()
        .filter_map(|suite| Some((suite, suite.run.as_ref()?)));
    runs.find(|(_, own)| own.id == run)
        .ok_or_else(GitHubRefusal::not_found)
}

fn show(world: &GitHubWorld, ask: &Ask, repo: &str, id: u64) -> Outcome {
    let (suite, run) = suite_of(world, repo, id)?;
    shown(world, ask, suite).ok_or_else(GitHubRefusal::not_found)?;
    Ok(Reply::json(ask.pen(world).workflow_run(
        world.repo(repo)?,
        suite,
        run,
    )))
}

fn jobs(world: &GitHubWorld, ask: &Ask, repo: &str, id: u64) -> Outcome {
    let (suite, _) = suite_of(world, repo, id)?;
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let own = |check: &&Check| check.suite == suite.id && is_shown(check) && !check.superseded;
    let items = found
        .checks
        .iter()
        .filter(own)
        .map(|check| pen.job(found, suite, check))
        .collect();
    Ok(paging::object(ask, "jobs", items))
}

fn rerun(world: &mut GitHubWorld, ask: &Ask, repo: &str, id: u64, wanted: Wanted) -> Outcome {
    let suite = suite_of(world, repo, id)?.0.id;
    let again = world.rerun(ask.now, repo, |check| {
        let waits = check.outcome == Ending::ApprovalPending;
        let failed = matches!(check.phase, Phase::Completed(end) if !end.passed() && end != Conclusion::ActionRequired);
        check.suite == suite
            && match wanted {
                Wanted::All => !waits,
                Wanted::Failed => failed,
                Wanted::Waiting => waits,
            }
    });
    match again {
        0 => Err(GitHubRefusal::new(
            403,
            "This workflow run cannot be retried",
        )),
        _ => Ok(Reply::status(201, json!({}))),
    }
}

fn workflows(world: &GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let mut names: Vec<&str> = found
        .ci()
        .checks
        .iter()
        .filter(|check| check.app_slug == ACTIONS_APP_SLUG && check.kind == CheckKind::CheckRun)
        .map(|check| check.workflow.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    let items = names
        .into_iter()
        .map(|name| pen.workflow(found, name))
        .collect();
    Ok(paging::object(ask, "workflows", items))
}

/// A job of GitHub Actions with its suite; check runs of other apps are no jobs.
fn job_of<'a>(
    world: &'a GitHubWorld,
    repo: &str,
    id: u64,
) -> Result<(&'a Suite, &'a Check), GitHubRefusal> {
    let (found, check) = (world.repo(repo)?, world.check(repo, id)?);
    let suite = found
        .suites
        .iter()
        .find(|suite| suite.id == check.suite && suite.run.is_some());
    let suite = suite
        .filter(|_| is_shown(check))
        .ok_or_else(GitHubRefusal::not_found)?;
    Ok((suite, check))
}

fn job(world: &GitHubWorld, ask: &Ask, repo: &str, id: u64) -> Outcome {
    let (suite, check) = job_of(world, repo, id)?;
    Ok(Reply::json(ask.pen(world).job(
        world.repo(repo)?,
        suite,
        check,
    )))
}

/// The log as text; GitHub redirects to it, which clients follow.
fn log(world: &GitHubWorld, repo: &str, id: u64) -> Outcome {
    let (_, check) = job_of(world, repo, id)?;
    Ok(Reply::text(log_of(check)))
}
