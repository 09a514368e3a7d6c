//! Git's own objects: commits, trees and new references.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::ask::Ask;
use super::checks::commit;
use super::paging;
use super::reply::{Outcome, Reply};
use crate::github::access::Resource;
use crate::github::contents::{Change, EMPTY_TREE, Found, Listed, is_odd};
use crate::github::pen::{put, time};
use crate::github::real::{TreeDraft, refused};
use crate::github::records::Commit;
use crate::github::world::{GitHubRefusal, GitHubWorld, Repo};

/// What an entry of a tree may be.
const MODES: [&str; 5] = ["100644", "100755", "040000", "160000", "120000"];

pub(super) fn answer(world: &mut GitHubWorld, ask: &Ask, repo: &str, rest: &[&str]) -> Outcome {
    match (ask.method.as_str(), rest) {
        ("GET", ["commits"]) => log(world, ask, repo),
        ("GET", ["git", "trees", name]) => tree(world, ask, repo, name),
        ("POST", ["git", "trees"]) => make_tree(world, ask, repo),
        ("GET", ["git", "blobs", sha]) => blob(world, ask, repo, sha),
        ("POST", ["git", "blobs"]) => make_blob(world, ask, repo),
        ("GET", ["git", "commits", sha]) => show(world, ask, repo, sha),
        ("POST", ["git", "commits"]) => make_commit(world, ask, repo),
        ("POST", ["git", "refs"]) => make_branch(world, ask, repo),
        _ => Err(GitHubRefusal::not_found()),
    }
}

/// The commits up to one, the newest first.
fn log(world: &GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    ask.reads(Resource::Contents)?;
    let found = world.repo(repo)?;
    let name = ask.param("sha").unwrap_or(&found.setup.default_branch);
    let sha = commit(world, repo, &[name]).map_err(|_| GitHubRefusal::not_found())?;
    let pen = ask.pen(world);
    let commits = world.between("", &sha).into_iter().rev();
    let items = commits.map(|commit| pen.commit(found, commit));
    Ok(paging::list(ask, items))
}

/// A tree by its id, or by a commit or branch that has it.
fn tree(world: &GitHubWorld, ask: &Ask, repo: &str, name: &str) -> Outcome {
    ask.reads(Resource::Contents)?;
    let found = tree_named(world, repo, name)?;
    let all = ask.param("recursive").is_some();
    shown_tree(world, ask, repo, &found.oid, all).map(Reply::json)
}

fn tree_named(world: &GitHubWorld, repo: &str, name: &str) -> Result<Found, GitHubRefusal> {
    let tip = world.repo(repo)?.tip(name);
    let sha = if tip.is_empty() { name } else { tip };
    if !is_sha(sha) {
        return Err(GitHubRefusal::not_found());
    }
    let found = world.contents(repo)?.find(&format!("{sha}^{{tree}}"));
    found.map_err(refused)?.ok_or_else(GitHubRefusal::not_found)
}

fn shown_tree(
    world: &GitHubWorld,
    ask: &Ask,
    repo: &str,
    oid: &str,
    all: bool,
) -> Result<Value, GitHubRefusal> {
    let url = ask.pen(world).repo_url(world.repo(repo)?);
    let listed = world.contents(repo)?.list(oid, all).map_err(refused)?;
    let most = world.repo(repo)?.setup.tree_entries_max;
    let most = if all { most } else { usize::MAX };
    let entries = listed.iter().take(most);
    let entries = entries.map(|entry| shown_entry(entry, &url));
    Ok(json!({
        "sha": oid,
        "url": format!("{url}/git/trees/{oid}"),
        "tree": entries.collect::<Vec<_>>(),
        "truncated": listed.len() > most,
    }))
}

fn shown_entry(entry: &Listed, url: &str) -> Value {
    let mut shown = json!({
        "path": entry.path,
        "mode": entry.mode,
        "type": entry.kind,
        "sha": entry.oid,
        "url": format!("{url}/git/{}s/{}", entry.kind, entry.oid),
    });
    if let Some(size) = entry.size {
        put(&mut shown, "size", json!(size));
    }
    shown
}

