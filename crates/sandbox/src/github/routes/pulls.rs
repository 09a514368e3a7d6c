//! Pull requests: reading, changing, reviewing, merging, bringing up to date.

use serde_json::{Value, json};

use super::ask::{Ask, number};
use super::paging;
use super::reply::{Outcome, Reply};
use crate::github::access::Resource;
use crate::github::merge::{Actor, MergeOrder};
use crate::github::new_pull::NewPull;
use crate::github::records::{Issue, Pull};
use crate::github::setup::MergeMethod;
use crate::github::world::{GitHubRefusal, GitHubWorld, Repo};

pub(super) fn answer(world: &mut GitHubWorld, ask: &Ask, repo: &str, rest: &[&str]) -> Outcome {
    match (ask.method.as_str(), rest) {
        ("GET", []) => list(world, ask, repo),
        ("POST", []) => open(world, ask, repo),
        ("GET", [n]) => show(world, ask, repo, number(n)?),
        ("PATCH", [n]) => change(world, ask, repo, number(n)?),
        ("GET", [n, "files"]) => files(world, ask, repo, number(n)?),
        ("GET", [n, "commits"]) => commits(world, ask, repo, number(n)?),
        ("GET", [n, "reviews"]) => reviews(world, ask, repo, number(n)?),
        ("POST", [n, "reviews"]) => review(world, ask, repo, number(n)?),
        ("GET", [n, "merge"]) => is_merged(world, ask, repo, number(n)?),
        ("PUT", [n, "merge"]) => merge(world, ask, repo, number(n)?),
        ("PUT", [n, "update-branch"]) => update_branch(world, ask, repo, number(n)?),
        _ => Err(GitHubRefusal::not_found()),
    }
}

fn list(world: &GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    ask.reads(Resource::PullRequests)?;
    let found = world.repo(repo)?;
    let pen = ask.pen(world);
    let mut pulls: Vec<(&Pull, &Issue)> = found
        .pulls
        .values()
        .filter_map(|pull| Some((pull, found.issues.get(&pull.number)?)))
        .filter(|(pull, issue)| is_wanted(ask, found, pull, issue))
        .collect();
    if ask.param("sort") == Some("updated") {
        pulls.sort_by_key(|(_, issue)| issue.updated_at);
    }
    if ask.param("direction") != Some("asc") {
        pulls.reverse();
    }
    let items = pulls.into_iter();
    let items = items.map(|(pull, issue)| pen.pull(found, pull, issue));
    Ok(paging::list(ask, items))
}

/// The filters of a list: `state` (open by default), `head` as `owner:branch`, `base`.
fn is_wanted(ask: &Ask, repo: &Repo, pull: &Pull, issue: &Issue) -> bool {
    let open = issue.closed_at.is_none();
    let state = match ask.param("state").unwrap_or("open") {
        "all" => true,
        "closed" => !open,
        _ => open,
    };
    let owner = pull.head_repo.split('/').next().unwrap_or(repo.owner());
    let head = ask
        .param("head")
        .is_none_or(|head| match head.split_once(':') {
            Some((who, branch)) => who.eq_ignore_ascii_case(owner) && branch == pull.head_ref,
            // GitHub ignores a head without an owner.
            None => true,
        });
    state && head && ask.param("base").is_none_or(|base| base == pull.base_ref)
}

fn show(world: &GitHubWorld, ask: &Ask, repo: &str, n: u64) -> Outcome {
    ask.reads(Resource::PullRequests)?;
    let (found, pull, issue) = (
        world.repo(repo)?,
        world.pull(repo, n)?,
        world.issue(repo, n)?,
    );
    Ok(Reply::json(ask.pen(world).whole_pull(found, pull, issue)))
}

/// Opens a pull request from a branch of the repository itself.
fn open(world: &mut GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    ask.writes(Resource::PullRequests)?;
    let head = ask.demand("head")?;
    let own = world.repo(repo)?.owner().to_owned();
    let branch = match head.split_once(':') {
        Some((owner, branch)) if owner.eq_ignore_ascii_case(&own) => branch,
        Some(_) => return Err(GitHubRefusal::new(422, "Validation Failed")),
        None => head,
    };
    let new = NewPull {
        title: ask.demand("title")?.to_owned(),
        body: ask.text("body").unwrap_or_default().to_owned(),
        head_branch: branch.to_owned(),
        base_branch: ask.demand("base")?.to_owned(),
        draft: ask.body.get("draft") == Some(&Value::Bool(true)),
        author_login: ask.caller.login().to_owned(),
        by_actions_token: ask.caller.is_actions(),
        ..NewPull::default()
    };
    let n = world.offer_pull(ask.now, repo, &new)?;
    let (found, pull) = (world.repo(repo)?, world.pull(repo, n)?);
    let whole = ask
        .pen(world)
        .whole_pull(found, pull, world.issue(repo, n)?);
    Ok(Reply::status(201, whole))
}

