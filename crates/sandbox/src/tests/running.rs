//! Tests of starting, driving and stopping.

use std::time::Duration;

use crate::agent::AgentSetup;
use crate::tests::stand::{Stand, body, client, read, scenario_of, steps, string};
use crate::{
    DEFAULT_KEY, DEFAULT_REPO, Error, ManualClock, Options, Sandbox, Scenario, WebhookTarget,
};

#[tokio::test]
async fn addresses_are_below_one_socket() {
    let stand = Stand::new(Scenario::default()).await;
    let root = format!("http://{}", stand.sandbox.addr());
    assert_eq!(stand.sandbox.jules_base(), format!("{root}/jules/v1alpha"));
    assert_eq!(stand.sandbox.github_base(), format!("{root}/github"));
    assert_eq!(stand.sandbox.agent_url("ada"), format!("{root}/agent/ada"));
    assert_ne!(stand.sandbox.addr().port(), 0);
}

#[tokio::test]
async fn a_taken_socket_is_named() {
    let stand = Stand::new(Scenario::default()).await;
    let listen = stand.sandbox.addr();
    let options = Options {
        listen,
        ..Options::manual(&stand.clock, Scenario::default())
    };
    let error = Sandbox::start(options).await.err().unwrap();
    assert!(matches!(error, Error::Bind { .. }));
    assert!(error.to_string().contains(&listen.to_string()));
}

#[tokio::test]
async fn a_stopped_sandbox_answers_no_longer() {
    let stand = Stand::new(Scenario::default()).await;
    let url = format!("{}/sessions", stand.sandbox.jules_base());
    let get = || stand.http.get(&url).header("x-goog-api-key", DEFAULT_KEY);
    assert_eq!(read(get()).await.status, 200);
    stand.sandbox.stop().await;
    assert!(
        get().send().await.is_err(),
        "also not over the connection kept alive"
    );
}

#[tokio::test]
async fn a_request_moves_things_forward_by_itself() {
    let stand = Stand::new(Scenario::default()).await;
    let id = stand.create().await;
    stand.clock.advance(jiff::SignedDuration::from_secs(10));
    assert_eq!(stand.state(&id).await, "COMPLETED");
}

#[tokio::test]
async fn a_manual_sandbox_does_nothing_until_told() {
    let stand = Stand::new(Scenario::default()).await;
    let id = stand.create().await;
    stand.clock.advance(jiff::SignedDuration::from_secs(10));
    assert_eq!(stand.sandbox.jules().session(&id).unwrap().state, "QUEUED");
    stand.sandbox.advance();
    assert_eq!(
        stand.sandbox.jules().session(&id).unwrap().state,
        "COMPLETED"
    );
}

#[tokio::test]
async fn both_servers_move_in_time_order() {
    // The push at 10:00:04 comes after the first head's checks of 10:00:03, though all is done at once.
    let stand = Stand::playing(steps(serde_json::json!([
        { "open_pull": {} },
        { "push": { "after": "3s" } },
    ])))
    .await;
    stand.create().await;
    stand.clock.advance(jiff::SignedDuration::from_secs(60));
    stand.sandbox.advance();
    let head = stand
        .sandbox
        .github()
        .pull(DEFAULT_REPO, 1)
        .unwrap()
        .head_sha;
    let runs = format!(
        "{}/repos/{DEFAULT_REPO}/commits/{head}/check-runs",
        stand.sandbox.github_base()
    );
    let runs = read(
        stand
            .http
            .get(runs)
            .bearer_auth(crate::github::DEFAULT_TOKEN),
    )
    .await
    .json();
    assert_eq!(runs["total_count"], 2);
    assert_eq!(runs["check_runs"][0]["started_at"], "2026-11-20T10:00:04Z");
}

#[tokio::test]
async fn real_time_plays_and_posts_without_being_asked() {
    let options = Options::real_time(Scenario {
        pace: 0.01,
        ..scenario_of(Vec::new())
    });
    let sandbox = Sandbox::start(options).await.unwrap();
    let url = sandbox.agent_url("hook");
    let mut posts = sandbox.agents().subscribe();
    sandbox.set_webhook(WebhookTarget {
        url,
        secret: "s".to_owned(),
    });
    let create = client().post(format!("{}/sessions", sandbox.jules_base()));
    let reply = read(create.header("x-goog-api-key", DEFAULT_KEY).json(&body())).await;
    let id = string(&reply.json()["id"]);
    sandbox
        .jules()
        .append_steps(&id, steps(serde_json::json!([{ "open_pull": {} }])));

    let post = tokio::time::timeout(Duration::from_secs(20), posts.recv())
        .await
        .unwrap()
        .unwrap();
    assert!(post.headers.contains_key("x-hub-signature-256"));
    assert_eq!(sandbox.github().pulls(DEFAULT_REPO), [1]);
    sandbox.stop().await;
}

#[tokio::test]
async fn webhooks_are_posted_only_when_told() {
    let clock = ManualClock::new("2026-11-20T10:00:00Z".parse().unwrap());
    let sandbox = Sandbox::start(Options::manual(&clock, Scenario::default()))
        .await
        .unwrap();
    let url = sandbox.agent_url("hook");
    sandbox.set_webhook(WebhookTarget {
        url,
        secret: "s".to_owned(),
    });
    let create = client().post(format!("{}/sessions", sandbox.jules_base()));
    read(create.header("x-goog-api-key", DEFAULT_KEY).json(&body())).await;
    clock.advance(jiff::SignedDuration::from_secs(30));
    sandbox.advance();
    assert_eq!(sandbox.agents().received("hook").len(), 0);
    let posted = sandbox.deliver_webhooks().await;
    assert!(posted > 0);
    assert_eq!(sandbox.agents().received("hook").len(), posted);
    assert_eq!(sandbox.deliver_webhooks().await, 0);
}

#[tokio::test]
async fn stopping_cuts_what_does_not_end_by_itself() {
    let stand = Stand::new(Scenario::default()).await;
    let name = "ada".to_owned();
    let endless = AgentSetup {
        name,
        statuses: vec![200],
        endless_body: true,
        ..AgentSetup::default()
    };
    stand.sandbox.agents().set(endless);
    let mut response = stand
        .http
        .post(stand.sandbox.agent_url("ada"))
        .send()
        .await
        .unwrap();
    stand.sandbox.stop().await;
    let mut read = 0;
    while let Ok(Some(piece)) = response.chunk().await {
        read += piece.len();
        assert!(read < 100_000_000, "still going on");
    }
}
