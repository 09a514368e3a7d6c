//! The logs of webhook deliveries, of the App and of a repository, against the sandbox's GitHub and a scripted one.

use domain::failure::FailureClass;
use domain::redelivery::{AttemptOutcome, DeliveryId, HookId, WebhookLog};
use engine::ports::{HooksRead, HooksWrite};
use github::{Reader, Writer};
use jiff::{SignedDuration, Timestamp};
use sandbox::github::{
    APP_ID, Access, DEFAULT_TOKEN, Permissions, RepoSetup, Resource, TokenSetup,
};
use sandbox::{Scenario, WebhookFaults, WebhookTarget};
use serde_json::{Value, json};

use crate::server::{Asked, Reply, Server};
use crate::stage::SandboxStage;

const REPO: &str = "acme/shop";

/// A sandbox whose receiver cannot be reached, with a delivery that failed.
async fn stage(url: &str) -> SandboxStage {
    let stage = SandboxStage::new(Scenario {
        repos: vec![RepoSetup::new(REPO)],
        webhook_faults: WebhookFaults {
            down: true,
            ..WebhookFaults::default()
        },
        ..Scenario::default()
    })
    .await;
    stage.sandbox.set_webhook(WebhookTarget {
        url: url.to_owned(),
        secret: "a secret".to_owned(),
    });
    let github = stage.sandbox.github();
    github.push(stage.clock.now(), REPO, "main", "some work", "octo-owner");
    stage.sandbox.deliver_webhooks().await;
    stage
}

/// Reads the log, asks for what failed, and reads it again.
async fn is_repaired(
    stage: &SandboxStage,
    (reader, writer): (Reader, Writer),
    expected: WebhookLog,
) {
    let repos = [REPO.parse().unwrap()];
    let logs = reader.logs(&repos).await.unwrap();
    assert_eq!(logs, [expected]);
    let log = &logs[0];
    let before = reader.attempts(log, Timestamp::UNIX_EPOCH).await;
    let before = before.unwrap().unwrap();
    let [failed] = before.as_slice() else {
        panic!("{before:?}");
    };
    assert_eq!((failed.event.as_str(), failed.redelivery), ("push", false));
    assert_eq!(failed.outcome(), AttemptOutcome::Failed);
    let asked = writer.redeliver(log, failed.hook, failed.id);
    asked.await.unwrap();
    stage.clock.advance(SignedDuration::from_mins(1));
    stage.sandbox.deliver_webhooks().await;
    let after = reader.attempts(log, Timestamp::UNIX_EPOCH).await;
    let after = after.unwrap().unwrap();
    assert_eq!(after.len(), 2);
    let again = after.iter().find(|it| it.redelivery).unwrap();
    assert_eq!((&again.guid, again.hook), (&failed.guid, failed.hook));
    let unknown = writer.redeliver(log, failed.hook, DeliveryId(404)).await;
    assert_eq!(unknown.unwrap_err().class, FailureClass::NotFound);
}
const DOOR: &str = "http://127.0.0.1:9/github/webhook";

#[tokio::test]
async fn a_token_repairs_what_a_repository_s_webhook_failed_to_deliver() {
    let stage = stage(DOOR).await;
    let adapters = stage.adapters(DEFAULT_TOKEN, None);
    let log = WebhookLog::Repo(REPO.parse().unwrap());
    is_repaired(&stage, adapters, log).await;
}

#[tokio::test]
async fn an_app_repairs_what_its_own_webhook_failed_to_deliver() {
    let stage = stage(DOOR).await;
    let adapters = stage.adapters(include_str!("keys/app.pem"), Some(APP_ID));
    is_repaired(&stage, adapters, WebhookLog::App).await;
}

#[tokio::test]
async fn deliveries_to_others_are_none_of_our_business() {
    for url in [
        "http://127.0.0.1:9/slack",
        "http://127.0.0.1:9/?to=/github/webhook",
    ] {
        let stage = stage(url).await;
        let (reader, _) = stage.adapters(DEFAULT_TOKEN, None);
        let log = WebhookLog::Repo(REPO.parse().unwrap());
        let found = reader.attempts(&log, Timestamp::UNIX_EPOCH).await;
        assert_eq!(found.unwrap(), None, "{url}");
    }
}

#[tokio::test]
async fn a_log_that_may_not_be_read_is_told_as_such() {
    let stage = stage(DOOR).await;
    stage.sandbox.github().add_token(TokenSetup {
        permissions: Permissions::all().with(Resource::Administration, Access::None),
        ..TokenSetup::default()
    });
    let (reader, _) = stage.adapters(DEFAULT_TOKEN, None);
    let log = WebhookLog::Repo(REPO.parse().unwrap());
    let failure = reader
        .attempts(&log, Timestamp::UNIX_EPOCH)
        .await
        .unwrap_err();
    let hidden = [FailureClass::Forbidden, FailureClass::NotFound];
    assert!(hidden.contains(&failure.class), "{failure:?}");
}

const HOOKS: &str = "GET /repos/acme/shop/hooks";
const LOG: &str = "GET /repos/acme/shop/hooks/7/deliveries";

fn line(id: u64, at: &str) -> Value {
    json!({
        "id": id, "guid": format!("guid-{id}"), "delivered_at": at, "redelivery": false, "duration": 0.1,
        "status": "OK", "status_code": 202, "event": "push", "action": null, "installation_id": null,
        "repository_id": 5, "throttled_at": null,
    })
}

#[tokio::test]
async fn a_log_is_read_back_to_where_the_last_look_ended_and_no_further() {
    let server = Server::start(|asked: &Asked| {
        let line_of = asked.line();
        let next = |page: &str| {
            let next = format!("{}/repos/acme/shop/hooks/7/deliveries?cursor={page}", asked.base);
            ("link", format!("<{next}>; rel=\"next\""))
        };
        match line_of.as_str() {
            HOOKS => Reply::ok(&json!([
                { "id": 6, "active": false, "config": { "url": "https://a.example/github/webhook" } },
                { "id": 7, "active": true, "config": { "url": "https://a.example/github/webhook/" } },
            ])),
            LOG => {
                let (name, at) = next("2");
                let odd = json!({ "id": "what", "of": "it" });
                Reply::ok(&json!([line(9, "2026-03-01T10:00:00Z"), odd])).with(name, at)
            }
            other if other.ends_with("cursor=2") => {
                let (name, at) = next("3");
                Reply::ok(&json!([line(8, "2026-03-01T08:59:59Z")])).with(name, at)
            }
            other => Reply::refusal(500, &format!("no further: {other}")),
        }
    })
    .await;
    let log = WebhookLog::Repo(REPO.parse().unwrap());
    let since = "2026-03-01T09:00:00Z".parse().unwrap();
    let found = server.reader().attempts(&log, since).await;
    let found = found.unwrap().unwrap();
    let ids: Vec<_> = found.iter().map(|it| (it.id.0, it.hook)).collect();
    assert_eq!(ids, [(9, Some(HookId(7))), (8, Some(HookId(7)))]);
    assert_eq!(server.lines().len(), 3);
}
