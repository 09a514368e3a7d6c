//! Tests of the hook: signature, payloads, faults, the delivery log.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{WebhookFaults, sign};
use crate::github::stand::{REPO, SECRET, Stand};
use crate::github::{CheckSetup, CiSetup, Outcome};

#[test]
fn the_signature_is_the_documented_one() {
    // The example of GitHub's page on validating deliveries.
    assert_eq!(
        sign("It's a Secret to Everybody", b"Hello, World!"),
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    );
}

#[tokio::test]
async fn webhooks_are_signed_over_the_raw_bytes_and_named_in_headers() {
    let stand = Stand::start().await;
    let target = stand.hook().await;
    let n = stand.open("a", "a.rs");
    assert_eq!(stand.deliver().await, 2);

    let seen = target.seen();
    assert_eq!(target.kinds(), ["push", "pull_request.opened"]);
    let opened = &seen[1];
    let expected = sign(SECRET, &opened.raw);
    assert_eq!(opened.header("x-hub-signature-256"), expected);
    assert_eq!(opened.header("content-type"), "application/json");
    assert!(opened.header("user-agent").starts_with("GitHub-Hookshot/"));
    assert_ne!(
        opened.header("x-github-delivery"),
        seen[0].header("x-github-delivery")
    );
    assert_eq!(opened.body["number"], n);
    assert_eq!(opened.body["pull_request"]["head"]["sha"], stand.head(n));
    assert_eq!(opened.body["repository"]["full_name"], REPO);
    assert_eq!(opened.body["sender"]["login"], "google-labs-jules[bot]");
    assert_eq!(stand.counters.counters().webhooks_sent, 2);
    assert_eq!(stand.deliver().await, 0, "nothing is sent twice by itself");
}

#[tokio::test]
async fn every_change_tells_its_story_in_order() {
    let ci = CiSetup {
        checks: vec![
            CheckSetup::new("build", Outcome::Success),
            CheckSetup::status("docs", Outcome::Success),
        ],
        ..CiSetup::default()
    };
    let stand = Stand::with_ci(ci).await;
    let target = stand.hook().await;
    let n = stand.open("a", "a.rs");
    stand.pass(2);
    stand.deliver().await;
    assert_eq!(
        target.kinds(),
        [
            "push",
            "pull_request.opened",
            "check_run.created",
            "workflow_run.requested",
            "workflow_run.in_progress",
            "status",
            "check_run.completed",
            "workflow_run.completed",
            "check_suite.completed",
            "status",
        ]
    );
    let seen = target.seen();
    let completed = &seen[6].body["check_run"];
    assert_eq!(completed["conclusion"], "success");
    assert_eq!(completed["pull_requests"][0]["number"], n);
    assert_eq!(completed["check_suite"]["head_sha"], stand.head(n));
    let status = &seen[9].body;
    assert_eq!(
        (&status["state"], &status["context"]),
        (&json!("success"), &json!("docs"))
    );
    assert_eq!(status["sha"], stand.head(n));
    assert_eq!(status["branches"][0]["name"], "a");

    target.clear();
    let before = stand.head(n);
    stand.github.push(stand.now(), REPO, "a", "more", "ada");
    stand.deliver().await;
    assert_eq!(target.kinds(), ["push", "pull_request.synchronize"]);
    assert_eq!(target.seen()[1].body["before"], before);

    target.clear();
    stand.merge(n).await;
    stand.deliver().await;
    let kinds = target.kinds();
    let closed = kinds
        .iter()
        .position(|kind| kind == "pull_request.closed")
        .unwrap();
    let pull = &target.seen()[closed].body["pull_request"];
    assert_eq!(
        (&pull["merged"], &pull["merged_by"]["login"]),
        (&json!(true), &json!("octo-owner"))
    );
}

#[tokio::test]
async fn labels_name_themselves() {
    let stand = Stand::start().await;
    let issue = stand
        .post("/issues", json!({ "title": "Broken" }))
        .await
        .body["number"]
        .as_u64()
        .unwrap();
    let n = stand.open("a", "a.rs");
    let target = stand.hook().await;
    for number in [issue, n] {
        stand.github.add_label(stand.now(), REPO, number, "jules");
        stand
            .delete(&format!("/issues/{number}/labels/jules"))
            .await;
    }
    stand.deliver().await;
    assert_eq!(
        target.kinds(),
        [
            "issues.labeled",
            "issues.unlabeled",
            "pull_request.labeled",
            "pull_request.unlabeled"
        ]
    );
    assert!(
        target
            .seen()
            .iter()
            .all(|it| it.body["label"]["name"] == "jules")
    );
}

#[tokio::test]
async fn without_a_hook_nothing_is_kept() {
    let stand = Stand::start().await;
    stand.open("a", "a.rs");
    let target = stand.hook().await;
    stand.github.set_webhook_faults(WebhookFaults {
        off: true,
        ..WebhookFaults::default()
    });
    stand.open("b", "b.rs");
    assert_eq!(stand.deliver().await, 0);
    stand.github.set_webhook_faults(WebhookFaults::default());
    stand.open("c", "c.rs");
    assert_eq!(stand.deliver().await, 2);
    assert_eq!(target.seen()[1].body["pull_request"]["head"]["ref"], "c");
}

