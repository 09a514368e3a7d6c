//! The labels of a repository.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::ask::Ask;
use super::reply::{Outcome, Reply};
use crate::github::access::Resource;
use crate::github::world::{GitHubRefusal, GitHubWorld, node_id};

/// The colour of a label that was made without one.
const COLOUR: &str = "ededed";

pub(super) fn answer(world: &mut GitHubWorld, ask: &Ask, repo: &str, rest: &[&str]) -> Outcome {
    let access = ask.access();
    // Pull requests have labels, too.
    ask.need(Resource::Issues, access).or_else(|refusal| {
        ask.need(Resource::PullRequests, access)
            .map_err(|_| refusal)
    })?;
    match (ask.method.as_str(), rest) {
        ("GET", []) => list(world, ask, repo).map(Reply::json),
        ("GET", [name]) => show(world, ask, repo, name).map(Reply::json),
        ("POST", []) => make(world, ask, repo),
        ("PATCH", [name]) => change(world, ask, repo, name),
        _ => Err(GitHubRefusal::not_found()),
    }
}

/// A label exists when it was made, when the repository declares it, or when anything carries it. Each by its name in lower case.
fn all(world: &GitHubWorld, repo: &str) -> Result<BTreeMap<String, String>, GitHubRefusal> {
    let found = world.repo(repo)?;
    let carried = found.issues.values().flat_map(|issue| &issue.labels);
    let declared = found.setup.admin.labels.iter();
    let mut all = BTreeMap::new();
    for label in found.labels.keys().chain(declared).chain(carried) {
        all.entry(label.to_ascii_lowercase())
            .or_insert_with(|| label.clone());
    }
    Ok(all)
}

fn known(world: &GitHubWorld, repo: &str, name: &str) -> Result<Option<String>, GitHubRefusal> {
    Ok(all(world, repo)?.remove(&name.to_ascii_lowercase()))
}

fn list(world: &GitHubWorld, ask: &Ask, repo: &str) -> Result<Value, GitHubRefusal> {
    let names = all(world, repo)?.into_values();
    let shown = names.map(|name| show(world, ask, repo, &name));
    shown.collect()
}

fn show(world: &GitHubWorld, ask: &Ask, repo: &str, name: &str) -> Result<Value, GitHubRefusal> {
    let found = world.repo(repo)?;
    let label = known(world, repo, name)?.ok_or_else(GitHubRefusal::not_found)?;
    let made = found.labels.get(&label);
    Ok(json!({
        "id": found.id + 11,
        "node_id": node_id("LA", found.id),
        "url": format!("{}/labels/{label}", ask.pen(world).repo_url(found)),
        "name": label,
        "color": made.map_or(COLOUR, |(colour, _)| colour),
        "default": false,
        "description": made.map(|(_, description)| description),
    }))
}

fn make(world: &mut GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    let name = ask.demand("name")?.to_owned();
    let error = |field: &str, code: &str| {
        let error = json!({ "resource": "Label", "code": code, "field": field });
        GitHubRefusal::invalid(error)
    };
    if known(world, repo, &name)?.is_some() {
        return Err(error("name", "already_exists"));
    }
    let colour = ask.text("color").unwrap_or(COLOUR);
    if colour.len() != 6 || !colour.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(error("color", "invalid"));
    }
    put(world, ask, repo, &name)?;
    Ok(Reply::status(201, show(world, ask, repo, &name)?))
}

fn change(world: &mut GitHubWorld, ask: &Ask, repo: &str, name: &str) -> Outcome {
    let label = known(world, repo, name)?.ok_or_else(GitHubRefusal::not_found)?;
    put(world, ask, repo, &label)?;
    show(world, ask, repo, &label).map(Reply::json)
}

fn put(world: &mut GitHubWorld, ask: &Ask, repo: &str, label: &str) -> Result<(), GitHubRefusal> {
    let labels = &mut world.repo_mut(repo)?.labels;
    let (colour, description) = labels
        .entry(label.to_owned())
        .or_insert_with(|| (COLOUR.to_owned(), String::new()));
    if let Some(text) = ask.text("color") {
        text.clone_into(colour);
    }
    if let Some(text) = ask.text("description") {
        text.clone_into(description);
    }
    Ok(())
}