fn make_tree(world: &GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    ask.writes(Resource::Contents)?;
    let contents = world.contents(repo)?;
    let base = match ask.text("base_tree") {
        Some(base) => tree_named(world, repo, base)?.oid,
        None => EMPTY_TREE.to_owned(),
    };
    let entries = ask.body.get("tree").and_then(Value::as_array);
    let entries = entries.filter(|entries| !entries.is_empty());
    let entries = entries.ok_or_else(|| GitHubRefusal::new(422, "Invalid tree info"))?;
    let changes: Result<Vec<Change>, _> = entries
        .iter()
        .map(|entry| change(world, repo, entry))
        .collect();
    let made = contents.tree_with(&base, &changes?).map_err(|trouble| {
        drop(refused(trouble));
        GitHubRefusal::new(422, "GitRPC::BadObjectState")
    })?;
    let shown = shown_tree(world, ask, repo, &made, false)?;
    Ok(Reply::status(201, shown))
}

/// One entry of a new tree: a text, an object, or null for what is to be removed.
fn change(world: &GitHubWorld, repo: &str, entry: &Value) -> Result<Change, GitHubRefusal> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    let path = text("path").unwrap_or_default().to_owned();
    if is_odd(&path) {
        let message = "tree.path contains a malformed path component";
        return Err(GitHubRefusal::new(422, message));
    }
    let mode = text("mode").filter(|mode| MODES.contains(mode));
    let mode = mode.ok_or_else(|| GitHubRefusal::new(422, "Must supply a valid tree.mode"))?;
    match (entry.get("sha"), text("content")) {
        (Some(Value::Null), None) => Ok(Change::Remove(path)),
        (Some(Value::String(oid)), None) => {
            let known = is_sha(oid) && world.contents(repo)?.find(oid).map_err(refused)?.is_some();
            // Another repository's commits are nowhere here.
            if !known && mode != "160000" {
                let message = format!("tree.sha {oid} is not a valid object");
                return Err(GitHubRefusal::new(422, message));
            }
            Ok(Change::Place {
                path,
                mode: mode.to_owned(),
                oid: oid.clone(),
            })
        }
        (None, Some(content)) if mode == "100644" || mode == "100755" => Ok(Change::Put {
            path,
            bytes: content.as_bytes().to_vec(),
            is_executable: mode == "100755",
        }),
        (_, _) => {
            let message = "Must supply either tree.sha or tree.content";
            Err(GitHubRefusal::new(422, message))
        }
    }
}

/// A blob in JSON, or its bytes alone.
fn blob(world: &GitHubWorld, ask: &Ask, repo: &str, sha: &str) -> Outcome {
    ask.reads(Resource::Contents)?;
    let contents = world.contents(repo)?;
    let found = if is_sha(sha) {
        contents.find(sha)
    } else {
        Ok(None)
    };
    let found = found.map_err(refused)?.filter(|found| found.kind == "blob");
    let oid = found.ok_or_else(GitHubRefusal::not_found)?.oid;
    let mut blobs = contents.blobs(&[&oid]).map_err(refused)?;
    let bytes = blobs.remove(&oid).unwrap_or_default();
    if ask.wants("raw") {
        return Ok(Reply::raw(bytes, "application/vnd.github.raw+json"));
    }
    let url = ask.pen(world).repo_url(world.repo(repo)?);
    Ok(Reply::json(json!({
        "sha": oid,
        "node_id": format!("B_kwDO{oid}"),
        "size": bytes.len(),
        "url": format!("{url}/git/blobs/{oid}"),
        "content": STANDARD.encode(bytes),
        "encoding": "base64",
    })))
}

fn make_blob(world: &GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    ask.writes(Resource::Contents)?;
    let content = ask.demand("content")?;
    let bytes = match ask.text("encoding") {
        Some("base64") => STANDARD
            .decode(content)
            .map_err(|_| GitHubRefusal::new(422, "content is not valid Base64"))?,
        Some("utf-8") | None => content.as_bytes().to_vec(),
        Some(_) => return Err(GitHubRefusal::new(422, "Invalid encoding")),
    };
    let oid = world.contents(repo)?.store(&bytes).map_err(refused)?;
    let url = ask.pen(world).repo_url(world.repo(repo)?);
    let shown = json!({ "sha": oid, "url": format!("{url}/git/blobs/{oid}") });
    Ok(Reply::status(201, shown))
}

