//! The GitHub App: itself, its installation, and the tokens it mints.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::ask::{Ask, number};
use super::hooks;
use super::paging;
use super::reply::{Outcome, Reply};
use crate::clock::plus;
use crate::github::access::{
    APP_SLUG, Access, INSTALLATION_ID, Permissions, Resource, Token, TokenKind, TokenSetup,
};
use crate::github::pen::{put, time};
use crate::github::world::{Refusal, World};

/// How long a minted token lives.
const TOKEN_LIFE: SignedDuration = SignedDuration::from_hours(1);

pub(super) fn answer(world: &mut World, ask: &Ask, rest: &[&str]) -> Outcome {
    ask.caller.is_app()?;
    match (ask.method.as_str(), rest) {
        ("GET", []) => Ok(Reply::json(ask.pen(world).own_app())),
        ("GET", ["installations"]) => {
            let found = world.manifests.installed.then(|| installation(world, ask));
            Ok(paging::list(ask, found.into_iter().collect()))
        }
        ("GET", ["installations", id]) => {
            known(id)?;
            Ok(Reply::json(installation(world, ask)))
        }
        ("POST", ["installations", id, "access_tokens"]) => {
            known(id)?;
            mint(world, ask)
        }
        ("GET", ["hook", "config"]) => hooks::config(world),
        (_, ["hook", "deliveries", rest @ ..]) => hooks::deliveries(world, ask, rest),
        _ => Err(Refusal::not_found()),
    }
}

fn known(id: &str) -> Result<(), Refusal> {
    if number(id)? == INSTALLATION_ID {
        Ok(())
    } else {
        Err(Refusal::not_found())
    }
}

/// The only installation, on the account of the first repository.
fn installation(world: &World, ask: &Ask) -> Value {
    let owner = world
        .repos
        .values()
        .next()
        .map_or(APP_SLUG, |repo| repo.owner());
    ask.pen(world).installation(owner)
}

pub(super) fn installation_of(world: &World, ask: &Ask, repo: &str) -> Outcome {
    ask.caller.is_app()?;
    if !world.manifests.installed || !world.app.is_on(world.repo(repo)?.full_name()) {
        return Err(Refusal::not_found());
    }
    let owner = world.repo(repo)?.owner().to_owned();
    Ok(Reply::json(ask.pen(world).installation(&owner)))
}

/// A token of the installation, narrowed to the repositories and permissions that were asked for.
fn mint(world: &mut World, ask: &Ask) -> Outcome {
    if world.app.suspended {
        return Err(Refusal::new(403, "This installation has been suspended"));
    }
    let serial = world.next_id();
    let permissions = asked_permissions(&ask.body, &world.app.permissions);
    let repos = asked_repos(world, &ask.body).or_else(|| world.app.repos.clone());
    let setup = TokenSetup {
        token: format!("ghs_sandbox{serial}"),
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
        ..Token::new(setup)
    };
    world.tokens.insert(token.setup.token.clone(), token);
    Ok(Reply::status(201, answer))
}

/// What was asked for is granted and nothing else; without a wish everything is.
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
fn asked_repos(world: &World, body: &Value) -> Option<Vec<String>> {
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
pub(super) fn repositories(world: &World, ask: &Ask) -> Outcome {
    ask.reads(Resource::Metadata)?;
    let pen = ask.pen(world);
    let seen = world
        .repos
        .iter()
        .filter(|(name, _)| ask.caller.sees(world, name).is_ok());
    let items = seen.map(|(_, repo)| pen.repo(repo)).collect();
    Ok(paging::object(ask, "repositories", items))
}
