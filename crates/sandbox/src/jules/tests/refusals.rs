//! What Jules refuses, and in which words.

use serde_json::{Value, json};

use crate::jules::{AccountSetup, BadKey};
use crate::tests::stand::{Stand, body, read, steps, string};
use crate::{DEFAULT_KEY, Scenario};

#[tokio::test]
async fn create_time_as_a_parameter_is_refused_in_the_live_words() {
    let stand = Stand::playing(steps(json!([]))).await;
    let id = stand.create().await;
    let path = format!("/sessions/{id}/activities?createTime=2026-11-20T10:00:00Z");
    let (code, status, message) = stand.get(&path).await.refusal();
    assert_eq!((code, status.as_str()), (400, "INVALID_ARGUMENT"));
    assert_eq!(
        message,
        "Unknown name \"createTime\": Cannot bind query parameter. \
         Field 'createTime' could not be found in request message."
    );
}

#[tokio::test]
async fn wrong_bodies_of_create_are_refused_and_make_nothing() {
    let stand = Stand::playing(steps(json!([]))).await;
    let with = |pointer: &str, name: &str, value: Value| {
        let mut ask = body();
        ask.pointer_mut(pointer).unwrap()[name] = value;
        ask
    };
    let without = |pointer: &str, name: &str| {
        let mut ask = body();
        ask.pointer_mut(pointer)
            .unwrap()
            .as_object_mut()
            .unwrap()
            .remove(name);
        ask
    };
    let wrong = [
        (
            with("", "automationMode", json!("MANUAL")),
            "session.automation_mode",
        ),
        (
            with("", "automationMode", json!(7)),
            "session.automation_mode",
        ),
        (with("", "intent", json!("x")), "session"),
        (
            with("", "requirePlanApproval", json!("yes")),
            "session.require_plan_approval",
        ),
        (with("", "prompt", json!(1)), "session.prompt"),
        (without("", "prompt"), "session.prompt"),
        (
            with("/sourceContext", "repo", json!("x")),
            "session.source_context",
        ),
        (
            with("/sourceContext/githubRepoContext", "base", json!("x")),
            "session.source_context.github_repo_context",
        ),
        (
            without("/sourceContext", "source"),
            "session.source_context.source",
        ),
    ];
    for (ask, field) in wrong {
        let reply = stand.post("/sessions", &ask).await;
        assert_eq!(reply.refusal().1, "INVALID_ARGUMENT", "{ask}");
        let detail = reply.json()["error"]["details"][0].clone();
        assert_eq!(detail["@type"], "type.googleapis.com/google.rpc.BadRequest");
        assert_eq!(detail["fieldViolations"][0]["field"], field);
    }
    assert_eq!(stand.sandbox.counters().creates, 0);
    assert_eq!(stand.sandbox.counters().create_calls, 9);
}

#[tokio::test]
async fn the_enum_is_refused_in_the_live_words() {
    let stand = Stand::playing(steps(json!([]))).await;
    let mut ask = body();
    ask["automationMode"] = json!("MANUAL");
    assert_eq!(
        stand.post("/sessions", &ask).await.refusal().2,
        "Invalid value at 'session.automation_mode' \
         (type.googleapis.com/google.labs.jules.v1alpha.AutomationMode), \"MANUAL\""
    );
}

#[tokio::test]
async fn a_source_needs_a_starting_branch_and_must_exist() {
    let stand = Stand::playing(steps(json!([]))).await;
    let mut ask = body();
    ask["sourceContext"] = json!({ "source": "sources/github/acme/shop" });
    assert_eq!(
        stand.post("/sessions", &ask).await.refusal().1,
        "INVALID_ARGUMENT"
    );
    let branch = json!({ "startingBranch": "main" });
    for source in ["sources/github/acme/else", "sources/github-acme-shop"] {
        ask["sourceContext"] = json!({ "source": source, "githubRepoContext": branch });
        assert_eq!(stand.post("/sessions", &ask).await.refusal().1, "NOT_FOUND");
    }
}

