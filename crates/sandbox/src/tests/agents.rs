//! Tests of the agents' receiver.

use std::time::Duration;

use crate::Scenario;
use crate::agent::AgentSetup;
use crate::tests::stand::{Stand, read};

fn setup(name: &str) -> AgentSetup {
    AgentSetup {
        name: name.to_owned(),
        ..AgentSetup::default()
    }
}

#[tokio::test]
async fn a_wake_is_recorded_with_its_signature() {
    let stand = Stand::new(Scenario::default()).await;
    let mut news = stand.sandbox.agents().subscribe();
    let wake = stand
        .http
        .post(stand.sandbox.agent_url("ada"))
        .header("webhook-id", "w1")
        .header("webhook-timestamp", "1763632800")
        .header("webhook-signature", "v1,abc")
        .body("{\"kind\":\"question\"}");
    let reply = read(wake).await;
    assert_eq!((reply.status, reply.text.as_str()), (204, ""));

    let received = stand.sandbox.agents().received("ada");
    assert_eq!(news.recv().await.unwrap(), received[0]);
    let wake = &received[0];
    assert_eq!(wake.webhook_id.as_deref(), Some("w1"));
    assert_eq!(wake.webhook_timestamp.as_deref(), Some("1763632800"));
    assert_eq!(wake.webhook_signature.as_deref(), Some("v1,abc"));
    assert_eq!(
        (wake.body.as_str(), wake.size, wake.status),
        ("{\"kind\":\"question\"}", 19, 204)
    );
    assert_eq!(wake.at, stand.clock.now());
    assert_eq!(stand.sandbox.agents().received("bob"), []);
    assert_eq!(stand.sandbox.counters().wakes_received, 1);
    assert_eq!(stand.sandbox.counters().wake_bytes, 19);
}

#[tokio::test]
async fn statuses_follow_each_other_and_the_last_stays() {
    let stand = Stand::new(Scenario::default()).await;
    let statuses = vec![204, 500, 503];
    stand.sandbox.agents().set(AgentSetup {
        statuses,
        retry_after_secs: Some(7),
        ..setup("ada")
    });
    for (status, retry_after) in [
        (204, None),
        (500, Some("7")),
        (503, Some("7")),
        (503, Some("7")),
    ] {
        let reply = read(stand.http.post(stand.sandbox.agent_url("ada"))).await;
        assert_eq!(
            (reply.status, reply.retry_after.as_deref()),
            (status, retry_after)
        );
    }
    let answered: Vec<u16> = stand
        .sandbox
        .agents()
        .received("ada")
        .iter()
        .map(|it| it.status)
        .collect();
    assert_eq!(answered, [204, 500, 503, 503]);
}

#[tokio::test]
async fn a_redirect_says_where_to() {
    let stand = Stand::new(Scenario::default()).await;
    let location = Some("http://169.254.169.254/".to_owned());
    stand.sandbox.agents().set(AgentSetup {
        statuses: vec![307, 200],
        location,
        ..setup("ada")
    });
    let response = stand
        .http
        .post(stand.sandbox.agent_url("ada"))
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 307);
    assert_eq!(response.headers()["location"], "http://169.254.169.254/");
    let second = stand.http.post(stand.sandbox.agent_url("ada"));
    assert_eq!(second.send().await.unwrap().headers().get("location"), None);
}

#[tokio::test]
async fn a_slow_agent_outlasts_the_clients_timeout_but_got_the_wake() {
    let stand = Stand::new(Scenario::default()).await;
    stand.sandbox.agents().set(AgentSetup {
        slow_millis: 60_000,
        ..setup("ada")
    });
    let request = stand.http.post(stand.sandbox.agent_url("ada"));
    let mut answer = Box::pin(request.send());
    // On a slow machine the wake itself comes later than that.
    while stand.sandbox.agents().received("ada").is_empty() {
        let waited = tokio::time::timeout(Duration::from_millis(100), &mut answer).await;
        assert!(waited.is_err(), "{waited:?}");
    }
    assert_eq!(stand.sandbox.agents().received("ada").len(), 1);
}
