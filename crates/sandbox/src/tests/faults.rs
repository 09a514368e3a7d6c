//! Tests of the faults on the wire.

use std::time::Duration;

use serde_json::json;

use crate::tests::stand::{Stand, body, read};
use crate::{Fault, FaultKind, Scenario, Service};

async fn with_fault(fault: Fault) -> Stand {
    let stand = Stand::new(Scenario::default()).await;
    stand.sandbox.faults().add(fault);
    stand
}

fn on_create(kind: FaultKind) -> Fault {
    Fault::new(Service::Jules, "/sessions", kind)
        .on("POST")
        .next(1)
}

#[tokio::test]
async fn a_status_is_answered_and_nothing_happens() {
    let kind = FaultKind::Status {
        code: 503,
        retry_after_secs: Some(9),
        body: None,
    };
    let stand = with_fault(on_create(kind)).await;
    let reply = stand.post("/sessions", &body()).await;
    assert_eq!(reply.refusal().1, "UNAVAILABLE");
    assert_eq!(reply.retry_after.as_deref(), Some("9"));
    assert_eq!(stand.sandbox.counters().creates, 0);
    assert_eq!(stand.post("/sessions", &body()).await.status, 200);
    let log = stand.sandbox.requests();
    assert_eq!(
        (log[0].path.as_str(), log[0].status, log[1].status),
        ("/sessions", 503, 200)
    );
    assert_eq!(stand.sandbox.counters().jules_calls, 2);
}

#[tokio::test]
async fn a_status_may_bring_its_own_body() {
    let body = json!({ "message": "You have exceeded a secondary rate limit." });
    let kind = FaultKind::Status {
        code: 403,
        retry_after_secs: None,
        body: Some(body.clone()),
    };
    let stand = with_fault(Fault::new(Service::GitHub, "", kind)).await;
    let reply = read(
        stand
            .http
            .get(format!("{}/user", stand.sandbox.github_base())),
    )
    .await;
    assert_eq!((reply.status, reply.json()), (403, body));
    assert_eq!(stand.sandbox.counters().github_calls, 1);
}

#[tokio::test]
async fn an_answer_is_cut_after_the_effect() {
    let stand = with_fault(on_create(FaultKind::CutAfterEffect)).await;
    let create = stand.request("POST", "/sessions").json(&body());
    assert!(create.send().await.is_err());
    assert_eq!(stand.sandbox.counters().creates, 1);
    assert_eq!(stand.sandbox.jules().sessions().len(), 1);
    assert_eq!(stand.sandbox.requests()[0].status, 0);
}

#[tokio::test]
async fn a_connection_is_cut_before_anything_happens() {
    let stand = with_fault(on_create(FaultKind::CutBefore)).await;
    let create = stand.request("POST", "/sessions").json(&body());
    assert!(create.send().await.is_err());
    assert_eq!(stand.sandbox.counters().creates, 0);
    assert_eq!(stand.post("/sessions", &body()).await.status, 200);
}

#[tokio::test]
async fn a_status_may_lie_after_the_effect() {
    let stand = with_fault(on_create(FaultKind::StatusAfterEffect { code: 500 })).await;
    let told = stand.post("/sessions", &body()).await.refusal();
    assert_eq!(told.1, "INTERNAL");
    assert_eq!(stand.sandbox.counters().creates, 1);
}

#[tokio::test]
async fn a_page_is_truncated_in_its_json() {
    let stand = with_fault(
        Fault::new(Service::Jules, "", FaultKind::TruncatedPage)
            .on("GET")
            .next(1),
    )
    .await;
    stand.create().await;
    let cut = stand.get("/sessions").await;
    assert_eq!(cut.status, 200);
    assert!(serde_json::from_str::<serde_json::Value>(&cut.text).is_err());
    let whole = stand.get("/sessions").await;
    assert!(whole.text.starts_with(&cut.text) && !cut.text.is_empty());
}

