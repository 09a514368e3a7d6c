//! Issues, which pull requests are too: their comments and labels.

use serde_json::Value;

use super::ask::{Ask, number};
use super::paging;
use super::reply::{Outcome, Reply};
use crate::github::access::{Access, Resource};
use crate::github::setup::NewIssue;
use crate::github::world::{Comment, GitHubRefusal, GitHubWorld, Issue};

pub(super) fn answer(world: &mut GitHubWorld, ask: &Ask, repo: &str, rest: &[&str]) -> Outcome {
    allowed(ask)?;
    match (ask.method.as_str(), rest) {
        ("GET", []) => list(world, ask, repo),
        ("POST", []) => open(world, ask, repo),
        ("GET", ["comments", id]) => show_comment(world, ask, repo, number(id)?),
        ("PATCH", ["comments", id]) => edit_comment(world, ask, repo, number(id)?),
        ("GET", [n]) => show(world, ask, repo, number(n)?),
        ("PATCH", [n]) => change(world, ask, repo, number(n)?),
        ("GET", [n, "comments"]) => comments(world, ask, repo, number(n)?),
        ("POST", [n, "comments"]) => comment(world, ask, repo, number(n)?),
        ("GET", [n, "labels"]) => labels(world, ask, repo, number(n)?),
        ("POST", [n, "labels"]) => add_labels(world, ask, repo, number(n)?),
        ("DELETE", [n, "labels", name]) => remove_label(world, ask, repo, (number(n)?, name)),
        _ => Err(GitHubRefusal::not_found()),
    }
}

/// Either permission is enough, since pull requests are issues.
fn allowed(ask: &Ask) -> Result<(), GitHubRefusal> {
    let access = if ask.is_write() {
        Access::Write
    } else {
        Access::Read
    };
    ask.need(Resource::Issues, access).or_else(|refusal| {
        ask.need(Resource::PullRequests, access)
            .map_err(|_| refusal)
    })
}

fn list(world: &GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let wanted = |issue: &&Issue| match ask.param("state").unwrap_or("open") {
        "all" => true,
        "closed" => issue.closed_at.is_some(),
        _ => issue.closed_at.is_none(),
    };
    let labelled = |issue: &&Issue| {
        let asked = ask
            .param("labels")
            .into_iter()
            .flat_map(|names| names.split(','));
        asked
            .filter(|name| !name.is_empty())
            .all(|name| issue.labels.iter().any(|own| own == name))
    };
    let issues = found.issues.values().rev().filter(wanted).filter(labelled);
    Ok(paging::list(
        ask,
        issues.map(|issue| pen.issue(found, issue)).collect(),
    ))
}

fn open(world: &mut GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    let issue = NewIssue {
        title: ask.demand("title")?.to_owned(),
        body: ask.text("body").unwrap_or_default().to_owned(),
        author_login: ask.caller.login().to_owned(),
        labels: names(&ask.body),
    };
    let n = world.open_issue(ask.now, repo, issue)?;
    let found = world.repo(repo)?;
    Ok(Reply::status(
        201,
        ask.pen(world).issue(found, world.issue(repo, n)?),
    ))
}

fn show(world: &GitHubWorld, ask: &Ask, repo: &str, n: u64) -> Outcome {
    let (found, issue) = (world.repo(repo)?, world.issue(repo, n)?);
    Ok(Reply::json(ask.pen(world).issue(found, issue)))
}

fn change(world: &mut GitHubWorld, ask: &Ask, repo: &str, n: u64) -> Outcome {
    match ask.text("state") {
        Some("closed") => world.close(ask.now, repo, n)?,
        Some("open") => world.reopen(ask.now, repo, n)?,
        Some(_) => return Err(GitHubRefusal::new(422, "Validation Failed")),
        None => {}
    }
    show(world, ask, repo, n)
}

fn comments(world: &GitHubWorld, ask: &Ask, repo: &str, n: u64) -> Outcome {
    world.issue(repo, n)?;
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let own = found.comments.iter().filter(|comment| comment.number == n);
    Ok(paging::list(
        ask,
        own.map(|comment| pen.comment(found, comment)).collect(),
    ))
}

fn comment(world: &mut GitHubWorld, ask: &Ask, repo: &str, n: u64) -> Outcome {
    let body = ask.demand("body")?;
    if body.trim().is_empty() {
        return Err(GitHubRefusal::new(422, "Validation Failed"));
    }
    let written = world.comment(ask.now, repo, n, (ask.caller.login(), body))?;
    world.counters.count(|it| it.comments += 1);
    let answer = ask.pen(world).comment(world.repo(repo)?, &written);
    Ok(Reply::status(201, answer))
}

fn show_comment(world: &GitHubWorld, ask: &Ask, repo: &str, id: u64) -> Outcome {
    let found = world.repo(repo)?;
    let one = found.comments.iter().find(|comment| comment.id == id);
    Ok(Reply::json(
        ask.pen(world)
            .comment(found, one.ok_or_else(GitHubRefusal::not_found)?),
    ))
}

fn edit_comment(world: &mut GitHubWorld, ask: &Ask, repo: &str, id: u64) -> Outcome {
    let edited: Comment = world.edit_comment(ask.now, repo, id, ask.demand("body")?)?;
    Ok(Reply::json(
        ask.pen(world).comment(world.repo(repo)?, &edited),
    ))
}

fn labels(world: &GitHubWorld, ask: &Ask, repo: &str, n: u64) -> Outcome {
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let own = world.issue(repo, n)?.labels.iter();
    Ok(paging::list(
        ask,
        own.map(|label| pen.label(found, label)).collect(),
    ))
}

fn add_labels(world: &mut GitHubWorld, ask: &Ask, repo: &str, n: u64) -> Outcome {
    let labels = names(&ask.body);
    if labels.is_empty() {
        return Err(GitHubRefusal::new(422, "Invalid request."));
    }
    let added = world.add_labels(ask.now, repo, n, &labels)?;
    world.counters.count(|it| it.labels += added);
    self::labels(world, ask, repo, n)
}

fn remove_label(world: &mut GitHubWorld, ask: &Ask, repo: &str, (n, name): (u64, &str)) -> Outcome {
    world.remove_label(ask.now, repo, n, name)?;
    world.counters.count(|it| it.labels += 1);
    labels(world, ask, repo, n)
}

/// Label names as the API takes them: `{"labels": […]}` or a bare list, of names or of objects with a name.
fn names(body: &Value) -> Vec<String> {
    let list = body.get("labels").unwrap_or(body).as_array();
    let name = |item: &Value| {
        item.as_str()
            .or_else(|| item.get("name")?.as_str())
            .map(str::to_owned)
    };
    list.into_iter().flatten().filter_map(name).collect()
}
