//! The one GraphQL mutation that REST lacks, whose a token is, a branch with what is based on it, objects by expression, and
//! a polite refusal of everything else.

use serde_json::{Value, json};

use super::ask::Ask;
use super::objects;
use super::reply::{Outcome, Reply, queried};
use crate::github::access::Resource;
use crate::github::records::User;
use crate::github::world::{GitHubWorld, node_id};

pub(super) fn answer(world: &mut GitHubWorld, ask: &Ask) -> Outcome {
    let query = ask.demand("query")?;
    if query.contains("viewer") {
        let viewer = User::named(ask.caller.viewer());
        let shown = json!({ "login": viewer.login, "databaseId": viewer.id });
        return Ok(Reply::json(json!({ "data": { "viewer": shown } })));
    }
    if query.starts_with("query") && query.contains("object(expression:") {
        return objects::answer(world, ask, query);
    }
    if query.starts_with("query") && query.contains("baseRefName") {
        return branch(world, ask);
    }
    if !query.contains("markPullRequestReadyForReview") {
        let message = "The sandbox answers only viewer, a branch with what is based on it, objects by expression, and the mutation markPullRequestReadyForReview.";
        return Ok(Reply::failed("UNSUPPORTED", message));
    }
    let Some((repo, number)) = target(world, ask, query) else {
        return Ok(Reply::failed(
            "NOT_FOUND",
            "Could not resolve to a node with the global id given.",
        ));
    };
    if ask.caller.sees(world, &repo).is_err() || ask.writes(Resource::PullRequests).is_err() {
        return Ok(Reply::failed(
            "FORBIDDEN",
            "Resource not accessible by integration",
        ));
    }
    mark_ready(world, ask, &repo, number)
}

/// The tip of a branch and how many open pull requests are based on it, both named in the variables.
fn branch(world: &GitHubWorld, ask: &Ask) -> Outcome {
    let repo = match queried(world, ask, &[Resource::Contents, Resource::PullRequests]) {
        Ok(repo) => repo,
        Err(refusal) => return Ok(refusal),
    };
    let found = world.repo(&repo)?;
    let tip = ask
        .variable("ref")
        .strip_prefix("refs/heads/")
        .and_then(|name| found.branches.get(name));
    let based = |number: &u64| {
        let base = found.pulls.get(number).map(|pull| pull.base_ref.as_str());
        base == Some(ask.variable("branch"))
    };
    let open = found.issues.iter();
    let open = open.filter(|(_, issue)| issue.closed_at.is_none());
    let shown = json!({
        "databaseId": found.id,
        "ref": tip.map(|sha| json!({ "target": { "oid": sha } })),
        "pullRequests": { "totalCount": open.filter(|(number, _)| based(number)).count() },
    });
    Ok(Reply::json(json!({ "data": { "repository": shown } })))
}

fn mark_ready(world: &mut GitHubWorld, ask: &Ask, repo: &str, number: u64) -> Outcome {
    let was_draft = world.pull(repo, number)?.draft;
    world.mark_ready(ask.now, repo, number)?;
    if was_draft {
        world.counters.count(|it| it.ready_for_review += 1);
    }
    let pull = world.pull(repo, number)?;
    let shown = json!({ "id": node_id("PR", pull.id), "number": number, "isDraft": pull.draft });
    let payload = json!({ "clientMutationId": null, "pullRequest": shown });
    Ok(Reply::json(
        json!({ "data": { "markPullRequestReadyForReview": payload } }),
    ))
}

/// The pull request whose node id is in the variables or in the query itself.
fn target(world: &GitHubWorld, ask: &Ask, query: &str) -> Option<(String, u64)> {
    let variables = ask
        .body
        .get("variables")
        .map(Value::to_string)
        .unwrap_or_default();
    world.repos.iter().find_map(|(name, repo)| {
        let named = repo.pulls.values().find(|pull| {
            let id = format!("\"{}\"", node_id("PR", pull.id));
            variables.contains(&id) || query.contains(&id)
        });
        named.map(|pull| (name.clone(), pull.number))
    })
}
