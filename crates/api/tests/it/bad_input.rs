//! A table of everything that is wrong, and how the door names it: always 4xx, always with the field.

use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::json;

use crate::world::{TOKEN, World, send};

/// A body of `POST /jobs`, and the status, code and field of its refusal.
const ORDERS: &[(&str, u16, &str, Option<&str>)] = &[
    ("", 400, "bad_json", None),
    ("   ", 400, "bad_json", None),
    ("{", 400, "bad_json", None),
    ("nonsense", 400, "bad_json", None),
    ("null", 400, "bad_json", None),
    (r#"["acme/shop",null,"x"]"#, 400, "bad_json", None),
    (
        r#"{"repo":"acme/shop","prompt":"x"} {}"#,
        400,
        "bad_json",
        None,
    ),
    (
        r#"{"repo":"acme/shop","prompt":"x",}"#,
        400,
        "bad_json",
        None,
    ),
    ("{}", 422, "missing_field", Some("repo")),
    (
        r#"{"repo":"acme/shop"}"#,
        422,
        "missing_field",
        Some("prompt"),
    ),
    (r#"{"repo":5,"prompt":"x"}"#, 422, "bad_field", Some("repo")),
    (
        r#"{"repo":"shop","prompt":"x"}"#,
        422,
        "bad_field",
        Some("repo"),
    ),
    (
        r#"{"repo":"a/../b","prompt":"x"}"#,
        422,
        "bad_field",
        Some("repo"),
    ),
    (
        r#"{"repo":"acme/shop","prompt":["x"]}"#,
        422,
        "bad_field",
        Some("prompt"),
    ),
    (
        r#"{"repo":"acme/shop","prompt":"x","branch":"a..b"}"#,
        422,
        "bad_field",
        Some("branch"),
    ),
    (
        r#"{"repo":"acme/shop","prompt":"x","agent":"Z AI"}"#,
        422,
        "bad_field",
        Some("agent"),
    ),
    (
        r#"{"repo":"acme/shop","prompt":"x","title":7}"#,
        422,
        "bad_field",
        Some("title"),
    ),
    (
        r#"{"repo":"acme/shop","prompt":"x","brunch":"y"}"#,
        422,
        "unknown_field",
        Some("brunch"),
    ),
    (
        r#"{"repo":"acme/shop","repo":"acme/shop","prompt":"x"}"#,
        422,
        "doubled_field",
        Some("repo"),
    ),
    (
        r#"{"repo":"acme/none","prompt":"x"}"#,
        422,
        "unknown_name",
        Some("repo"),
    ),
    (
        r#"{"repo":"acme/shop","prompt":"x","agent":"nobody"}"#,
        422,
        "unknown_name",
        Some("agent"),
    ),
    (
        r#"{"repo":"acme/other","prompt":"x"}"#,
        422,
        "branch_missing",
        Some("branch"),
    ),
    (
        r#"{"repo":"acme/shop","prompt":" \n "}"#,
        422,
        "prompt_empty",
        Some("prompt"),
    ),
];

/// A verb with a body, and the status, code and field of its refusal.
const VERBS: &[(&str, &str, u16, &str, Option<&str>)] = &[
    ("say", "", 400, "bad_json", None),
    ("say", "{}", 422, "missing_field", Some("message")),
    ("say", r#"{"message":5}"#, 422, "bad_field", Some("message")),
    (
        "say",
        r#"{"message":{"text":"x"}}"#,
        422,
        "unknown_field",
        Some("text"),
    ),
    (
        "say",
        r#"{"message":"  "}"#,
        422,
        "message_empty",
        Some("message"),
    ),
    (
        "say",
        r#"{"message":"x","force":true}"#,
        422,
        "unknown_field",
        Some("force"),
    ),
    ("merge", r#"{"sha":"abc"}"#, 422, "bad_field", Some("sha")),
    (
        "merge",
        r#"{"force":true}"#,
        422,
        "never_forced",
        Some("force"),
    ),
    ("merge", "[]", 400, "bad_json", None),
    (
        "approve",
        r#"{"plan":"x"}"#,
        422,
        "unknown_field",
        Some("plan"),
    ),
    ("cancel", r#"{"by":5}"#, 422, "bad_field", Some("by")),
    (
        "retry",
        r#"{"now":true}"#,
        422,
        "unknown_field",
        Some("now"),
    ),
];

#[tokio::test]
async fn bad_orders_name_the_field() {
    let world = World::new().await;
    for (body, status, code, field) in ORDERS {
        let answer = world.call(Method::POST, "/jobs", (&[], body)).await;
        assert_eq!(answer.code(*status), *code, "{body}: {answer:?}");
        assert_eq!(
            answer.json()["field"].as_str(),
            *field,
            "{body}: {answer:?}"
        );
    }
    assert_eq!(world.get("/jobs").await.ok(200)["jobs"], json!([]));
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
    let body = format!(r#"{{"message":"{}"}}"#, "x".repeat(1024 * 1024));
    for path in ["/jobs", &say] {
        let answer = world.call(Method::POST, path, (&[], &body)).await;
        assert_eq!(answer.code(413), "too_large");
    }
}

#[tokio::test]
async fn bad_messages_and_other_orders_name_the_field() {
    let world = World::new().await;
    let id = world.watched(|_| {}).await;
    for (verb, body, status, code, field) in VERBS {
        let answer = world
            .call(Method::POST, &format!("/jobs/{id}:{verb}"), (&[], body))
            .await;
        assert_eq!(answer.code(*status), *code, "{verb} {body}: {answer:?}");
        assert_eq!(answer.json()["field"].as_str(), *field, "{verb} {body}");
    }
    let event = format!("/events/evt_{}/ack", "0".repeat(32));
    for (path, body, status, code, field) in [
        (
            "/events/nothing/ack",
            r#"{"agent":"zai"}"#,
            400,
            "bad_id",
            "event_id",
        ),
        (
            event.as_str(),
            r#"{"agent":"Z"}"#,
            422,
            "bad_field",
            "agent",
        ),
        (event.as_str(), "{}", 422, "missing_field", "agent"),
    ] {
        let answer = world.call(Method::POST, path, (&[], body)).await;
        assert_eq!(answer.code(status), code, "{path} {body}");
        assert_eq!(answer.json()["field"], field);
    }
}

#[tokio::test]
async fn bad_parameters_are_named_with_their_value() {
    let world = World::new().await;
    for (query, field) in [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=-1", "limit"),
        ("limit=ten", "limit"),
        ("limit=", "limit"),
        ("limit=99999999999999999999", "limit"),
        ("repo=shop", "repo"),
        ("repo=", "repo"),
        ("repo=a/b/c", "repo"),
        ("cursor=", "cursor"),
        ("cursor=x", "cursor"),
        ("cursor=j1.1.x", "cursor"),
        ("cursor=e1.1.", "cursor"),
        ("colour=red", "colour"),
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
    let long = "x".repeat(3_000);
    for name in [
        "01j00000000000000000000000",
        "123",
        "no.such",
        "%2e%2e%2f",
        "%00",
        "a%20b",
        long.as_str(),
    ] {
        for rest in ["", "/why", "/events", "/artifacts"] {
            let answer = world.get(&format!("/jobs/{name}{rest}")).await;
            assert_eq!(answer.code(404), "no_such_job", "{name}{rest}");
            assert!(answer.text.len() < 1_500, "{}", answer.text.len());
        }
        let answer = world.post(&format!("/jobs/{name}:retry"), &json!({})).await;
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
    let answer = world.get(&format!("/jobs/{id}/effects/x")).await;
    assert_eq!(answer.code(400), "bad_id");
    assert_eq!(answer.json()["field"], "effect_id");
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

#[tokio::test]
async fn bad_names_of_orders_are_refused() {
    let world = World::new().await;
    let order = json!({"repo": "acme/shop", "prompt": "x"}).to_string();
    let long = "k".repeat(256);
    for headers in [
        vec![("idempotency-key", "")],
        vec![("idempotency-key", "  ")],
        vec![("idempotency-key", long.as_str())],
        vec![("idempotency-key", "ä")],
        vec![("idempotency-key", "a"), ("idempotency-key", "b")],
    ] {
        let answer = world.call(Method::POST, "/jobs", (&headers, &order)).await;
        assert_eq!(answer.code(400), "bad_idempotency_key", "{headers:?}");
        assert_eq!(answer.json()["field"], "idempotency-key");
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_are_refused() {
    let world = World::new().await;
    let body: &[u8] = b"{\"repo\":\"acme/shop\",\"prompt\":\"\xff\xfe\"}";
    let request = Request::post("/jobs")
        .header("authorization", format!("Bearer {TOKEN}"))
        .body(Body::from(body))
        .unwrap();
    let answer = send(&world.router, request).await;
    assert_eq!(answer.code(400), "bad_json");
    let deep = format!(
        r#"{{"message":{}1{}}}"#,
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    let answer = world.call(Method::POST, "/jobs/1:say", (&[], &deep)).await;
    assert!(answer.status.is_client_error(), "{answer:?}");
}