#[tokio::test]
async fn what_does_not_exist_is_not_found() {
    let stand = Stand::playing(steps(json!([{ "stall": {} }]))).await;
    let id = stand.create().await;
    stand.pass(1_000);
    for verb in ["pause", "resume", "cancelPlan", "rejectPlan"] {
        let reply = stand
            .post(&format!("/sessions/{id}:{verb}"), &json!({}))
            .await;
        assert_eq!(reply.refusal().1, "NOT_FOUND", "{verb}");
    }
    let encoded = format!("/sessions/{id}%3AsendMessage");
    assert_eq!(
        stand.post(&encoded, &json!({ "prompt": "x" })).await.status,
        404
    );
    let patch = read(
        stand
            .request("PATCH", &format!("/sessions/{id}"))
            .json(&json!({})),
    )
    .await;
    assert_eq!(patch.status, 404);
    for path in [
        "/sessions/1",
        "/sessions/1/activities",
        &format!("/sessions/{id}/activities/1"),
    ] {
        let message = "Requested entity was not found.".to_owned();
        assert_eq!(
            stand.get(path).await.refusal(),
            (404, "NOT_FOUND".to_owned(), message)
        );
    }
    assert_eq!(stand.say("1", "x").await.status, 404);
    assert_eq!(stand.sandbox.counters().messages, 0);
}

#[tokio::test]
async fn a_message_is_called_prompt() {
    let stand = Stand::playing(steps(json!([{ "stall": {} }]))).await;
    let id = stand.create().await;
    stand.pass(1_000);
    let reply = stand
        .post(
            &format!("/sessions/{id}:sendMessage"),
            &json!({ "message": "x" }),
        )
        .await;
    assert_eq!(reply.refusal().1, "INVALID_ARGUMENT");
    let broken = stand
        .request("POST", &format!("/sessions/{id}:sendMessage"))
        .body("{");
    assert_eq!(read(broken).await.refusal().1, "INVALID_ARGUMENT");
}

#[tokio::test]
async fn a_wrong_key_is_refused_in_one_of_two_ways() {
    let mut stand = Stand::playing(steps(json!([]))).await;
    stand.key = "wrong".to_owned();
    assert_eq!(stand.get("/sessions").await.refusal().1, "UNAUTHENTICATED");
    stand.switch(|it| it.bad_key = BadKey::Invalid);
    let reply = stand.get("/sessions").await;
    assert_eq!(reply.refusal().0, 400);
    assert_eq!(
        reply.json()["error"]["details"][0]["reason"],
        "API_KEY_INVALID"
    );
}

#[tokio::test]
async fn keys_are_taken_from_header_or_query_but_never_as_bearer() {
    let stand = Stand::playing(steps(json!([]))).await;
    let url = format!("{}/sessions", stand.sandbox.jules_base());
    assert_eq!(read(stand.http.get(&url)).await.status, 401);
    assert_eq!(
        read(stand.http.get(format!("{url}?key={DEFAULT_KEY}")))
            .await
            .status,
        200
    );
    assert_eq!(
        read(stand.http.get(&url).bearer_auth(DEFAULT_KEY))
            .await
            .status,
        401
    );
    let both = stand
        .http
        .get(&url)
        .bearer_auth("x")
        .header("x-goog-api-key", DEFAULT_KEY);
    assert_eq!(read(both).await.status, 401);
}

#[tokio::test]
async fn a_disabled_key_gets_401_for_everything() {
    let stand = Stand::playing(steps(json!([]))).await;
    let id = stand.create().await;
    stand.switch(|it| it.disabled_accounts = vec!["default".to_owned()]);
    assert_eq!(stand.get(&format!("/sessions/{id}")).await.status, 401);
    assert_eq!(stand.post("/sessions", &body()).await.status, 401);
    assert_eq!(stand.sandbox.counters().creates, 1);
}

#[tokio::test]
async fn sessions_are_seen_only_by_their_account() {
    let other = AccountSetup {
        name: "other".to_owned(),
        key: "other-key".to_owned(),
        ..AccountSetup::default()
    };
    let accounts = vec![AccountSetup::default(), other];
    let mut stand = Stand::new(Scenario {
        accounts,
        ..Scenario::default()
    })
    .await;
    let id = stand.create().await;
    stand.pass(1_000);
    stand.key = "other-key".to_owned();
    assert_eq!(stand.get("/sessions").await.text, "{}");
    assert_eq!(stand.get(&format!("/sessions/{id}")).await.status, 404);
    assert_eq!(stand.say(&id, "x").await.status, 404);
    assert_eq!(stand.delete(&format!("/sessions/{id}")).await.status, 404);
    let own = string(&stand.post("/sessions", &body()).await.json()["id"]);
    assert_ne!(own, id);
}
