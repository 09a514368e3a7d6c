//! Deployments and their statuses.

use serde_json::json;

use super::ask::{Ask, number};
use super::paging;
use super::reply::{Outcome, Reply};
use crate::github::access::Resource;
use crate::github::records::{Deployment, DeploymentState};
use crate::github::world::{GitHubRefusal, GitHubWorld};

pub(super) fn answer(world: &mut GitHubWorld, ask: &Ask, repo: &str, rest: &[&str]) -> Outcome {
    if ask.is_write() {
        ask.writes(Resource::Deployments)?;
    } else {
        ask.reads(Resource::Deployments)?;
    }
    match (ask.method.as_str(), rest) {
        ("GET", []) => list(world, ask, repo),
        ("POST", []) => deploy(world, ask, repo),
        ("GET", [id]) => {
            let found = world.deployment(repo, number(id)?)?;
            let shown = ask.pen(world).deployment(world.repo(repo)?, found);
            Ok(Reply::json(shown))
        }
        ("GET", [id, "statuses"]) => statuses(world, ask, repo, number(id)?),
        ("POST", [id, "statuses"]) => set(world, ask, repo, number(id)?),
        _ => Err(GitHubRefusal::not_found()),
    }
}

/// The newest first, of a commit, a branch or an environment where one is named.
fn list(world: &GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let wanted = |deployment: &&Deployment| {
        let is = |name: &str, value: &str| ask.param(name).is_none_or(|asked| asked == value);
        is("sha", &deployment.sha)
            && is("ref", &deployment.reference)
            && is("environment", &deployment.environment)
    };
    let shown = found.deployments.iter().rev().filter(wanted);
    let shown = shown.map(|deployment| pen.deployment(found, deployment));
    Ok(paging::list(ask, shown))
}

fn deploy(world: &mut GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    let what = (
        ask.demand("ref")?,
        ask.text("environment").unwrap_or("production"),
    );
    let made = world.deploy(ask.now, repo, what, ask.caller.actor())?;
    let shown = ask.pen(world).deployment(world.repo(repo)?, &made);
    Ok(Reply::status(201, shown))
}

fn statuses(world: &GitHubWorld, ask: &Ask, repo: &str, id: u64) -> Outcome {
    let (found, deployment) = (world.repo(repo)?, world.deployment(repo, id)?);
    let pen = ask.pen(world);
    let shown = deployment.statuses.iter().rev();
    let shown = shown.map(|status| pen.deployment_status(found, deployment, status));
    Ok(paging::list(ask, shown))
}

fn set(world: &mut GitHubWorld, ask: &Ask, repo: &str, id: u64) -> Outcome {
    let state: DeploymentState = serde_json::from_value(json!(ask.demand("state")?))
        .map_err(|_| GitHubRefusal::new(422, "Validation Failed"))?;
    let status = world.set_deployment(ask.now, repo, (id, state), ask.caller.actor())?;
    let (found, deployment) = (world.repo(repo)?, world.deployment(repo, id)?);
    let shown = ask.pen(world).deployment_status(found, deployment, &status);
    Ok(Reply::status(201, shown))
}
