//! The GitHub App: itself, its installation, and the tokens it mints.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::ask::{Ask, number};
use super::hooks;
use super::paging;
use super::reply::{Outcome, Reply};
use crate::clock::plus;
use crate::github::access::{
    APP_SLUG, Access, Permissions, Resource, Token, TokenKind, TokenSetup,
};
use crate::github::admin::InstallationSetup;
use crate::github::pen::{put, time};
use crate::github::world::{GitHubRefusal, GitHubWorld, Repo};

/// How long a minted token lives.
const TOKEN_LIFE: SignedDuration = SignedDuration::from_hours(1);

pub(super) fn answer(world: &mut GitHubWorld, ask: &Ask, rest: &[&str]) -> Outcome {
    ask.caller.is_app()?;
    match (ask.method.as_str(), rest) {
        ("GET", []) => Ok(Reply::json(ask.pen(world).own_app())),
        ("GET", ["installations"]) => {
            let all = world.installations.iter();
            let all = all.filter(|_| world.manifests.installed);
            let shown = all.map(|setup| shown(world, ask, setup));
            Ok(paging::list(ask, shown))
        }
        ("GET", ["installations", id]) => {
            let setup = world.installation(number(id)?)?;
            Ok(Reply::json(shown(world, ask, setup)))
        }
        ("POST", ["installations", id, "access_tokens"]) => {
            let setup = world.installation(number(id)?)?.clone();
            mint(world, ask, &setup)
        }
        ("GET", ["hook", "config"]) => hooks::config(world),
        (_, ["hook", "deliveries", rest @ ..]) => hooks::deliveries(world, ask, rest),
        _ => Err(GitHubRefusal::not_found()),
    }
}

/// An installation, on its account or on that of the first repository.
fn shown(world: &GitHubWorld, ask: &Ask, setup: &InstallationSetup) -> Value {
    let first = world.repos.values().next();
    let owner = setup.owner.as_deref();
    let owner = owner.or_else(|| first.map(Repo::owner)).unwrap_or(APP_SLUG);
    ask.pen(world).installation(setup, owner)
}

/// The installation that a repository belongs to; an old name leads on to it.
pub(super) fn installation_of(world: &GitHubWorld, ask: &Ask, repo: &str) -> Outcome {
    ask.caller.is_app()?;
    if let Some(found) = world.moved_to(repo) {
        return Ok(Reply::moved(ask, found.id, "/installation"));
    }
    installation_holding(world, ask, world.repo(repo)?)
}

/// The same for a repository that is named by its number.
pub(super) fn installation_of_id(world: &GitHubWorld, ask: &Ask, id: &str) -> Outcome {
    ask.caller.is_app()?;
    installation_holding(world, ask, world.repo_by_id(number(id)?)?)
}

fn installation_holding(world: &GitHubWorld, ask: &Ask, repo: &Repo) -> Outcome {
    if !world.manifests.installed || !world.app.is_on(repo.full_name()) {
        return Err(GitHubRefusal::not_found());
    }
    let setup = world.installation_of(repo.owner())?;
    let shown = ask.pen(world).installation(setup, repo.owner());
    Ok(Reply::json(shown))
}

/// A token of the installation, narrowed to the repositories and permissions that were asked for.
fn mint(world: &mut GitHubWorld, ask: &Ask, installation: &InstallationSetup) -> Outcome {
    if installation.suspended || world.app.suspended {
        return Err(GitHubRefusal::new(
            403,
            "This installation has been suspended",
        ));
    }
    let serial = world.next_id();
    let permissions = asked_permissions(&ask.body, &world.app.permissions);
    let repos = asked_repos(world, &ask.body).or_else(|| world.app.repos.clone());
    let setup = TokenSetup {
        token: format!("ghs_{}", letters(serial)),
        kind: TokenKind::Installation,
        login: format!("{APP_SLUG}[bot]"),
        permissions: permissions.clone(),
        repos: repos.clone(),
        ..TokenSetup::default()
    };
    let ends = plus(ask.now, TOKEN_LIFE);
    let mut answer = json!({
        "token": setup.token,
        "expires_at": time(ends),
        "permissions": permissions.to_json(),
        "repository_selection": if repos.is_some() { "selected" } else { "all" },
    });
    if let Some(names) = &repos {
        let pen = ask.pen(world);
        let shown = names
            .iter()
            .filter_map(|name| world.repo(name).ok())
            .map(|repo| pen.repo(repo));
        put(&mut answer, "repositories", Value::Array(shown.collect()));
    }
    let token = Token {
        expires_at: Some(ends),
        owner: installation.owner.clone(),
        ..Token::new(setup)
    };
    world.tokens.insert(token.setup.token.clone(), token);
    Ok(Reply::status(201, answer))
}

/// As many letters as GitHub's tokens have, the same for a serial number every time and not to be mistaken for anything else.
fn letters(serial: u64) -> String {
    let signed = crate::webhook::sign("a minted token", &serial.to_be_bytes());
    let letters = signed.trim_start_matches("sha256=").chars();
    letters.take(36).collect()
}

/// Grants exactly the requested permissions; without a request all of them.
fn asked_permissions(body: &Value, all: &Permissions) -> Permissions {
    let Some(asked) = body.get("permissions").and_then(Value::as_object) else {
        return all.clone();
    };
    Resource::ALL
        .into_iter()
        .fold(Permissions::all(), |granted, resource| {
            let access = match asked.get(resource.as_str()).and_then(Value::as_str) {
                Some("write") => Access::Write,
                Some(_) => Access::Read,
                // Metadata comes with everything.
                None if resource == Resource::Metadata => Access::Read,
                None => Access::None,
            };
            granted.with(resource, access)
        })
}

/// Repositories by name or by id.
fn asked_repos(world: &GitHubWorld, body: &Value) -> Option<Vec<String>> {
    let list = |field: &str| body.get(field).and_then(Value::as_array);
    let names = list("repositories")
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let ids: Vec<u64> = list("repository_ids")
        .into_iter()
        .flatten()
        .filter_map(Value::as_u64)
        .collect();
    let named: Vec<&str> = names.collect();
    if named.is_empty() && ids.is_empty() {
        return None;
    }
    let wanted = world
        .repos
        .values()
        .filter(|repo| named.contains(&repo.name()) || ids.contains(&repo.id));
    Some(wanted.map(|repo| repo.full_name().to_owned()).collect())
}

/// `GET /installation/repositories`, for tokens of the installation.
pub(super) fn repositories(world: &GitHubWorld, ask: &Ask) -> Outcome {
    ask.reads(Resource::Metadata)?;
    let pen = ask.pen(world);
    let seen = world
        .repos
        .iter()
        .filter(|(name, _)| ask.caller.sees(world, name).is_ok());
    let items = seen.map(|(_, repo)| pen.repo(repo)).collect();
    Ok(paging::object(ask, "repositories", items))
}
