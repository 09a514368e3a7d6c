//! Refusals that the OpenAPI document cannot tell, each with its field.
//! [`crate::matrix`] tries what every route, parameter and field of the document refuses.

use axum::http::Method;
use serde_json::json;

use crate::world::World;

/// A body of `POST /jobs`, and the code and field of its refusal.
const ORDERS: &[(&str, &str, &str)] = &[
    (
        r#"{"repo":"acme/shop","repo":"acme/shop","prompt":"x"}"#,
        "doubled_field",
        "repo",
    ),
    (
        r#"{"repo":"acme/none","prompt":"x"}"#,
        "unknown_name",
        "repo",
    ),
    (
        r#"{"repo":"acme/shop","prompt":"x","agent":"nobody"}"#,
        "unknown_name",
        "agent",
    ),
    (
        r#"{"repo":"acme/other","prompt":"x"}"#,
        "branch_missing",
        "branch",
    ),
    (
        r#"{"repo":"acme/shop","prompt":" \n "}"#,
        "prompt_empty",
        "prompt",
    ),
];

/// A body of `POST /jobs/{job}:say`, and the code and field of its refusal.
const MESSAGES: &[(&str, &str, &str)] = &[
    (r#"{"message":{"text":"x"}}"#, "unknown_field", "text"),
    (r#"{"message":"  "}"#, "message_empty", "message"),
];

#[tokio::test]
async fn bad_orders_and_messages_name_the_field() {
    let world = World::new().await;
    let refuses = async |path: &str, (body, code, field): (&str, &str, &str)| {
        let answer = world.call(Method::POST, path, (&[], body)).await;
        assert_eq!(answer.code(422), code, "{body}: {answer:?}");
        assert_eq!(answer.json()["field"], field, "{body}: {answer:?}");
    };
    for row in ORDERS {
        refuses("/jobs", *row).await;
    }
    assert_eq!(world.get("/jobs").await.ok(200)["jobs"], json!([]));
    let id = world.watched(|_| {}).await;
    world.messages().await;
    for row in MESSAGES {
        refuses(&format!("/jobs/{id}:say"), *row).await;
    }
    assert_eq!(world.messages().await, []);
}

#[tokio::test]
async fn the_offending_value_is_repeated_but_clipped_and_without_secrets() {
    let world = World::new().await;
    let long = "x".repeat(5_000);
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    for body in [
        json!({"repo": long, "prompt": "x"}),
        json!({"repo": "acme/shop", "prompt": "x", long.as_str(): 1}),
        json!({"repo": secret, "prompt": "x"}),
        json!({"repo": "acme/shop", "prompt": "x", secret: 1}),
    ] {
        let answer = world.post("/jobs", &body).await;
        assert_eq!(answer.status, 422);
        assert!(answer.text.len() < 3_000, "{}", answer.text.len());
        assert!(!answer.text.contains(secret), "{answer:?}");
    }
    let answer = world
        .post("/jobs", &json!({"repo": "shop", "prompt": "x"}))
        .await;
    assert!(answer.text.contains("`shop`"), "{answer:?}");
}

#[tokio::test]
async fn texts_that_are_too_long_are_refused_however_they_are_escaped() {
    let world = World::new().await;
    let id = world.watched(|_| {}).await;
    let say = format!("/jobs/{id}:say");
    let prompt = |text: String| json!({"repo": "acme/shop", "prompt": text});
    let message = |text: String| json!({"message": text});
    let over = world.post(
        "/jobs",
        &prompt("x".repeat(domain::job::PROMPT_BYTES_MAX + 1)),
    );
    assert_eq!(over.await.code(422), "prompt_too_long");
    let over = world.post(
        &say,
        &message("x".repeat(domain::job::MESSAGE_BYTES_MAX + 1)),
    );
    assert_eq!(over.await.code(422), "message_too_long");
    // Each of these bytes is six in JSON, and so in the record.
    let hidden = |bytes| format!("x{}x", "\u{1}".repeat(bytes));
    for bytes in [12_000, 19_000] {
        let answer = world.post("/jobs", &prompt(hidden(bytes))).await;
        assert!(answer.status.is_client_error(), "{answer:?}");
        let answer = world.post(&say, &message(hidden(bytes))).await;
        assert!(answer.status.is_client_error(), "{answer:?}");
    }
}

#[tokio::test]
async fn bad_parameters_are_named_with_their_value() {
    let world = World::new().await;
    for (query, field) in [
        ("limit=0", "limit"),
        ("repo=a/b/c", "repo"),
        ("cursor=j1.1.x", "cursor"),
        ("cursor=e1.1.", "cursor"),
    ] {
        let answer = world.get(&format!("/jobs?{query}")).await;
        assert_eq!(answer.code(400), "bad_parameter", "{query}");
        assert_eq!(answer.json()["field"], field);
    }
    let answer = world.get("/jobs?limit=ten").await;
    assert!(answer.text.contains("`ten`"), "{answer:?}");
    assert_eq!(world.get("/jobs?limit=200").await.status, 200);
}

#[tokio::test]
async fn names_that_nothing_has_are_not_found() {
    let world = World::new().await;
    let id = world.job("acme/shop").await;
    for name in ["01j00000000000000000000000", "123", "%2e%2e%2f"] {
        let answer = world.get(&format!("/jobs/{name}")).await;
        assert_eq!(answer.code(404), "no_such_job", "{name}");
    }
    assert_eq!(world.get("/jobs/%ff").await.code(400), "bad_path");
    let verb = world.post(&format!("/jobs/{id}:explode"), &json!({})).await;
    assert_eq!(verb.code(404), "no_such_verb");
    assert!(verb.text.contains("explode") && verb.text.contains("approve"));
    let bare = world.post(&format!("/jobs/{id}"), &json!({})).await;
    assert_eq!(bare.code(404), "no_such_verb");
    let effect = "0".repeat(32);
    let answer = world.get(&format!("/jobs/{id}/effects/{effect}")).await;
    assert_eq!(answer.code(404), "no_such_effect");
}

#[tokio::test]
async fn methods_that_a_path_does_not_know_are_told_with_those_it_does() {
    let world = World::new().await;
    for (method, path, allowed) in [
        (Method::DELETE, "/jobs", "GET,HEAD,POST"),
        (Method::PUT, "/jobs/1", "GET,HEAD,POST"),
        (Method::GET, "/jobs/1/merge", "POST"),
        (Method::POST, "/jobs/1/why", "GET,HEAD"),
        (Method::POST, "/status", "GET,HEAD"),
    ] {
        let answer = world.call(method.clone(), path, (&[], "")).await;
        assert_eq!(answer.code(405), "no_such_method", "{method} {path}");
        assert_eq!(answer.header("allow"), allowed, "{method} {path}");
    }
}
