//! `/mcp`: the tools over HTTP, one message a request, with the scope of its sender.

use std::time::Duration;

use api::ApiState;
use axum::http::Method;
use domain::token::{Rights, Scope};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::world::{Answer, SESSION, SHA, TOKEN, World};

/// What a message of MCP is sent with, as the specification asks.
const HEADERS: [(&str, &str); 2] = [
    ("content-type", "application/json"),
    ("accept", "application/json, text/event-stream"),
];

fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
}

fn call(tool: &str, arguments: Value) -> Value {
    request(
        "tools/call",
        json!({ "name": tool, "arguments": arguments }),
    )
}

fn hello(version: &str) -> Value {
    let client = json!({ "name": "test", "version": "1" });
    let hello = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
    request("initialize", hello)
}

async fn post(world: &World, path: &str, message: &Value) -> Answer {
    let sent = (&HEADERS[..], &*message.to_string());
    world.call(Method::POST, path, sent).await
}

/// What a message that is answered came to.
async fn answer_to(world: &World, message: &Value) -> Value {
    let answer = post(world, "/mcp", message).await;
    assert_eq!(answer.header("content-type"), "application/json");
    assert!(!answer.headers.contains_key("mcp-session-id"), "{answer:?}");
    let told = answer.ok(200);
    assert_eq!((&told["jsonrpc"], &told["id"]), (&json!("2.0"), &json!(7)));
    told
}

/// What a tool answers for programs.
pub(crate) async fn tool(world: &World, name: &str, arguments: Value) -> Value {
    let told = answer_to(world, &call(name, arguments)).await;
    told["result"]["structuredContent"].clone()
}

/// All that a tool answers, errors too, with every toolset shown.
pub(crate) async fn call_of(world: &World, name: &str, arguments: Value) -> Value {
    let path = "/mcp?toolsets=insight,inbox,deliveries,mail,sprint";
    post(world, path, &call(name, arguments)).await.ok(200)
}

async fn with(world: &World, token: &str, message: &Value) -> Answer {
    let (to, sent) = ((Method::POST, "/mcp"), message.to_string());
    world.call_as(token, to, (&HEADERS, &sent)).await
}

#[tokio::test]
async fn every_version_is_spoken_without_a_session() {
    let world = World::new().await;
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("latest", "2025-11-25"),
    ] {
        let told = answer_to(&world, &hello(asked)).await;
        assert_eq!(told["result"]["protocolVersion"], answered, "{told}");
        assert_eq!(told["result"]["serverInfo"]["name"], "zai-jules-mcp");
    }
    // Of the newest there is no greeting: each request says what its sender is.
    let version = "2026-07-28";
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let newest = [
        HEADERS[0],
        HEADERS[1],
        ("mcp-protocol-version", version),
        ("mcp-method", "tools/list"),
    ];
    let list = request("tools/list", json!({ "_meta": meta })).to_string();
    let answer = world.call(Method::POST, "/mcp", (&newest, &list)).await;
    assert_eq!(
        answer.ok(200)["result"]["tools"][0]["name"],
        "jules_create_job"
    );
    let twisted = [HEADERS[0], HEADERS[1], ("mcp-protocol-version", "1.0")];
    let answer = world.call(Method::POST, "/mcp", (&twisted, &list)).await;
    assert_eq!(answer.status, 400, "{answer:?}");
    let said = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let answer = post(&world, "/mcp", &said).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (202, ""));
}

#[tokio::test]
async fn tools_do_what_the_routes_do() {
    let world = World::new().await;
    let wanted =
        json!({ "repo": "acme/shop", "prompt": "Tidy the shop.", "idempotency_key": "once" });
    let made = answer_to(&world, &call("jules_create_job", wanted.clone())).await;
    let job = made["result"]["structuredContent"]["job_id"].clone();
    let again = answer_to(&world, &call("jules_create_job", wanted)).await;
    assert_eq!(again["result"]["structuredContent"]["job_id"], job);
    let path = format!("/jobs/{}", job.as_str().unwrap());
    assert_eq!(world.get(&path).await.ok(200)["state"], "queued");
    let told = answer_to(
        &world,
        &call("jules_get_job", json!({ "job_id": "nobody" })),
    )
    .await;
    let result = &told["result"];
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("jules_get_job: ") && text.contains("404"),
        "{text}"
    );
}

