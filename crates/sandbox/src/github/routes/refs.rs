//! Branches, their rules and protection, references, and comparisons.

use serde_json::{Value, json};

use super::ask::Ask;
use super::checks::commit;
use super::paging;
use super::reply::{Outcome, Reply};
use crate::github::access::Resource;
use crate::github::pen::put;
use crate::github::real::refused;
use crate::github::world::{GitHubRefusal, GitHubWorld, node_id};

/// GitHub lists no more files of a comparison.
const COMPARED_FILES_MAX: usize = 300;

/// GitHub gives no diff of more files, lines or bytes.
const DIFF_FILES_MAX: usize = 300;
const DIFF_LINES_MAX: usize = 20_000;
const DIFF_BYTES_MAX: usize = 1_000_000;

pub(super) fn answer(world: &mut GitHubWorld, ask: &Ask, repo: &str, rest: &[&str]) -> Outcome {
    match (ask.method.as_str(), rest) {
        ("GET", ["rules", "branches", branch @ ..]) => rules(world, ask, repo, &branch.join("/")),
        ("GET", ["branches"]) => branches(world, ask, repo),
        ("GET", ["branches", branch @ .., "protection"]) => {
            protection(world, ask, repo, &branch.join("/"))
        }
        ("GET", ["branches", branch @ ..]) => show(world, ask, repo, &branch.join("/")),
        ("GET", ["git", "ref" | "refs", "heads", branch @ ..]) => {
            reference(world, ask, repo, &branch.join("/"))
        }
        ("DELETE", ["git", "refs", "heads", branch @ ..]) => {
            delete(world, ask, repo, &branch.join("/"))
        }
        ("PATCH", ["git", "refs", "heads", branch @ ..]) => {
            move_on(world, ask, repo, &branch.join("/"))
        }
        ("GET", ["compare", spec @ ..]) => compare(world, ask, repo, &spec.join("/")),
        _ => Err(GitHubRefusal::not_found()),
    }
}

/// Every reader of the repository can read its rules.
fn rules(world: &GitHubWorld, ask: &Ask, repo: &str, branch: &str) -> Outcome {
    ask.reads(Resource::Metadata)?;
    Ok(paging::list(
        ask,
        ask.pen(world).rules(world.repo(repo)?, branch),
    ))
}

fn branches(world: &GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    ask.reads(Resource::Contents)?;
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let wanted: Option<bool> = ask.param("protected").and_then(|it| it.parse().ok());
    let all = found.branches.keys().map(|name| pen.branch(found, name));
    let these = all.filter(|it| wanted.is_none_or(|wanted| it["protected"] == wanted));
    Ok(paging::list(ask, these))
}

fn show(world: &GitHubWorld, ask: &Ask, repo: &str, branch: &str) -> Outcome {
    ask.reads(Resource::Contents)?;
    let found = world.repo(repo)?;
    if !found.branches.contains_key(branch) {
        return Err(GitHubRefusal::new(404, "Branch not found"));
    }
    Ok(Reply::json(ask.pen(world).branch(found, branch)))
}

fn protection(world: &GitHubWorld, ask: &Ask, repo: &str, branch: &str) -> Outcome {
    ask.reads(Resource::Administration)?;
    let found = world.repo(repo)?;
    if !found.branches.contains_key(branch) {
        return Err(GitHubRefusal::new(404, "Branch not found"));
    }
    let answer = ask.pen(world).protection(found, branch);
    answer
        .map(Reply::json)
        .ok_or_else(|| GitHubRefusal::new(404, "Branch not protected"))
}

fn reference(world: &GitHubWorld, ask: &Ask, repo: &str, branch: &str) -> Outcome {
    ask.reads(Resource::Contents)?;
    let found = world.repo(repo)?;
    let sha = found
        .branches
        .get(branch)
        .ok_or_else(GitHubRefusal::not_found)?;
    let url = ask.pen(world).repo_url(found);
    Ok(Reply::json(json!({
        "ref": format!("refs/heads/{branch}"),
        "node_id": node_id("REF", found.id),
        "url": format!("{url}/git/refs/heads/{branch}"),
        "object": { "type": "commit", "sha": sha, "url": format!("{url}/git/commits/{sha}") },
    })))
}

fn delete(world: &mut GitHubWorld, ask: &Ask, repo: &str, branch: &str) -> Outcome {
    ask.writes(Resource::Contents)?;
    let setup = &world.repo(repo)?.setup;
    if setup.default_branch == branch {
        return Err(GitHubRefusal::new(422, "Cannot delete the default branch"));
    }
    if setup.protected_branches.iter().any(|it| it == branch) {
        return Err(GitHubRefusal::new(422, "Cannot delete a protected branch"));
    }
    world.delete_branch(ask.now, repo, branch)?;
    world.counters.count(|it| it.branch_deletes += 1);
    Ok(Reply::nothing())
}

