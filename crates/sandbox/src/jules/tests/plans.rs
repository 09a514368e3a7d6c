//! Plans: who approves them, when, and what is answered when none waits.

use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::Lags;
use crate::tests::stand::{Stand, body, steps};

fn asking_for_approval() -> Value {
    let mut ask = body();
    ask["requirePlanApproval"] = json!(true);
    ask
}

async fn with_a_waiting_plan() -> (Stand, String) {
    let stand = Stand::playing(steps(
        json!([{ "plan": {} }, { "complete": { "after": "10s" } }]),
    ))
    .await;
    let id = stand.post("/sessions", &asking_for_approval()).await.id();
    stand.pass(1_000);
    (stand, id)
}

#[tokio::test]
async fn a_plan_waits_for_approval_and_the_approval_is_seen_late() {
    let (stand, id) = with_a_waiting_plan().await;
    stand.pass(3_600_000);
    assert_eq!(stand.state(&id).await, "AWAITING_PLAN_APPROVAL");
    let waiting_since = stand.session(&id).await["updateTime"].clone();
    let approve = SignedDuration::from_secs(5);
    stand.sandbox.faults().set_lags(Lags {
        approve,
        ..Lags::default()
    });

    assert_eq!(stand.approve(&id).await.status, 200);
    assert_eq!(stand.state(&id).await, "AWAITING_PLAN_APPROVAL");
    assert_eq!(stand.session(&id).await["updateTime"], waiting_since);
    assert_eq!(stand.kinds(&id).await.last().unwrap(), "planApproved");
    stand.pass(5_000);
    assert_eq!(stand.state(&id).await, "IN_PROGRESS");
    stand.pass(5_000);
    assert_eq!(stand.state(&id).await, "COMPLETED");
}

#[tokio::test]
async fn a_plan_is_approved_once() {
    let (stand, id) = with_a_waiting_plan().await;
    assert_eq!(stand.approve(&id).await.status, 200);
    let again = stand.approve(&id).await.refusal();
    let message = "Precondition check failed.".to_owned();
    assert_eq!(again, (400, "FAILED_PRECONDITION".to_owned(), message));
    assert_eq!(stand.sandbox.counters().approvals, 1);
    assert_eq!(stand.sandbox.counters().approve_calls, 2);

    stand.switch(|it| it.approve_without_plan_accepted = true);
    assert_eq!(stand.approve(&id).await.status, 200);
    assert_eq!(stand.sandbox.counters().approvals, 1);
    assert_eq!(stand.sandbox.jules().session(&id).unwrap().approvals, 1);
}

#[tokio::test]
async fn a_body_of_null_is_refused_unless_switched() {
    let (stand, id) = with_a_waiting_plan().await;
    let path = format!("/sessions/{id}:approvePlan");
    assert_eq!(
        stand.post(&path, &json!(null)).await.refusal().1,
        "INVALID_ARGUMENT"
    );
    assert_eq!(stand.sandbox.counters().approvals, 0);
    stand.switch(|it| it.null_body_refused = false);
    assert_eq!(stand.post(&path, &json!(null)).await.status, 200);
}

#[tokio::test]
async fn no_body_at_all_approves() {
    let (stand, id) = with_a_waiting_plan().await;
    let path = format!("/sessions/{id}:approvePlan");
    let reply = crate::tests::stand::read(stand.request("POST", &path)).await;
    assert_eq!(reply.status, 200);
    assert_eq!(stand.sandbox.counters().approvals, 1);
}

#[tokio::test]
async fn jules_approves_by_itself_as_the_user_where_none_is_required() {
    let stand = Stand::playing(steps(json!([{ "plan": {} }, { "stall": {} }]))).await;
    let id = stand.create().await;
    stand.pass(1_000);
    assert_eq!(stand.state(&id).await, "PLANNING");
    stand.pass(1_000);
    assert_eq!(stand.state(&id).await, "IN_PROGRESS");
    let all = stand.activities(&id).await;
    assert_eq!(all[2]["originator"], "user");
    assert_eq!(
        all[2]["planApproved"]["planId"],
        all[1]["planGenerated"]["plan"]["id"]
    );
    assert_eq!(stand.sandbox.counters().approvals, 0, "nobody called");
}

#[tokio::test]
async fn a_timer_may_approve_a_waiting_plan() {
    let stand = Stand::playing(steps(json!([{ "plan": {} }, { "stall": {} }]))).await;
    stand.switch(|it| it.auto_approve_after = Some(SignedDuration::from_mins(1)));
    let id = stand.post("/sessions", &asking_for_approval()).await.id();
    stand.pass(60_000);
    assert_eq!(stand.state(&id).await, "AWAITING_PLAN_APPROVAL");
    stand.pass(1_000);
    assert_eq!(stand.state(&id).await, "IN_PROGRESS");
}

#[tokio::test]
async fn a_waiting_plan_may_show_completed_and_still_be_approved() {
    let stand = Stand::playing(steps(json!([{ "plan": {} }, { "stall": {} }]))).await;
    stand.switch(|it| it.waiting_plan_shows_completed = true);
    let id = stand.post("/sessions", &asking_for_approval()).await.id();
    stand.pass(1_000);
    assert_eq!(stand.state(&id).await, "COMPLETED");
    assert_eq!(stand.approve(&id).await.status, 200);
    assert_eq!(stand.state(&id).await, "IN_PROGRESS");
}

#[tokio::test]
async fn the_unspecified_mode_may_need_approval() {
    let stand = Stand::playing(steps(json!([]))).await;
    let mut ask = body();
    ask["automationMode"] = json!("AUTOMATION_MODE_UNSPECIFIED");
    assert_eq!(stand.post("/sessions", &ask).await.status, 200);
    stand.switch(|it| it.unspecified_mode_needs_approval = true);
    assert_eq!(
        stand.post("/sessions", &ask).await.refusal().1,
        "INVALID_ARGUMENT"
    );
    ask["requirePlanApproval"] = json!(true);
    assert_eq!(stand.post("/sessions", &ask).await.status, 200);
    assert_eq!(stand.post("/sessions", &body()).await.status, 200);
}
