//! Tokens with a scope.

use axum::http::Method;
use domain::ids::TokenName;
use domain::token::{Rights, Scope};
use engine::backend::Backend;
use jiff::SignedDuration;
use serde_json::json;

use crate::world::{Answer, World};

const SCOPES: [Scope; 3] = [Scope::Read, Scope::Write, Scope::Admin];

async fn made(
    backend: &Backend,
    name: &str,
    scope: Scope,
    lasts: Option<SignedDuration>,
) -> String {
    let name: TokenName = name.parse().unwrap();
    let made = backend
        .create_token(&name, Rights::new(scope, None), lasts, [7; 32])
        .await;
    made.unwrap().1
}

async fn shown(world: &World, token: &str, (method, path, body): (Method, &str, &str)) -> Answer {
    world.call_as(token, (method, path), (&[], body)).await
}

/// Every route behind the API, and which scope it needs.
const ROUTES: [(&str, &str, Scope); 26] = [
    ("GET", "/status", Scope::Read),
    ("GET", "/metrics", Scope::Read),
    ("GET", "/events", Scope::Read),
    ("GET", "/jobs", Scope::Read),
    ("GET", "/jobs/x", Scope::Read),
    ("GET", "/jobs/x/why", Scope::Read),
    ("GET", "/jobs/x/events", Scope::Read),
    ("GET", "/jobs/x/artifacts", Scope::Read),
    ("GET", "/jobs/x/effects/1", Scope::Read),
    ("GET", "/pulls/a/b/7/why", Scope::Read),
    ("GET", "/nothing", Scope::Read),
    ("POST", "/jobs", Scope::Write),
    ("POST", "/jobs/adopt", Scope::Write),
    ("POST", "/jobs/x:say", Scope::Write),
    ("POST", "/jobs/x/messages", Scope::Write),
    ("POST", "/jobs/x/approve", Scope::Write),
    ("POST", "/jobs/x/merge", Scope::Write),
    ("POST", "/jobs/x/cancel", Scope::Write),
    ("POST", "/jobs/x/retry", Scope::Write),
    ("POST", "/webhooks/jules", Scope::Write),
    ("POST", "/agents/zai/take", Scope::Write),
    ("POST", "/events/x/ack", Scope::Write),
    ("POST", "/events/x/extend", Scope::Write),
    ("POST", "/events/x/return", Scope::Write),
    ("DELETE", "/jobs/x", Scope::Write),
    ("POST", "/nothing", Scope::Write),
];

#[tokio::test]
async fn a_token_does_what_its_scope_allows_and_nothing_more() {
    let world = World::new().await;
    for has in SCOPES {
        let token = made(&world.backend, has.word(), has, None).await;
        for (method, path, needs) in ROUTES {
            let asked = (method.parse().unwrap(), path, "{}");
            let answer = shown(&world, &token, asked).await;
            if has >= needs {
                assert!(
                    ![401, 403].contains(&answer.status.as_u16()),
                    "{path}: {answer:?}"
                );
                continue;
            }
            assert_eq!(answer.code(403), "scope_too_small", "{method} {path}");
            let detail = answer.json()["detail"].as_str().unwrap().to_owned();
            assert!(
                detail.contains("`read`") && detail.contains("`write`"),
                "{detail}"
            );
        }
    }
}

#[tokio::test]
async fn taking_a_session_over_is_for_admins() {
    let world = World::new().await;
    let order = json!({"session_id": "1", "repo": "acme/shop", "take_over": true}).to_string();
    let adopt = || (Method::POST, "/jobs/adopt", order.as_str());
    let token = made(&world.backend, "write", Scope::Write, None).await;
    let refused = shown(&world, &token, adopt()).await;
    assert_eq!(refused.code(403), "scope_too_small");
    assert!(world.messages().await.is_empty());
}

#[tokio::test]
async fn a_token_that_is_over_opens_nothing() {
    let world = World::new().await;
    let look = || (Method::GET, "/jobs", "");
    let hour = SignedDuration::from_hours(1);
    let token = made(&world.backend, "ci", Scope::Read, Some(hour)).await;
    shown(&world, &token, look()).await.ok(200);
    // Knowing the name of a token is of no use.
    for other in [token.replace("07", "08"), token.replace("ci", "cd")] {
        assert_eq!(shown(&world, &other, look()).await.code(401), "wrong_token");
    }
    world.clock.advance(hour);
    assert_eq!(
        shown(&world, &token, look()).await.code(401),
        "token_expired"
    );
    let name: TokenName = "other".parse().unwrap();
    let token = made(&world.backend, "other", Scope::Admin, None).await;
    shown(&world, &token, look()).await.ok(200);
    world.backend.revoke_token(&name).await.unwrap();
    assert_eq!(
        shown(&world, &token, look()).await.code(401),
        "token_revoked"
    );
}

#[tokio::test(start_paused = true)]
async fn an_order_says_which_token_gave_it() {
    let world = World::new().await;
    let id = world
        .watched(|watch| watch.unconfirmed_since = Some(watch.since))
        .await;
    let token = made(&world.backend, "zai", Scope::Write, None).await;
    let say = format!("/jobs/{id}:say");
    let named = async |key: &str| {
        let body = json!({"message": "Go on."}).to_string();
        let named = [("idempotency-key", key)];
        world
            .call_as(&token, (Method::POST, &say), (&named, &body))
            .await
    };
    for key in ["once", "once", "twice"] {
        assert!(named(key).await.status.is_success());
    }
    let orders = world.get(&format!("/jobs/{id}")).await.ok(200)["orders"].clone();
    let given = |order: &serde_json::Value| (order["order"].clone(), order["by"].clone());
    let told: Vec<_> = orders.as_array().unwrap().iter().map(given).collect();
    let said = (json!("say"), json!("token zai over HTTP"));
    assert_eq!(told, [said.clone(), said], "a repetition is no other order");
    let why = world.get(&format!("/jobs/{id}/why")).await;
    assert!(why.text.contains("by token zai"), "{why:?}");
    let body = json!({"by": "dora"}).to_string();
    let cancel = (Method::POST, &*format!("/jobs/{id}/cancel"), &*body);
    let ended = shown(&world, &token, cancel).await.ok(200);
    assert_eq!(ended["ended"]["by"], "dora (token zai) over HTTP");
    assert_eq!(ended["orders"][2]["by"], "dora (token zai) over HTTP");
}
