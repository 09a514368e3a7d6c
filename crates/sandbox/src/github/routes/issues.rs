//! Issues, which pull requests are too: their comments and labels.

use jiff::Timestamp;
use serde_json::Value;

use super::ask::{Ask, number};
use super::paging;
use super::reply::{Outcome, Reply};
use crate::github::access::Resource;
use crate::github::issues::TextEdit;
use crate::github::records::{Comment, Gone, Issue};
use crate::github::setup::NewIssue;
use crate::github::world::{GitHubRefusal, GitHubWorld};

pub(super) fn answer(world: &mut GitHubWorld, ask: &Ask, repo: &str, rest: &[&str]) -> Outcome {
    allowed(world, ask, repo, rest)?;
    if let Some(moved) = moved(world, ask, repo, rest) {
        return Ok(moved);
    }
    match (ask.method.as_str(), rest) {
        ("GET", []) => list(world, ask, repo),
        ("POST", []) => open(world, ask, repo),
        ("GET", ["comments", id]) => show_comment(world, ask, repo, number(id)?),
        ("PATCH", ["comments", id]) => edit_comment(world, ask, repo, number(id)?),
        ("DELETE", ["comments", id]) => delete_comment(world, ask, repo, number(id)?),
        ("GET", [n]) => show(world, ask, repo, number(n)?),
        ("PATCH", [n]) => change(world, ask, repo, number(n)?),
        ("GET", [n, "comments"]) => comments(world, ask, repo, number(n)?),
        ("POST", [n, "comments"]) => comment(world, ask, repo, number(n)?),
        ("GET", [n, "labels"]) => labels(world, ask, repo, number(n)?),
        ("POST", [n, "labels"]) => add_labels(world, ask, repo, number(n)?),
        ("DELETE", [n, "labels", name]) => remove_label(world, ask, repo, number(n)?, name),
        _ => Err(GitHubRefusal::not_found()),
    }
}

/// What is a pull request may be reached with either permission, everything else as an issue only.
fn allowed(world: &GitHubWorld, ask: &Ask, repo: &str, rest: &[&str]) -> Result<(), GitHubRefusal> {
    let access = ask.access();
    let found = world.repo(repo)?;
    let number = match rest {
        ["comments", id] => {
            let id = number(id)?;
            let comment = found.comments.iter().find(|comment| comment.id == id);
            comment.map(|comment| comment.number)
        }
        [n, ..] => number(n).ok(),
        [] => None,
    };
    let is_pull = number.is_some_and(|number| found.pulls.contains_key(&number));
    ask.need(Resource::Issues, access).or_else(|refusal| {
        if !is_pull {
            return Err(refusal);
        }
        ask.need(Resource::PullRequests, access)
            .map_err(|_| refusal)
    })
}

/// An issue that was transferred leads on to where it is, for those who may see that repository.
fn moved(world: &GitHubWorld, ask: &Ask, repo: &str, rest: &[&str]) -> Option<Reply> {
    let [n, below @ ..] = rest else { return None };
    let gone = world.repo(repo).ok()?.gone.get(&n.parse().ok()?)?;
    let Gone::Transferred { repo, number } = gone else {
        return None;
    };
    let there = world.repo_by_id(*repo).ok()?;
    ask.caller.sees(world, there.full_name()).ok()?;
    let below: String = below.iter().map(|part| format!("/{part}")).collect();
    Some(Reply::moved(
        ask,
        *repo,
        &format!("/issues/{number}{below}"),
    ))
}

fn list(world: &GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let since = match ask.param("since") {
        Some(text) => Some(
            text.parse::<Timestamp>()
                .map_err(|_| GitHubRefusal::new(422, "Validation Failed"))?,
        ),
        None => None,
    };
    let mut issues: Vec<&Issue> = found
        .issues
        .values()
        .filter(|issue| is_wanted(ask, issue, since))
        .collect();
    if ask.param("sort") == Some("updated") {
        issues.sort_by_key(|issue| issue.updated_at);
    }
    if ask.param("direction") != Some("asc") {
        issues.reverse();
    }
    let shown = issues.into_iter().map(|issue| pen.issue(found, issue));
    Ok(paging::list(ask, shown))
}

/// The filters of a list: `state` (open by default), all of `labels`, `since` in whole seconds.
fn is_wanted(ask: &Ask, issue: &Issue, since: Option<Timestamp>) -> bool {
    let state = match ask.param("state").unwrap_or("open") {
        "all" => true,
        "closed" => issue.closed_at.is_some(),
        _ => issue.closed_at.is_none(),
    };
    let asked = ask.param("labels").into_iter();
    let mut asked = asked
        .flat_map(|names| names.split(','))
        .filter(|name| !name.is_empty());
    let has = |name: &str| {
        issue
            .labels
            .iter()
            .any(|own| own.eq_ignore_ascii_case(name))
    };
    let changed = issue.updated_at.as_second();
    state && since.is_none_or(|since| changed >= since.as_second()) && asked.all(has)
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
    let was_open = world.issue(repo, n)?.closed_at.is_none();
    let edit = TextEdit {
        title: ask.text("title"),
        body: ask.text("body"),
    };
    world.edit_issue(ask.now, repo, n, edit)?;
    match ask.text("state") {
        Some("closed") => {
            world.close(ask.now, repo, n, &ask.caller.actor())?;
            if was_open {
                world.counters.count(|it| it.closes += 1);
            }
        }
        Some("open") => world.reopen(ask.now, repo, n)?,
        Some(_) => return Err(GitHubRefusal::new(422, "Validation Failed")),
        None => {}
    }
    give_reason(world, ask, repo, n)?;
    show(world, ask, repo, n)
}

/// Keeps why an issue was closed; for one that was closed before, too, as GitHub does.
fn give_reason(
    world: &mut GitHubWorld,
    ask: &Ask,
    repo: &str,
    n: u64,
) -> Result<(), GitHubRefusal> {
    let Some(reason) = ask.text("state_reason") else {
        return Ok(());
    };
    let closes = matches!(reason, "completed" | "not_planned" | "duplicate");
    if !closes && reason != "reopened" {
        return Err(GitHubRefusal::new(422, "Validation Failed"));
    }
    let is_pull = world.pull(repo, n).is_ok();
    let issue = world.issue_mut(repo, n)?;
    if issue.closed_at.is_some() == closes && !is_pull {
        issue.state_reason = Some(reason.to_owned());
    }
    Ok(())
}

fn comments(world: &GitHubWorld, ask: &Ask, repo: &str, n: u64) -> Outcome {
    world.issue(repo, n)?;
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let own = found.comments.iter().filter(|comment| comment.number == n);
    Ok(paging::list(
        ask,
        own.map(|comment| pen.comment(found, comment)),
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
    world.counters.count(|it| it.comment_edits += 1);
    Ok(Reply::json(
        ask.pen(world).comment(world.repo(repo)?, &edited),
    ))
}

fn delete_comment(world: &mut GitHubWorld, ask: &Ask, repo: &str, id: u64) -> Outcome {
    world.delete_comment(ask.now, repo, id)?;
    Ok(Reply::nothing())
}

fn labels(world: &GitHubWorld, ask: &Ask, repo: &str, n: u64) -> Outcome {
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let own = world.issue(repo, n)?.labels.iter();
    Ok(paging::list(ask, own.map(|label| pen.label(found, label))))
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

fn remove_label(world: &mut GitHubWorld, ask: &Ask, repo: &str, n: u64, name: &str) -> Outcome {
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