#[tokio::test]
async fn a_proxy_answers_html_with_200() {
    let stand = with_fault(on_create(FaultKind::HtmlInstead)).await;
    let reply = stand.post("/sessions", &body()).await;
    assert_eq!(reply.status, 200);
    assert!(reply.text.starts_with("<!doctype html>"));
    assert_eq!(stand.sandbox.counters().creates, 1);
}

#[tokio::test]
async fn an_answer_comes_after_the_clients_timeout() {
    let stand = with_fault(on_create(FaultKind::SlowerThan { millis: 60_000 })).await;
    let request = stand.request("POST", "/sessions").json(&body());
    let mut answer = Box::pin(request.send());
    // On a slow machine the request itself comes later than that.
    while stand.sandbox.counters().creates == 0 {
        let waited = tokio::time::timeout(Duration::from_millis(200), &mut answer).await;
        assert!(waited.is_err(), "{waited:?}");
    }
    drop(answer);
    assert_eq!(stand.sandbox.counters().creates, 1);
    stand.get("/sessions").await;
    let log = stand.sandbox.requests();
    let create = log.iter().find(|it| it.method == "POST").unwrap();
    assert_eq!(
        create.status, 0,
        "also a request that nobody waited for is logged"
    );
}

#[tokio::test]
async fn faults_strike_agents_too() {
    let stand =
        with_fault(Fault::new(Service::Agent, "/ada", FaultKind::CutAfterEffect).next(1)).await;
    let post = stand.http.post(stand.sandbox.agent_url("ada"));
    assert!(post.send().await.is_err());
    assert_eq!(stand.sandbox.agents().received("ada").len(), 1);
    let told = read(stand.http.post(stand.sandbox.agent_url("ada"))).await;
    assert_eq!(told.status, 204);
}

#[tokio::test]
async fn mergeable_and_the_merge_sha_can_be_nulled() {
    for (kind, name) in [
        (FaultKind::MergeableNull, "mergeable"),
        (FaultKind::NullSha, "merge_commit_sha"),
    ] {
        let stand = Stand::new(Scenario::default()).await;
        stand.create().await;
        stand.pass(10_000);
        let url = format!("{}/repos/acme/shop/pulls/1", stand.sandbox.github_base());
        let get = async || {
            read(
                stand
                    .http
                    .get(&url)
                    .bearer_auth(crate::github::DEFAULT_TOKEN),
            )
            .await
            .json()
        };
        let before = get().await;
        assert!(before["mergeable"].as_bool() == Some(true), "{before}");
        stand
            .sandbox
            .faults()
            .add(Fault::new(Service::GitHub, "/pulls/1", kind));
        let after = get().await;
        assert!(after[name].is_null() && after.get(name).is_some());
        assert_eq!(after["number"], 1);
        stand.sandbox.faults().clear();
        assert_eq!(get().await, before, "the fault leaves nothing behind");
    }
}

#[tokio::test]
async fn a_nulled_answer_is_neither_confirmed_nor_remembered_by_its_tag() {
    let stand = Stand::new(Scenario::default()).await;
    stand.create().await;
    stand.pass(10_000);
    let url = format!("{}/repos/acme/shop/pulls/1", stand.sandbox.github_base());
    let get = || {
        stand
            .http
            .get(&url)
            .bearer_auth(crate::github::DEFAULT_TOKEN)
    };
    let first = get().send().await.unwrap();
    let tag = first.headers()["etag"].clone();
    let again = || get().header("if-none-match", tag.clone());
    assert_eq!(again().send().await.unwrap().status(), 304);
    stand
        .sandbox
        .faults()
        .add(Fault::new(Service::GitHub, "/pulls/1", FaultKind::MergeableNull).next(1));
    let nulled = again().send().await.unwrap();
    assert_eq!(nulled.status(), 200);
    assert!(nulled.headers().get("etag").is_none());
    assert_eq!(again().send().await.unwrap().status(), 304);
}
