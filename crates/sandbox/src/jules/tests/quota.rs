//! Quotas, rates, and what holds a slot.

use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::jules::{AccountSetup, Delete, QuotaRefusal};
use crate::tests::stand::{Stand, body, scenario_of, steps};
use crate::{ForeignSession, Scenario};

/// A stand whose account may run two sessions at a time and create four in 24 hours.
async fn limited(script: Value) -> Stand {
    let account = AccountSetup {
        concurrent: 2,
        per_24h: 4,
        ..AccountSetup::default()
    };
    Stand::new(Scenario {
        accounts: vec![account],
        ..scenario_of(steps(script))
    })
    .await
}

async fn create_status(stand: &Stand) -> u16 {
    stand.post("/sessions", &body()).await.status
}

#[tokio::test]
async fn too_many_at_a_time_is_a_failed_precondition() {
    let stand = limited(json!([{ "complete": { "after": "10s" } }])).await;
    stand.create().await;
    stand.create().await;
    let message = "Precondition check failed.".to_owned();
    let refusal = (400, "FAILED_PRECONDITION".to_owned(), message);
    assert_eq!(stand.post("/sessions", &body()).await.refusal(), refusal);
    let repoless = stand.post("/sessions", &json!({ "prompt": "x" })).await;
    assert_eq!(
        repoless.refusal(),
        refusal,
        "a repoless body gets the same answer"
    );
    assert_eq!(stand.get("/sessions").await.status, 200, "reads go on");
    stand.pass(11_000);
    assert_eq!(create_status(&stand).await, 200);
    assert_eq!(stand.sandbox.counters().creates, 3);
}

#[tokio::test]
async fn the_day_is_rolling() {
    let stand = limited(json!([{ "complete": {} }])).await;
    for _ in 0..4 {
        stand.create().await;
        stand.pass(3_600_000);
    }
    assert_eq!(
        stand.post("/sessions", &body()).await.refusal().1,
        "FAILED_PRECONDITION"
    );
    stand.pass(20 * 3_600_000 - 1);
    assert_eq!(create_status(&stand).await, 400);
    stand.pass(1);
    assert_eq!(
        create_status(&stand).await,
        200,
        "the first task left the window"
    );
    assert_eq!(create_status(&stand).await, 400, "the second has not");
}

#[tokio::test]
async fn foreign_sessions_and_deleted_ones_count_as_tasks() {
    let stand = limited(json!([{ "complete": {} }])).await;
    let age = SignedDuration::from_hours(1);
    let foreign = ForeignSession {
        count: 3,
        age,
        state: "COMPLETED".to_owned(),
        ..ForeignSession::default()
    };
    stand.sandbox.jules().add_foreign(&foreign).unwrap();
    let id = stand.create().await;
    stand.delete(&format!("/sessions/{id}")).await;
    assert_eq!(create_status(&stand).await, 400);
}

#[tokio::test]
async fn the_refusal_may_be_429_with_or_without_a_hint() {
    let stand = limited(json!([{ "stall": {} }])).await;
    stand.create().await;
    stand.create().await;
    let refusal = |retry_after_secs, retry_info_secs| QuotaRefusal::Exhausted {
        retry_after_secs,
        retry_info_secs,
    };
    for (header, info) in [(None, None), (Some(30), None), (None, Some(40))] {
        stand.switch(|it| it.quota_refusal = refusal(header, info));
        let reply = stand.post("/sessions", &body()).await;
        assert_eq!(
            (reply.refusal().0, reply.refusal().1.as_str()),
            (429, "RESOURCE_EXHAUSTED")
        );
        assert_eq!(reply.retry_after, header.map(|secs| secs.to_string()));
        let delay = reply.json()["error"]["details"][0]["retryDelay"].clone();
        assert_eq!(
            delay,
            info.map_or(Value::Null, |secs| json!(format!("{secs}s")))
        );
    }
}