fn show(world: &GitHubWorld, ask: &Ask, repo: &str, sha: &str) -> Outcome {
    ask.reads(Resource::Contents)?;
    let commit = world
        .commits
        .get(sha)
        .ok_or_else(GitHubRefusal::not_found)?;
    Ok(Reply::json(shown(ask, world, world.repo(repo)?, commit)))
}

/// A commit without what only GitHub knows of it.
fn shown(ask: &Ask, world: &GitHubWorld, repo: &Repo, commit: &Commit) -> Value {
    let url = ask.pen(world).repo_url(repo);
    let author = &commit.author;
    let person = json!({
        "name": author.login,
        "email": format!("{}+{}@users.noreply.github.com", author.id, author.login),
        "date": time(commit.at),
    });
    let github =
        json!({ "name": "GitHub", "email": "noreply@github.com", "date": time(commit.at) });
    let (committer, reason) = match commit.is_by_github {
        true => (&github, "valid"),
        false => (&person, "unsigned"),
    };
    let parents = commit
        .parents
        .iter()
        .map(|sha| json!({ "sha": sha, "url": format!("{url}/git/commits/{sha}") }));
    json!({
        "sha": commit.sha,
        "node_id": format!("C_kwDO{}", commit.sha),
        "url": format!("{url}/git/commits/{}", commit.sha),
        "author": person,
        "committer": committer,
        "message": commit.message,
        "tree": { "sha": commit.tree(), "url": format!("{url}/git/trees/{}", commit.tree()) },
        "parents": parents.collect::<Vec<_>>(),
        "verification": { "verified": commit.is_by_github, "reason": reason, "signature": null, "payload": null },
    })
}

fn make_commit(world: &mut GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    ask.writes(Resource::Contents)?;
    let home = world.repo(repo)?.id;
    let tree = ask.demand("tree")?;
    let contents = world.contents(repo)?;
    let is_tree = is_sha(tree)
        && contents
            .find(tree)
            .map_err(refused)?
            .is_some_and(|found| found.kind == "tree");
    if !is_tree {
        return Err(GitHubRefusal::new(422, "Tree SHA does not exist"));
    }
    let parents = ask.body.get("parents").and_then(Value::as_array);
    let parents = parents.into_iter().flatten().map(|parent| {
        let sha = parent.as_str().unwrap_or_default();
        let is_here = world.contents_of(sha, sha).is_some();
        is_here.then(|| sha.to_owned()).ok_or_else(|| {
            GitHubRefusal::new(422, "Parent SHA does not exist or is not a commit object")
        })
    });
    let parents = parents.collect::<Result<Vec<_>, _>>()?;
    let draft = TreeDraft {
        tree,
        parents: &parents,
        message: ask.demand("message")?,
        author: ask.caller.actor(),
    };
    let sha = world.commit_tree(ask.now, home, &draft)?;
    let commit = world
        .commits
        .get(&sha)
        .ok_or_else(GitHubRefusal::not_found)?;
    let shown = shown(ask, world, world.repo(repo)?, commit);
    Ok(Reply::status(201, shown))
}

fn make_branch(world: &mut GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    ask.writes(Resource::Contents)?;
    let (name, sha) = (ask.demand("ref")?, ask.demand("sha")?.to_owned());
    let Some(branch) = name.strip_prefix("refs/heads/") else {
        let message = "Reference name must start with 'refs/' and have at least two slashes";
        return Err(GitHubRefusal::new(422, message));
    };
    let found = world.repo(repo)?;
    if found.branches.contains_key(branch) {
        return Err(GitHubRefusal::new(422, "Reference already exists"));
    }
    if found.setup.protected_branches.iter().any(|it| it == branch) {
        let message = "Repository rule violations found\n\nCannot create ref due to creations being restricted.\n\n";
        return Err(GitHubRefusal::new(422, message));
    }
    if !world.commits.contains_key(&sha) {
        return Err(GitHubRefusal::new(422, "Object does not exist"));
    }
    world.move_branch(ask.now, repo, branch, &sha)?;
    let url = ask.pen(world).repo_url(world.repo(repo)?);
    let object = json!({ "type": "commit", "sha": sha, "url": format!("{url}/git/commits/{sha}") });
    let shown = json!({ "ref": name, "url": format!("{url}/git/{name}"), "object": object });
    Ok(Reply::status(201, shown))
}

fn is_sha(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
