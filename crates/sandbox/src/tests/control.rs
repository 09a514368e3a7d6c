//! Tests of control over HTTP.

use serde_json::json;

use crate::tests::stand::{Stand, string};
use crate::{DEFAULT_REPO, Scenario};

#[tokio::test]
async fn state_counters_and_log_are_told() {
    let stand = Stand::new(Scenario::default()).await;
    let id = stand.create().await;
    stand.pass(10_000);
    let state = stand.control("GET", "/state", None).await.json();
    assert_eq!(state["sessions"][0]["id"], id);
    assert_eq!(state["sessions"][0]["state"], "COMPLETED");
    assert_eq!(state["pulls"][0]["pull"]["number"], 1);
    assert_eq!(state["switches"]["delete_frees_slot"], true);
    let counters = stand.control("GET", "/counters", None).await.json();
    assert_eq!(
        (&counters["creates"], &counters["merges"]),
        (&json!(1), &json!(0))
    );
    let log = stand.control("GET", "/log", None).await.json();
    assert_eq!(log["requests"][0]["service"], "jules");
    assert_eq!(log["requests"][0]["method"], "POST");
    assert_eq!(
        log["requests"].as_array().unwrap().len(),
        1,
        "control leaves no trace"
    );
}

#[tokio::test]
async fn faults_and_lags_are_switched() {
    let stand = Stand::new(Scenario::default()).await;
    let fault = r#"{ "service": "jules", "method": "GET", "kind": { "status": { "code": 500 } } }"#;
    let told = stand.order("/faults", fault).await;
    assert_eq!(told.status, 200);
    assert_eq!(stand.get("/sessions").await.status, 500);
    assert_eq!(stand.control("DELETE", "/faults", None).await.status, 200);
    assert_eq!(stand.get("/sessions").await.status, 200);
    stand.order("/lags", r#"{ "create": "5s" }"#).await;
    let id = stand.create().await;
    assert_eq!(stand.get(&format!("/sessions/{id}")).await.status, 404);
    let told = stand.control("GET", "/faults", None).await.json();
    assert_eq!(told["lags"]["create"], "PT5S");
}

#[tokio::test]
async fn switches_not_named_stay() {
    let stand = Stand::new(Scenario::default()).await;
    stand.order("/switches", r#"{ "pull_refs": false }"#).await;
    stand.order("/switches", r#"{ "wake_after": "95s" }"#).await;
    let switches = stand.sandbox.jules().switches();
    assert!(!switches.pull_refs);
    assert_eq!(switches.wake_after, jiff::SignedDuration::from_secs(95));
}

#[tokio::test]
async fn sessions_are_made_and_led_on() {
    let stand = Stand::new(Scenario::default()).await;
    let made = stand
        .order("/sessions", r#"{ "title": "By hand", "count": 2 }"#)
        .await;
    let id = string(&made.json()["ids"][1]);
    assert_eq!(stand.session(&id).await["title"], "By hand");
    let steps = r#"[{ "ask": { "text": "Now?" } }, { "complete": {} }]"#;
    let path = format!("/sessions/{id}/steps");
    assert_eq!(stand.order(&path, steps).await.status, 200);
    assert_eq!(stand.state(&id).await, "AWAITING_USER_FEEDBACK");
    let told = stand.order("/sessions/1/steps", "[]").await;
    assert_eq!(told.status, 404);
    let pulls = stand.order("/pulls", r#"{ "count": 3 }"#).await.json();
    assert_eq!(pulls["numbers"], json!([1, 2, 3]));
    assert_eq!(stand.sandbox.github().pulls(DEFAULT_REPO), [1, 2, 3]);
}

#[tokio::test]
async fn webhooks_and_agents_are_set() {
    let stand = Stand::new(Scenario::default()).await;
    let target = format!(
        r#"{{ "target": {{ "url": "{}", "secret": "s" }} }}"#,
        stand.sandbox.agent_url("hook")
    );
    stand.order("/webhooks", &target).await;
    stand
        .order("/webhooks", r#"{ "faults": { "double": true } }"#)
        .await;
    stand
        .order("/agents/hook", r#"{ "statuses": [202] }"#)
        .await;
    stand.order("/pulls", "{}").await;
    let told = stand.order("/advance", "{}").await.json();
    let posted = told["webhooks_posted"].as_u64().unwrap();
    assert!(posted >= 2 && posted % 2 == 0, "each twice: {posted}");
    let received = stand.control("GET", "/agents/hook", None).await.json();
    assert_eq!(received["received"][0]["status"], 202);
    let deliveries = stand.control("GET", "/webhooks", None).await.json();
    assert_eq!(
        deliveries["deliveries"]
            .as_array()
            .map(|it| it.len() as u64),
        Some(posted)
    );
}

#[tokio::test]
async fn bad_input_is_answered_400_naming_the_field() {
    let stand = Stand::new(Scenario::default()).await;
    for (path, body, field) in [
        (
            "/faults",
            r#"{ "service": "mail", "kind": "cut_before" }"#,
            "service",
        ),
        ("/switches", r#"{ "delete": "maybe" }"#, "delete"),
        ("/switches", r#"{ "no_such_switch": 1 }"#, "no_such_switch"),
        ("/sessions", r#"{ "account": "nobody" }"#, "account"),
        ("/sessions", r#"{ "id": "s-1" }"#, "id"),
        ("/sessions/1/steps", r#"[{ "dance": {} }]"#, "[0]"),
        ("/webhooks", r#"{ "target": { "url": 1 } }"#, "target.url"),
        ("/pulls", r#"{ "repo": "a/b" }"#, "repo"),
        ("/lags", r#"{ "create": "soon" }"#, "create"),
        ("/agents/ada", "not json", "."),
        ("/advance", r#"{ "seconds": 5 }"#, "seconds"),
        ("/advance", "[]", "sequence"),
    ] {
        let reply = stand.order(path, body).await;
        assert_eq!(reply.status, 400, "{path} {body}");
        let error = reply.json()["error"].clone();
        let named = string(&error["field"]);
        let problem = string(&error["problem"]);
        assert!(
            named.starts_with(field) || problem.contains(field),
            "{body}: {error}"
        );
    }
}