#[tokio::test]
async fn awaiting_sessions_hold_a_slot_or_not() {
    for (holds, wanted) in [(true, 400), (false, 200)] {
        let stand = limited(json!([{ "ask": { "text": "?" } }])).await;
        stand.switch(|it| it.awaiting_holds_slot = holds);
        stand.create().await;
        stand.create().await;
        stand.pass(1_000);
        assert_eq!(create_status(&stand).await, wanted, "holds {holds}");
    }
}

#[tokio::test]
async fn delete_frees_the_slot_or_the_work_goes_on() {
    for (frees, wanted) in [(true, 200), (false, 400)] {
        let stand = limited(json!([{ "complete": { "after": "1m" } }])).await;
        stand.switch(|it| it.delete_frees_slot = frees);
        stand.create().await;
        let id = stand.create().await;
        assert_eq!(stand.delete(&format!("/sessions/{id}")).await.status, 200);
        assert_eq!(stand.get(&format!("/sessions/{id}")).await.status, 404);
        assert_eq!(stand.delete(&format!("/sessions/{id}")).await.status, 404);
        assert_eq!(stand.sandbox.counters().deletes, 1);
        assert!(!stand.get("/sessions").await.text.contains(&id));
        assert_eq!(create_status(&stand).await, wanted, "frees {frees}");
        stand.pass(61_000);
        let view = stand.sandbox.jules().session(&id).unwrap();
        assert_eq!(view.state == "COMPLETED", !frees);
        assert!(view.deleted);
    }
}

#[tokio::test]
async fn delete_may_only_archive() {
    let stand = limited(json!([])).await;
    stand.switch(|it| it.delete = Delete::Archives);
    let id = stand.create().await;
    stand.delete(&format!("/sessions/{id}")).await;
    assert_eq!(stand.session(&id).await["archived"], true);
    assert_eq!(stand.get("/sessions").await.text, "{}");
}

#[tokio::test]
async fn messages_may_count_as_tasks() {
    for (count, wanted) in [(false, 200), (true, 400)] {
        let stand = limited(json!([{ "progress": {} }, { "stall": {} }])).await;
        stand.switch(|it| it.messages_count_as_tasks = count);
        let id = stand.create().await;
        stand.pass(1_000);
        for _ in 0..3 {
            stand.say(&id, "x").await;
        }
        assert_eq!(create_status(&stand).await, wanted, "count {count}");
    }
}

#[tokio::test]
async fn requests_a_minute_may_be_limited() {
    let stand = limited(json!([])).await;
    stand.switch(|it| it.requests_per_minute = Some(3));
    for wanted in [200, 200, 200, 429] {
        assert_eq!(stand.get("/sessions").await.status, wanted);
    }
    stand.pass(60_000);
    assert_eq!(stand.get("/sessions").await.status, 200);
}

#[tokio::test]
async fn a_burst_of_creates_gets_a_misleading_404() {
    let stand = Stand::playing(steps(json!([]))).await;
    stand.switch(|it| it.creates_per_second = Some(2));
    for wanted in [200, 200, 404] {
        assert_eq!(create_status(&stand).await, wanted);
    }
    assert_eq!(stand.sandbox.counters().creates, 2);
    stand.pass(1_000);
    assert_eq!(create_status(&stand).await, 200);
}

#[tokio::test]
async fn accounts_have_quotas_of_their_own() {
    let account = |name: &str, key: &str| AccountSetup {
        name: name.to_owned(),
        key: key.to_owned(),
        concurrent: 1,
        ..AccountSetup::default()
    };
    let accounts = vec![account("a", "ka"), account("b", "kb")];
    let mut stand = Stand::new(Scenario {
        accounts,
        ..scenario_of(Vec::new())
    })
    .await;
    for key in ["ka", "kb"] {
        stand.key = key.to_owned();
        assert_eq!(create_status(&stand).await, 200);
        assert_eq!(create_status(&stand).await, 400);
    }
}
