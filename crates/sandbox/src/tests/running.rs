//! Tests of starting, driving and stopping.

use std::time::Duration;

use crate::agent::{AgentSetup, Received};
use crate::tests::stand::{Stand, body, client, read, scenario_of, steps};
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
async fn a_manual_sandbox_has_nothing_in_the_background() {
    let stand = Stand::new(Scenario::default()).await;
    let id = stand.create().await;
    stand.clock.advance(jiff::SignedDuration::from_secs(10));
    // Three beats of what a sandbox in real time would have there.
    let wait = tokio::time::timeout(Duration::from_millis(60), std::future::pending::<()>());
    assert!(wait.await.is_err());
    assert_eq!(stand.sandbox.jules().session(&id).unwrap().state, "QUEUED");
}

#[tokio::test]
async fn both_servers_move_in_time_order() {
    // The push at 10:00:05 comes after the first head's checks end at 10:00:04, though all is done at once.
    let script = serde_json::json!([{ "open_pull": {} }, { "push": { "after": "4s" } }]);
    let clock = ManualClock::new("2026-11-20T10:00:00Z".parse().unwrap());
    let options = Options::manual(&clock, scenario_of(steps(script)));
    let sandbox = Sandbox::start(options).await.unwrap();
    let url = sandbox.agent_url("hook");
    sandbox.set_webhook(WebhookTarget {
        url,
        secret: "s".to_owned(),
    });
    create_at(&sandbox).await;
    clock.advance(jiff::SignedDuration::from_secs(60));
    sandbox.advance();
    sandbox.deliver_webhooks().await;

    let posts = sandbox.agents().received("hook");
    let place = |event: &str, action: &str| {
        let action = format!("\"action\":\"{action}\"");
        let is_it =
            |it: &Received| it.headers["x-github-event"] == event && it.body.contains(&action);
        posts.iter().position(is_it).unwrap()
    };
    assert!(place("check_run", "completed") < place("pull_request", "synchronize"));
}

/// Creates a session and answers its id.
async fn create_at(sandbox: &Sandbox) -> String {
    let create = client().post(format!("{}/sessions", sandbox.jules_base()));
    read(create.header("x-goog-api-key", DEFAULT_KEY).json(&body()))
        .await
        .id()
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
    let id = create_at(&sandbox).await;
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
    let stand = Stand::new(Scenario::default()).await;
    // The hook of one sandbox is an agent of another, as its address has to be known beforehand.
    let (url, secret) = (stand.sandbox.agent_url("hook"), "s".to_owned());
    let webhook = Some(WebhookTarget { url, secret });
    let options = Options {
        webhook,
        ..Options::manual(&clock, Scenario::default())
    };
    let sandbox = Sandbox::start(options).await.unwrap();
    create_at(&sandbox).await;
    clock.advance(jiff::SignedDuration::from_secs(30));
    sandbox.advance();
    let received = || stand.sandbox.agents().received("hook").len();
    assert_eq!(received(), 0);
    let posted = sandbox.deliver_webhooks().await;
    assert!(posted > 0);
    assert_eq!(received(), posted);
    assert_eq!(sandbox.deliver_webhooks().await, 0);
}

#[tokio::test]
async fn an_endless_body_ends_only_when_the_sandbox_stops() {
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
    let mut read = 0;
    while read < 5_000_000 {
        read += response.chunk().await.unwrap().unwrap().len();
    }
    stand.sandbox.stop().await;
    while let Ok(Some(piece)) = response.chunk().await {
        read += piece.len();
        assert!(read < 100_000_000, "still going on");
    }
}
