//! Read-after-write lags: what was written is not seen for a while.

use jiff::SignedDuration;
use serde_json::json;

use crate::Lags;
use crate::tests::stand::{Stand, body, steps};

const LAG: SignedDuration = SignedDuration::from_secs(4);

#[tokio::test]
async fn a_fresh_session_is_not_found_for_a_while() {
    let stand = Stand::playing(steps(json!([{ "plan": {} }, { "stall": {} }]))).await;
    stand.sandbox.faults().set_lags(Lags {
        create: LAG,
        ..Lags::default()
    });
    let mut ask = body();
    ask["requirePlanApproval"] = json!(true);
    let id = stand.post("/sessions", &ask).await.id();
    stand.pass(3_999);
    assert_eq!(stand.get(&format!("/sessions/{id}")).await.status, 404);
    assert_eq!(
        stand
            .get(&format!("/sessions/{id}/activities"))
            .await
            .status,
        404
    );
    assert_eq!(stand.say(&id, "x").await.status, 404);
    assert_eq!(stand.approve(&id).await.status, 404);
    assert!(
        stand.get("/sessions").await.text.contains(&id),
        "the list is another index"
    );
    stand.pass(1);
    assert_eq!(stand.get(&format!("/sessions/{id}")).await.status, 200);
    assert_eq!(
        stand
            .get(&format!("/sessions/{id}/activities"))
            .await
            .status,
        200
    );
    assert_eq!(stand.approve(&id).await.status, 200);
    assert_eq!(stand.say(&id, "x").await.status, 200);
    assert_eq!(stand.sandbox.counters().messages, 1);
}

#[tokio::test]
async fn a_session_may_be_in_no_list_at_all() {
    let stand = Stand::playing(steps(json!([]))).await;
    let id = stand.create().await;
    let prompt = stand.sandbox.jules().sessions()[0].prompt.clone();
    stand.sandbox.jules().unlist(Some(&prompt));
    assert_eq!(stand.get("/sessions").await.text, "{}");
    assert_eq!(stand.get(&format!("/sessions/{id}")).await.status, 200);
    stand.sandbox.jules().unlist(None);
    assert!(stand.get("/sessions").await.text.contains(&id));
}

#[tokio::test]
async fn a_fresh_session_is_missing_in_the_list_for_a_while() {
    let stand = Stand::playing(steps(json!([]))).await;
    stand.sandbox.faults().set_lags(Lags {
        list: LAG,
        ..Lags::default()
    });
    let id = stand.create().await;
    stand.pass(3_999);
    assert_eq!(stand.get("/sessions").await.text, "{}");
    assert_eq!(stand.get(&format!("/sessions/{id}")).await.status, 200);
    stand.pass(1);
    assert!(stand.get("/sessions").await.text.contains(&id));
}

#[tokio::test]
async fn a_fresh_activity_is_missing_for_a_while() {
    let stand = Stand::playing(steps(json!([{ "stall": {} }]))).await;
    let id = stand.create().await;
    stand.pass(60_000);
    stand.sandbox.faults().set_lags(Lags {
        activities: LAG,
        ..Lags::default()
    });
    stand.say(&id, "x").await;
    let written = stand
        .sandbox
        .jules()
        .session(&id)
        .unwrap()
        .activities
        .pop()
        .unwrap();
    let path = format!(
        "/sessions/{id}/activities/{}",
        written["id"].as_str().unwrap()
    );
    stand.pass(3_999);
    assert_eq!(stand.kinds(&id).await, ["-"]);
    assert_eq!(stand.get(&path).await.status, 404);
    stand.pass(1);
    assert_eq!(stand.kinds(&id).await, ["-", "userMessaged"]);
    assert_eq!(stand.get(&path).await.status, 200);
}
