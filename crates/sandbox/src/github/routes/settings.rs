//! What settings pages show: people, rulesets, workflow files.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::ask::{Ask, number};
use super::paging;
use super::reply::{Outcome, Reply};
use crate::github::access::Resource;
use crate::github::pen::{WEB, put};
use crate::github::records::User;
use crate::github::setup::{ACTIONS_APP_SLUG, CheckKind, Protection};
use crate::github::world::{GitHubRefusal, GitHubWorld, Repo};

/// Where workflow files live.
const WORKFLOWS: &str = ".github/workflows";

pub(super) fn answer(world: &GitHubWorld, ask: &Ask, repo: &str, rest: &[&str]) -> Outcome {
    match (ask.method.as_str(), rest) {
        ("GET", ["collaborators"]) => people(world, ask, repo),
        ("GET", ["rulesets", id]) => ruleset(world, ask, repo, number(id)?),
        ("GET", ["contents", ".github", "workflows"]) => files(world, ask, repo),
        ("GET", ["contents", ".github", "workflows", name]) => file(world, ask, repo, name),
        _ => Err(GitHubRefusal::not_found()),
    }
}

/// The owner and all invited users, by their least rights.
fn people(world: &GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    ask.reads(Resource::Metadata)?;
    let found = world.repo(repo)?;
    let owner = (found.owner().to_owned(), "admin".to_owned());
    let invited = found.setup.collaborators.clone();
    let all = std::iter::once(owner).chain(invited);
    let writes = |role: &str| matches!(role, "admin" | "maintain" | "write");
    let wanted = |role: &str| match ask.param("permission") {
        Some("push") => writes(role),
        Some("admin") => role == "admin",
        _ => true,
    };
    let shown = all.filter(|(_, role)| wanted(role)).map(|(login, role)| {
        let mut person = ask.pen(world).user(&User::named(&login));
        put(&mut person, "role_name", json!(role));
        let rights = json!({ "admin": role == "admin", "push": writes(&role), "pull": true });
        put(&mut person, "permissions", rights);
        person
    });
    Ok(paging::list(ask, shown))
}

/// The only ruleset, under the id that the branch's rules name.
fn ruleset(world: &GitHubWorld, ask: &Ask, repo: &str, id: u64) -> Outcome {
    ask.reads(Resource::Metadata)?;
    let found = world.repo(repo)?;
    if found.setup.protection != Protection::Rulesets || id != found.id + 7 {
        return Err(GitHubRefusal::not_found());
    }
    let bypass = if found.setup.admin.ruleset_bypass {
        "always"
    } else {
        "never"
    };
    Ok(Reply::json(json!({
        "id": id,
        "name": "main rules",
        "target": "branch",
        "source_type": "Repository",
        "source": found.full_name(),
        "enforcement": "active",
        "current_user_can_bypass": bypass,
        "rules": ask.pen(world).rules(found, &found.setup.default_branch),
    })))
}

/// One file for each workflow that has a job.
fn workflows_of(repo: &Repo) -> Vec<String> {
    let of_actions =
        repo.ci().checks.iter().filter(|check| {
            check.app_slug == ACTIONS_APP_SLUG && check.kind == CheckKind::CheckRun
        });
    let mut names: Vec<String> = of_actions
        .map(|check| format!("{}.yml", check.workflow.to_lowercase()))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn files(world: &GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    ask.reads(Resource::Contents)?;
    let found = world.repo(repo)?;
    let names = workflows_of(found);
    if names.is_empty() {
        return Err(GitHubRefusal::not_found());
    }
    let shown = names.iter().map(|name| entry(found, name));
    Ok(Reply::json(Value::Array(shown.collect())))
}

fn entry(repo: &Repo, name: &str) -> Value {
    json!({
        "type": "file",
        "name": name,
        "path": format!("{WORKFLOWS}/{name}"),
        "html_url": format!("{WEB}/{}/blob/{}/{WORKFLOWS}/{name}", repo.full_name(), repo.setup.default_branch),
    })
}

fn file(world: &GitHubWorld, ask: &Ask, repo: &str, name: &str) -> Outcome {
    ask.reads(Resource::Contents)?;
    let found = world.repo(repo)?;
    if !workflows_of(found).iter().any(|known| known == name) {
        return Err(GitHubRefusal::not_found());
    }
    let queue = if found.setup.admin.on_merge_group {
        "  merge_group:\n"
    } else {
        ""
    };
    let text = format!("name: {name}\non:\n  pull_request:\n{queue}jobs: {{}}\n");
    let mut answer = entry(found, name);
    put(&mut answer, "encoding", json!("base64"));
    put(&mut answer, "content", json!(STANDARD.encode(text)));
    Ok(Reply::json(answer))
}
