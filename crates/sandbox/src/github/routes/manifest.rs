//! Making a GitHub App from a manifest: the page that takes the form, the exchange of its code, and the page that installs.
//! A browser asks without credentials, so all of this comes before the caller is known.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::reply::Reply;
use crate::github::access::{APP_ID, APP_SLUG, Access, Permissions, Resource};
use crate::github::pen::time;
use crate::github::world::{GitHubRefusal, GitHubWorld, sha_of};

/// The private key of every App made here. It opens nothing but sandboxes.
const PRIVATE_KEY: &str = include_str!("app.pem");

/// What a webhook of a made App is signed with.
const WEBHOOK_SECRET: &str = "sandbox-app-webhook";

/// Answers a browser, or a client with a code; `None` when the request is something else.
pub(super) fn answer(
    world: &mut GitHubWorld,
    parts: &Parts,
    body: &[u8],
    now: Timestamp,
) -> Option<Response> {
    let path: Vec<&str> = parts.uri.path().trim_matches('/').split('/').collect();
    match (&parts.method, path.as_slice()) {
        (
            &Method::POST,
            ["settings", "apps", "new"] | ["organizations", _, "settings", "apps", "new"],
        ) => Some(accept(world, parts, body)),
        (&Method::POST, ["app-manifests", code, "conversions"]) => Some(
            convert(world, code, now).unwrap_or_else(|refusal| Reply::refused(&refusal).plain()),
        ),
        (&Method::POST, ["apps", slug, "installations", "new"]) if *slug == APP_SLUG => {
            world.manifests.installed = true;
            Some(page(StatusCode::OK, "The app is installed."))
        }
        _ => None,
    }
}

/// The form that a person confirms; the browser goes back to the manifest's page with a code.
fn accept(world: &mut GitHubWorld, parts: &Parts, body: &[u8]) -> Response {
    let of = |bytes: &[u8], name: &str| {
        url::form_urlencoded::parse(bytes)
            .find(|(field, _)| field == name)
            .map(|(_, value)| value.into_owned())
    };
    let manifest = of(body, "manifest").and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let Some(manifest) = manifest.filter(is_whole) else {
        return page(
            StatusCode::UNPROCESSABLE_ENTITY,
            "The manifest is not valid.",
        );
    };
    let state = of(parts.uri.query().unwrap_or_default().as_bytes(), "state").unwrap_or_default();
    let back = manifest.get("redirect_url").and_then(Value::as_str);
    let Some(mut back) = back.and_then(|it| url::Url::parse(it).ok()) else {
        return page(
            StatusCode::UNPROCESSABLE_ENTITY,
            "The redirect URL is not valid.",
        );
    };
    let code = sha_of(&["manifest", &world.next_id().to_string()]);
    back.query_pairs_mut()
        .append_pair("code", &code)
        .append_pair("state", &state);
    world.manifests.waiting.insert(code, manifest);
    let mut response = page(StatusCode::FOUND, "");
    if let Ok(to) = HeaderValue::from_str(back.as_str()) {
        response.headers_mut().insert(LOCATION, to);
    }
    response
}

/// What GitHub insists on: a name, a home page, and permissions that it knows.
fn is_whole(manifest: &Value) -> bool {
    let text = |field: &str| manifest.get(field).is_some_and(Value::is_string);
    let hook = manifest.get("hook_attributes");
    let hook = hook.is_none_or(|hook| hook.get("url").is_some_and(Value::is_string));
    text("name") && text("url") && hook && permissions(manifest).is_some()
}

/// Exactly what a manifest asks for; metadata comes with everything.
fn permissions(manifest: &Value) -> Option<Permissions> {
    let asked = manifest.get("default_permissions")?.as_object()?;
    let none = Resource::ALL
        .into_iter()
        .fold(Permissions::all(), |all, it| all.with(it, Access::None));
    asked.iter().try_fold(
        none.with(Resource::Metadata, Access::Read),
        |granted, (name, access)| {
            let resource = Resource::ALL.into_iter().find(|it| it.as_str() == name)?;
            let access = match access.as_str()? {
                "read" => Access::Read,
                "write" => Access::Write,
                _ => return None,
            };
            Some(granted.with(resource, access))
        },
    )
}

/// A code is good for one exchange, which makes the App, without any installation yet.
fn convert(world: &mut GitHubWorld, code: &str, now: Timestamp) -> Result<Response, GitHubRefusal> {
    let manifest = world
        .manifests
        .waiting
        .remove(code)
        .ok_or_else(GitHubRefusal::not_found)?;
    world.counters.count(|it| it.github_writes += 1);
    world.manifests.installed = false;
    world.app.permissions = permissions(&manifest).unwrap_or_default();
    let has_hook = manifest.get("hook_attributes").is_some();
    let home = world.base.clone();
    Ok(Reply::status(
        201,
        json!({
            "id": APP_ID,
            "slug": APP_SLUG,
            "node_id": "A_kwDOsandbox",
            "owner": { "login": "octo-owner", "id": 1, "type": "User" },
            "name": manifest.get("name"),
            "description": manifest.get("description"),
            "external_url": manifest.get("url"),
            "html_url": format!("{home}/apps/{APP_SLUG}"),
            "created_at": time(now),
            "updated_at": time(now),
            "permissions": manifest.get("default_permissions"),
            "events": manifest.get("default_events"),
            "client_id": "Iv1.0000000000000000",
            "client_secret": "sandbox-client-secret",
            "webhook_secret": has_hook.then_some(WEBHOOK_SECRET),
            "pem": PRIVATE_KEY,
        }),
    )
    .plain())
}

fn page(status: StatusCode, words: &str) -> Response {
    let mut response = Response::new(Body::from(format!("<!doctype html><p>{words}</p>")));
    *response.status_mut() = status;
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, html);
    response
}