#[tokio::test]
async fn a_token_does_over_mcp_what_it_does_elsewhere() {
    let world = World::new().await;
    let id = world.watched(|_| {}).await;
    let mut tokens = Vec::new();
    for (name, scope) in [("looks", Scope::Read), ("orders", Scope::Write)] {
        tokens.push(world.token(name, Rights::new(scope, None)).await);
    }
    let looks = call("jules_get_job", json!({ "job_id": SESSION }));
    let orders = call("jules_cancel_job", json!({ "job_id": id.as_str() }));
    for token in &tokens {
        let shown = with(&world, token, &looks).await.ok(200);
        assert_eq!(shown["result"]["structuredContent"]["job_id"], id.as_str());
    }
    let refused = with(&world, &tokens[0], &orders).await.ok(200);
    let text = refused["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(refused["result"]["isError"], true);
    assert!(text.contains("403 scope_too_small"), "{text}");
    assert_eq!(
        world.get(&format!("/jobs/{id}")).await.ok(200)["state"],
        "working"
    );
    let done = with(&world, &tokens[1], &orders).await.ok(200);
    assert_eq!(done["result"]["isError"], false, "{done}");
    // Without a valid token not even the list is returned.
    for token in ["", "gaf_stranger", "AIzaSyA0123456789"] {
        let refused = with(&world, token, &request("tools/list", json!({}))).await;
        refused.code(401);
        assert!(refused.header("www-authenticate").starts_with("Bearer"));
    }
    world
        .backend
        .revoke_token(&"orders".parse().unwrap())
        .await
        .unwrap();
    assert_eq!(
        with(&world, &tokens[1], &looks).await.code(401),
        "token_revoked"
    );
}

#[tokio::test]
async fn nothing_is_merged_by_force() {
    let world = World::new().await;
    let id = world.watched(|_| {}).await;
    world.messages().await;
    for payload in [
        json!({ "force": true }),
        json!({ "sha": SHA, "force": true }),
    ] {
        let wanted = json!({ "job_id": id.as_str(), "payload": payload });
        let told = answer_to(&world, &call("jules_merge_pr", wanted)).await;
        let text = told["result"]["content"][0]["text"].as_str().unwrap();
        assert!(
            text.contains("`payload.force`: nothing can be forced"),
            "{text}"
        );
    }
    assert_eq!(world.messages().await.len(), 0);
}

#[tokio::test]
async fn only_messages_are_posted() {
    let world = World::new().await;
    for method in [Method::GET, Method::DELETE, Method::PUT] {
        let answer = world.call(method, "/mcp", (&HEADERS, "")).await;
        assert_eq!(answer.code(405), "no_such_method");
        assert_eq!(answer.header("allow"), "POST");
    }
    let ping = request("ping", json!({})).to_string();
    for (headers, status, code) in [
        (
            &[HEADERS[0], ("accept", "text/html")][..],
            406,
            "not_acceptable",
        ),
        (
            &[HEADERS[1], ("content-type", "text/plain")],
            415,
            "bad_content_type",
        ),
        (&[HEADERS[1]], 415, "bad_content_type"),
    ] {
        let answer = world.call(Method::POST, "/mcp", (headers, &ping)).await;
        assert_eq!(answer.code(status), code);
    }
    for path in [
        "/mcp?toolset=insight",
        "/mcp?toolsets=insight,merging",
        "/mcp?toolsets=%zz",
    ] {
        let answer = world.call(Method::POST, path, (&HEADERS, &ping)).await;
        assert!(["bad_parameter", "bad_query"].contains(&answer.code(400).as_str()));
    }
    let long = format!("{{\"x\": \"{}\"}}", "x".repeat(10 << 20));
    let answer = world.call(Method::POST, "/mcp", (&HEADERS, &long)).await;
    assert_eq!(answer.code(413), "too_large");
    // A client that accepts JSON, or does not say, gets JSON; one that accepts only events gets events.
    for headers in [&[HEADERS[0]][..], &[HEADERS[0], ("accept", "*/*")]] {
        let answer = world.call(Method::POST, "/mcp", (headers, &ping)).await;
        assert_eq!(answer.ok(200)["result"], json!({}));
    }
    let events = [HEADERS[0], ("accept", "text/event-stream")];
    let answer = world.call(Method::POST, "/mcp", (&events, &ping)).await;
    assert_eq!(answer.header("content-type"), "text/event-stream");
    assert!(
        answer
            .text
            .contains(r#"data: {"jsonrpc":"2.0","id":7,"result":{}}"#),
        "{answer:?}"
    );
}

#[tokio::test]
async fn what_is_no_request_of_a_tool_has_the_codes_of_json_rpc() {
    let world = World::new().await;
    for (body, code) in [
        ("{ this is no JSON", -32_700),
        ("", -32_700),
        ("[]", -32_600),
        ("7", -32_600),
        (r#"{"id": 7}"#, -32_600),
    ] {
        let answer = world.call(Method::POST, "/mcp", (&HEADERS, body)).await;
        let told = answer.ok(400);
        assert_eq!(told["error"]["code"], code, "{body}: {told}");
        assert_eq!(told["id"], Value::Null);
    }
    for (message, code, named) in [
        (request("jules/force", json!({})), -32_601, "jules/force"),
        (
            call("jules_force_merge", json!({})),
            -32_602,
            "jules_merge_pr",
        ),
        (call("jules_status", json!({})), -32_602, "toolsets=insight"),
        (request("tools/call", json!({})), -32_602, "`name`"),
        (
            request("tools/call", json!({ "name": 7 })),
            -32_602,
            "`name`",
        ),
        (call("jules_get_job", json!("x")), -32_602, "`arguments`"),
    ] {
        let told = answer_to(&world, &message).await;
        assert_eq!(told["error"]["code"], code, "{message}: {told}");
        let said = told["error"]["message"].as_str().unwrap();
        assert!(said.contains(named), "{said}");
    }
}

#[tokio::test]
async fn no_page_of_somebody_else_calls_a_tool() {
    let world = World::new().await;
    let ping = request("ping", json!({})).to_string();
    for (origin, host, may) in [
        ("http://localhost:6274", "127.0.0.1:4180", true),
        ("http://127.0.0.1", "127.0.0.1:4180", true),
        ("http://[::1]:8080", "127.0.0.1:4180", true),
        ("https://gaffer.example", "gaffer.example", true),
        ("https://evil.example", "gaffer.example", false),
        // A name that was made to lead here.
        ("http://evil.example:4180", "evil.example:4180", false),
        ("http://localhost.evil.example", "127.0.0.1:4180", false),
        ("null", "127.0.0.1:4180", false),
        ("localhost", "127.0.0.1:4180", false),
        ("", "", false),
    ] {
        let headers = [HEADERS[0], HEADERS[1], ("origin", origin), ("host", host)];
        let answer = world.call(Method::POST, "/mcp", (&headers, &ping)).await;
        if may {
            assert_eq!(answer.ok(200)["result"], json!({}), "{origin}");
        } else {
            assert_eq!(answer.code(403), "foreign_origin", "{origin}");
        }
    }
}

#[tokio::test]
async fn toolsets_are_shown_to_whoever_asks() {
    let world = World::new().await;
    let list = request("tools/list", json!({}));
    let names = async |path: &str| {
        let told = post(&world, path, &list).await.ok(200);
        let tools = told["result"]["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let usual = names("/mcp").await;
    assert!(!usual.contains(&"jules_status".to_owned()));
    let more = names("/mcp?toolsets=insight,inbox").await;
    assert!(more.starts_with(&usual));
    assert_eq!(
        more[usual.len()..],
        [
            "jules_status",
            "jules_why",
            "jules_list_events",
            "jules_take_wakes",
            "jules_extend_wake",
            "jules_return_wake"
        ]
    );
    let status = call("jules_status", json!({}));
    let told = post(&world, "/mcp?toolsets=insight", &status).await.ok(200);
    assert_eq!(
        told["result"]["structuredContent"]["observe_only"], false,
        "{told}"
    );
}

#[tokio::test(start_paused = true)]
async fn where_no_answer_is_held_open_waiting_only_looks() {
    let world = World::new().await;
    let wait = call("jules_wait_event", json!({ "seconds": 45 }));
    let began = Instant::now();
    let first = answer_to(&world, &wait).await["result"]["structuredContent"].clone();
    assert_eq!(first["events"], json!([]));
    let on = json!({ "seconds": 45, "cursor": first["cursor"] });
    answer_to(&world, &call("jules_wait_event", on)).await;
    assert_eq!(began.elapsed().as_secs(), 0);
}

#[tokio::test(start_paused = true)]
async fn where_answers_are_held_open_waiting_ends_with_the_process() {
    let world = World::new().await;
    let (stop, stopped) = watch::channel(false);
    let state = ApiState::new(world.backend.clone(), vec![TOKEN.into()]).holding(stopped);
    let held = World {
        router: api::router(state),
        ..world
    };
    let wait = call("jules_wait_event", json!({ "seconds": 45 }));
    let began = Instant::now();
    let mut waiting = Box::pin(answer_to(&held, &wait));
    assert!(
        timeout(Duration::from_secs(30), &mut waiting)
            .await
            .is_err()
    );
    stop.send_replace(true);
    let waited = waiting.await;
    assert_eq!(began.elapsed().as_secs(), 30);
    assert_eq!(waited["result"]["isError"], false, "{waited}");
    let late = answer_to(&held, &call("jules_get_job", json!({ "job_id": "1" }))).await;
    let text = late["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("503 stopping"), "{text}");
}