#[tokio::test]
async fn dropped_webhooks_stand_in_the_log_and_come_back_under_their_guid() {
    let stand = Stand::start().await;
    let target = stand.hook().await;
    stand.github.set_webhook_faults(WebhookFaults {
        drop_every: Some(2),
        ..WebhookFaults::default()
    });
    stand.open("a", "a.rs");
    assert_eq!(stand.deliver().await, 1);
    assert_eq!(target.kinds(), ["push"]);
    let counters = stand.counters.counters();
    assert_eq!((counters.webhooks_sent, counters.webhooks_failed), (1, 1));

    let log = stand.repo("/hooks/1/deliveries").await;
    assert_eq!(log.each("", "status_code"), [0, 200 + 2]);
    assert_eq!(log.each("", "event"), ["pull_request", "push"]);
    let (id, guid) = (&log.body[0]["id"], &log.body[0]["guid"]);
    let asked = stand
        .post(&format!("/hooks/1/deliveries/{id}/attempts"), json!({}))
        .await;
    assert_eq!(asked.status, 202);
    assert_eq!(stand.deliver().await, 1);
    let again = &target.seen()[1];
    assert_eq!(again.header("x-github-delivery"), guid.as_str().unwrap());
    assert_eq!(again.kind(), "pull_request.opened");
    let whole = stand.repo("/hooks/1/deliveries/3").await.body;
    assert_eq!(
        (&whole["redelivery"], &whole["status"]),
        (&json!(true), &json!("OK"))
    );
    assert_eq!(
        whole["request"]["headers"]["x-hub-signature-256"],
        again.header("x-hub-signature-256")
    );
    assert_eq!(whole["request"]["payload"], again.body);
    assert_eq!(
        stand
            .post("/hooks/1/deliveries/99/attempts", json!({}))
            .await
            .status,
        404
    );
}

#[tokio::test]
async fn a_refusing_target_is_noted_and_never_retried() {
    let stand = Stand::start().await;
    let target = stand.hook().await;
    target.answer(&[500, 302]);
    stand.open("a", "a.rs");
    assert_eq!(stand.deliver().await, 2);
    assert_eq!(stand.deliver().await, 0);
    let codes: Vec<_> = stand
        .github
        .deliveries()
        .iter()
        .map(|it| it.status_code)
        .collect();
    assert_eq!(codes, [Some(500), Some(302)]);
    assert_eq!(stand.counters.counters().webhooks_failed, 2);
    assert_eq!(target.seen().len(), 2, "redirects are not followed");
}

#[tokio::test]
async fn doubled_reordered_and_delayed_webhooks() {
    let stand = Stand::start().await;
    let target = stand.hook().await;
    stand.github.set_webhook_faults(WebhookFaults {
        double: true,
        ..WebhookFaults::default()
    });
    stand.open("a", "a.rs");
    assert_eq!(stand.deliver().await, 4);
    let guids: Vec<Value> = target
        .seen()
        .iter()
        .map(|it| json!(it.header("x-github-delivery")))
        .collect();
    assert_eq!(guids[0], guids[1]);
    assert_ne!(guids[1], guids[2]);

    target.clear();
    stand.github.set_webhook_faults(WebhookFaults {
        reorder: true,
        ..WebhookFaults::default()
    });
    stand.open("b", "b.rs");
    stand.deliver().await;
    assert_eq!(target.kinds(), ["pull_request.opened", "push"]);

    target.clear();
    let delay = SignedDuration::from_secs(60);
    stand.github.set_webhook_faults(WebhookFaults {
        delay,
        ..WebhookFaults::default()
    });
    stand.open("c", "c.rs");
    assert_eq!(stand.deliver().await, 0);
    stand.pass(59);
    assert_eq!(stand.deliver().await, 0);
    stand.pass(1);
    assert_eq!(stand.deliver().await, 2);
}

#[tokio::test]
async fn a_hook_can_be_made_over_the_api() {
    let stand = Stand::start().await;
    assert_eq!(stand.repo("/hooks").await.body, json!([]));
    let config =
        json!({ "url": "http://127.0.0.1:9/hook", "secret": "s3cret", "content_type": "json" });
    let made = stand
        .post("/hooks", json!({ "name": "web", "config": config }))
        .await;
    assert_eq!((made.status, &made.body["id"]), (201, &json!(1)));
    assert!(!made.text.contains("s3cret"));
    assert_eq!(stand.github.webhook().unwrap().secret, "s3cret");
    stand
        .patch(
            "/hooks/1",
            json!({ "config": { "url": "http://127.0.0.1:9/other" } }),
        )
        .await;
    let target = stand.github.webhook().unwrap();
    assert_eq!(
        (target.url.as_str(), target.secret.as_str()),
        ("http://127.0.0.1:9/other", "s3cret")
    );
}
