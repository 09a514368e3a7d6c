//! The hook and its delivery log, where failed deliveries are found and asked for again.

use serde_json::{Value, json};

use super::ask::{Ask, number};
use super::paging;
use super::reply::{Outcome, Reply};
use crate::github::access::{INSTALLATION_ID, Resource};
use crate::github::admin::HookSetup;
use crate::github::pen::time;
use crate::github::world::{GitHubRefusal, GitHubWorld};
use crate::webhook::{Delivery, HOOK_ID, WebhookTarget, headers_of};

pub(super) fn answer(world: &mut GitHubWorld, ask: &Ask, repo: &str, rest: &[&str]) -> Outcome {
    ask.need(Resource::Administration, ask.access())?;
    match (ask.method.as_str(), rest) {
        ("GET", []) => {
            let hooks = world.outbox.target.iter();
            let hooks = hooks.map(|target| hook(ask, repo, target, &world.outbox.hook));
            Ok(paging::list(ask, hooks))
        }
        ("POST", []) => Ok(Reply::status(201, set(world, ask, repo)?)),
        ("PATCH", [id]) => {
            known(id)?;
            Ok(Reply::json(set(world, ask, repo)?))
        }
        ("GET", [id]) => {
            known(id)?;
            let target = world
                .outbox
                .target
                .as_ref()
                .ok_or_else(GitHubRefusal::not_found)?;
            Ok(Reply::json(hook(ask, repo, target, &world.outbox.hook)))
        }
        (_, [id, "deliveries", rest @ ..]) => {
            known(id)?;
            deliveries(world, ask, rest)
        }
        _ => Err(GitHubRefusal::not_found()),
    }
}

fn known(id: &str) -> Result<(), GitHubRefusal> {
    if number(id)? == HOOK_ID {
        Ok(())
    } else {
        Err(GitHubRefusal::not_found())
    }
}

/// Makes the hook, or changes it.
fn set(world: &mut GitHubWorld, ask: &Ask, repo: &str) -> Result<Value, GitHubRefusal> {
    let config = ask.body.get("config");
    let given = |field: &str| {
        config
            .and_then(|config| config.get(field)?.as_str())
            .map(str::to_owned)
    };
    let old = world.outbox.target.clone();
    let url = given("url").or_else(|| old.as_ref().map(|old| old.url.clone()));
    let secret = given("secret")
        .or_else(|| old.map(|old| old.secret))
        .unwrap_or_default();
    let url = url.ok_or_else(|| GitHubRefusal::new(422, "Validation Failed"))?;
    let target = WebhookTarget { url, secret };
    let answer = hook(ask, repo, &target, &world.outbox.hook);
    world.outbox.target = Some(target);
    Ok(answer)
}

/// The hook as GitHub shows it, its secret never in clear.
fn hook(ask: &Ask, repo: &str, target: &WebhookTarget, hooked: &HookSetup) -> Value {
    let url = format!("{}/repos/{repo}/hooks/{HOOK_ID}", ask.api);
    json!({
        "type": "Repository",
        "id": HOOK_ID,
        "name": "web",
        "active": hooked.active,
        "events": hooked.events,
        "config": { "url": target.url, "content_type": if hooked.form { "form" } else { "json" }, "insecure_ssl": "0", "secret": "********" },
        "url": url,
        "deliveries_url": format!("{url}/deliveries"),
        "ping_url": format!("{url}/pings"),
        "test_url": format!("{url}/test"),
    })
}

/// `GET /app/hook/config`; the App's hook is the same one.
pub(super) fn config(world: &GitHubWorld) -> Outcome {
    let (target, hooked) = (world.outbox.target.as_ref(), &world.outbox.hook);
    let url = target.map_or("", |target| target.url.as_str());
    Ok(Reply::json(json!({
        "url": url,
        "content_type": if hooked.form { "form" } else { "json" },
        "insecure_ssl": "0",
        "secret": "********",
    })))
}

/// The log of the hook, also reached as the App's: list, one, and `attempts` to ask for it again.
pub(super) fn deliveries(world: &mut GitHubWorld, ask: &Ask, rest: &[&str]) -> Outcome {
    match (ask.method.as_str(), rest) {
        ("GET", []) => {
            // Newest first.
            let items = world.outbox.deliveries().rev().map(brief);
            Ok(paging::list(ask, items))
        }
        ("GET", [id]) => {
            let id = number(id)?;
            let secret = world
                .outbox
                .target
                .as_ref()
                .map_or("", |target| target.secret.as_str());
            let mut attempts = world.outbox.deliveries();
            let found = attempts
                .find(|delivery| delivery.id == id)
                .ok_or_else(GitHubRefusal::not_found)?;
            Ok(Reply::json(whole(found, secret)))
        }
        ("POST", [id, "attempts"]) => match world.outbox.redeliver(ask.now, number(id)?) {
            true => Ok(Reply::status(202, json!({}))),
            false => Err(GitHubRefusal::not_found()),
        },
        _ => Err(GitHubRefusal::not_found()),
    }
}

fn brief(delivery: &Delivery) -> Value {
    let repository = serde_json::from_str::<Value>(&delivery.body).ok();
    let repository = repository.and_then(|body| body.get("repository")?.get("id").cloned());
    json!({
        "id": delivery.id,
        "guid": delivery.guid,
        "delivered_at": time(delivery.delivered_at),
        "redelivery": delivery.redelivery,
        "duration": 0.03,
        "status": if delivery.succeeded() { "OK" } else { "Invalid HTTP Response" },
        "status_code": delivery.status_code.unwrap_or_default(),
        "event": delivery.event,
        "action": delivery.action,
        "installation_id": INSTALLATION_ID,
        "repository_id": repository,
        "throttled_at": null,
        "url": delivery.url,
    })
}

fn whole(delivery: &Delivery, secret: &str) -> Value {
    let headers = headers_of(&delivery.event, &delivery.guid, &delivery.body, secret);
    let headers = headers
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Value::String(value)));
    let payload: Value = serde_json::from_str(&delivery.body).unwrap_or_default();
    let mut answer = brief(delivery);
    crate::github::pen::put(
        &mut answer,
        "request",
        json!({ "headers": headers.collect::<serde_json::Map<_, _>>(), "payload": payload }),
    );
    crate::github::pen::put(
        &mut answer,
        "response",
        json!({ "headers": {}, "payload": "" }),
    );
    answer
}