fn change(world: &mut GitHubWorld, ask: &Ask, repo: &str, n: u64) -> Outcome {
    ask.writes(Resource::PullRequests)?;
    world.pull(repo, n)?;
    if let Some(base) = ask.text("base") {
        world.retarget(ask.now, repo, n, base)?;
    }
    let issue = world.issue_mut(repo, n)?;
    if let Some(title) = ask.text("title") {
        issue.title = title.to_owned();
        issue.updated_at = ask.now;
    }
    if let Some(body) = ask.text("body") {
        issue.body = body.to_owned();
        issue.updated_at = ask.now;
    }
    match ask.text("state") {
        Some("closed") => {
            world.counters.count(|it| it.closes += 1);
            world.close(ask.now, repo, n, &ask.caller.actor())?;
        }
        Some("open") => world.reopen(ask.now, repo, n)?,
        Some(_) => return Err(GitHubRefusal::new(422, "Validation Failed")),
        None => {}
    }
    show(world, ask, repo, n)
}

fn files(world: &GitHubWorld, ask: &Ask, repo: &str, n: u64) -> Outcome {
    ask.reads(Resource::PullRequests)?;
    let (found, pull, pen) = (world.repo(repo)?, world.pull(repo, n)?, ask.pen(world));
    let files = pen.files(found, pull);
    Ok(paging::list(
        ask,
        files.iter().map(|file| pen.file(found, pull, file)),
    ))
}

fn commits(world: &GitHubWorld, ask: &Ask, repo: &str, n: u64) -> Outcome {
    ask.reads(Resource::PullRequests)?;
    let (found, pull, pen) = (world.repo(repo)?, world.pull(repo, n)?, ask.pen(world));
    let commits = world.between(&world.base_sha(found, pull), &pull.head_sha);
    Ok(paging::list(
        ask,
        commits.into_iter().map(|commit| pen.commit(found, commit)),
    ))
}

fn reviews(world: &GitHubWorld, ask: &Ask, repo: &str, n: u64) -> Outcome {
    ask.reads(Resource::PullRequests)?;
    world.pull(repo, n)?;
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let of_pull = found.reviews.iter().filter(|review| review.number == n);
    Ok(paging::list(
        ask,
        of_pull.map(|review| pen.review(found, review)),
    ))
}

fn review(world: &mut GitHubWorld, ask: &Ask, repo: &str, n: u64) -> Outcome {
    ask.writes(Resource::PullRequests)?;
    let state = match ask.text("event") {
        Some("APPROVE") => "APPROVED",
        Some("REQUEST_CHANGES") => "CHANGES_REQUESTED",
        Some("COMMENT") => "COMMENTED",
        Some(_) | None => return Err(GitHubRefusal::new(422, "Unprocessable Entity")),
    };
    let body = ask.text("body").unwrap_or_default();
    if state == "APPROVED" && world.issue(repo, n)?.author == ask.caller.actor() {
        return Err(GitHubRefusal::new(
            422,
            "Review Can not approve your own pull request",
        ));
    }
    let review = world.review(ask.now, repo, n, (ask.caller.login(), state, body))?;
    Ok(Reply::json(
        ask.pen(world).review(world.repo(repo)?, &review),
    ))
}

/// `GET …/merge`: 204 when merged, 404 when not.
fn is_merged(world: &GitHubWorld, ask: &Ask, repo: &str, n: u64) -> Outcome {
    ask.reads(Resource::Contents)?;
    match &world.pull(repo, n)?.merged {
        Some(_) => Ok(Reply::nothing()),
        None => Err(GitHubRefusal::not_found()),
    }
}

fn merge(world: &mut GitHubWorld, ask: &Ask, repo: &str, n: u64) -> Outcome {
    world.counters.count(|it| it.merge_calls += 1);
    ask.writes(Resource::Contents)?;
    let method = match ask.text("merge_method") {
        Some(word) => {
            MergeMethod::parse(word).ok_or_else(|| GitHubRefusal::new(422, "Invalid request."))?
        }
        None => MergeMethod::Merge,
    };
    let order = MergeOrder {
        sha: ask.text("sha").map(str::to_owned),
        method,
        title: ask.text("commit_title").map(str::to_owned),
        by: actor(ask),
    };
    let sha = world.merge(ask.now, repo, n, &order)?;
    let message = "Pull Request successfully merged";
    Ok(Reply::json(
        json!({ "sha": sha, "merged": true, "message": message }),
    ))
}

fn actor(ask: &Ask) -> Actor {
    Actor {
        user: ask.caller.actor(),
        starts_ci: !ask.caller.is_actions(),
    }
}

fn update_branch(world: &mut GitHubWorld, ask: &Ask, repo: &str, n: u64) -> Outcome {
    ask.writes(Resource::PullRequests)?;
    let pull = world.pull(repo, n)?;
    if pull.head_repo != repo.to_ascii_lowercase() {
        return Err(GitHubRefusal::new(
            403,
            "Resource not accessible by integration",
        ));
    }
    let expected = ask.text("expected_head_sha");
    world.update_branch(ask.now, repo, n, (expected, actor(ask)))?;
    world.counters.count(|it| it.branch_updates += 1);
    let url = format!("{}/repos/{repo}/pulls/{n}", ask.api);
    Ok(Reply::status(
        202,
        json!({ "message": "Updating pull request branch.", "url": Value::String(url) }),
    ))
}