/// Moves a branch, forward only unless it is forced.
fn move_on(world: &mut GitHubWorld, ask: &Ask, repo: &str, branch: &str) -> Outcome {
    ask.writes(Resource::Contents)?;
    let sha = ask.demand("sha")?.to_owned();
    let found = world.repo(repo)?;
    let missing = || GitHubRefusal::new(422, "Reference does not exist");
    let tip = found.branches.get(branch).ok_or_else(missing)?;
    if found.setup.protected_branches.iter().any(|it| it == branch) {
        let message =
            "Repository rule violations found\n\nChanges must be made through a pull request.\n\n";
        return Err(GitHubRefusal::new(422, message));
    }
    if !world.commits.contains_key(&sha) {
        return Err(GitHubRefusal::new(422, "Object does not exist"));
    }
    let is_forced = ask.body.get("force").and_then(Value::as_bool) == Some(true);
    if !is_forced && !world.between(&sha, tip).is_empty() {
        return Err(GitHubRefusal::new(422, "Update is not a fast forward"));
    }
    world.move_branch(ask.now, repo, branch, &sha)?;
    reference(world, ask, repo, branch)
}

/// What a head changed since it left a base, as one text.
fn diff(world: &GitHubWorld, base: &str, head: &str) -> Outcome {
    let contents = world.contents_of(base, head);
    let contents = contents.ok_or_else(GitHubRefusal::not_found)?;
    let parted = world.merge_base(base, head);
    if parted.is_empty() {
        return Err(GitHubRefusal::not_found());
    }
    let text = contents.text_diff(&parted, head).map_err(refused)?;
    let files = world.files_between(base, head).len();
    let lines = text.iter().filter(|byte| **byte == b'\n').count();
    if files > DIFF_FILES_MAX || lines > DIFF_LINES_MAX || text.len() > DIFF_BYTES_MAX {
        let message = "Sorry, the diff exceeded the maximum number of lines (20000)";
        let error = json!({ "resource": "Comparison", "field": "diff", "code": "too_large" });
        return Err(GitHubRefusal {
            errors: vec![error],
            ..GitHubRefusal::new(406, message)
        });
    }
    Ok(Reply::raw(
        text,
        "application/vnd.github.diff; charset=utf-8",
    ))
}

/// `{base}...{head}`, each a branch or a SHA, the head perhaps as `owner:branch`.
fn compare(world: &GitHubWorld, ask: &Ask, repo: &str, spec: &str) -> Outcome {
    ask.reads(Resource::Contents)?;
    let (base, head) = spec
        .split_once("...")
        .ok_or_else(GitHubRefusal::not_found)?;
    let (base, head) = (side(world, repo, base)?, side(world, repo, head)?);
    if ask.wants("diff") {
        return diff(world, &base, &head);
    }
    let parted = world.merge_base(&base, &head);
    if parted.is_empty() {
        let message = format!("No common ancestor between {base} and {head}.");
        return Err(GitHubRefusal::new(404, message));
    }
    let (found, pen) = (world.repo(repo)?, ask.pen(world));
    let (ahead, behind) = (world.between(&base, &head), world.between(&head, &base));
    let status = match (ahead.len(), behind.len()) {
        (0, 0) => "identical",
        (_, 0) => "ahead",
        (0, _) => "behind",
        (_, _) => "diverged",
    };
    let shown = |sha: &str| {
        world
            .commits
            .get(sha)
            .map(|commit| pen.commit(found, commit))
    };
    let files = world.files_between(&base, &head);
    // GitHub lists the files on the first page only, and no more than these.
    let on_first = ask.param("page").is_none_or(|page| page == "1");
    let shown_files = if on_first { COMPARED_FILES_MAX } else { 0 };
    let files = files.iter().take(shown_files).map(|file| {
        let mut shown = json!({
            "filename": file.filename,
            "status": file.status,
            "additions": file.additions,
            "deletions": file.deletions,
            "changes": file.additions + file.deletions,
            "patch": file.patch,
        });
        if let Some(before) = &file.previous_filename {
            put(&mut shown, "previous_filename", json!(before));
        }
        shown
    });
    let around = json!({
        "url": format!("{}/compare/{spec}", pen.repo_url(found)),
        "status": status,
        "ahead_by": ahead.len(),
        "behind_by": behind.len(),
        "total_commits": ahead.len(),
        "base_commit": shown(&base),
        "merge_base_commit": shown(&parted),
        "files": files.collect::<Vec<_>>(),
    });
    let commits = ahead.iter().map(|commit| pen.commit(found, commit));
    Ok(paging::within(ask, around, "commits", commits.collect()))
}

fn side(world: &GitHubWorld, repo: &str, name: &str) -> Result<String, GitHubRefusal> {
    let Some((owner, branch)) = name.split_once(':') else {
        return commit(world, repo, &[name]).map_err(|_| GitHubRefusal::not_found());
    };
    let own = world.repo(repo)?.name().to_owned();
    let tip = world.repo(&format!("{owner}/{own}"))?.tip(branch);
    if tip.is_empty() {
        Err(GitHubRefusal::not_found())
    } else {
        Ok(tip.to_owned())
    }
}
