//! Webhooks, by what GitHub's delivery log really holds.

use expect_test::expect;
use sandbox::github::HookSetup;

use super::clinic::Clinic;
use crate::world::{HeldPort, Told};

const SECRET: &str = "hook-secret";

/// An installation that keeps the webhook's secret, with its ports made the same in every run.
fn knowing() -> Clinic {
    Clinic::new().set("GAFFER_WEBHOOK_SECRET", SECRET)
}

fn ills(clinic: &Clinic, api: &str, more: &[&str]) -> String {
    let host = api
        .trim_start_matches("http://")
        .split('/')
        .next()
        .unwrap_or_default();
    clinic.ills(more).replace(host, "DOOR")
}

#[test]
fn a_webhook_that_arrives_is_fine() {
    let clinic = knowing();
    clinic.api(SECRET, SECRET);
    assert!(clinic.deliver() > 0);
    let (told, code) = clinic.report(&[]);
    assert_eq!(code, 0, "{told}");
    told.tells(&["it points at Gaffer's webhook endpoint"]);
}

#[test]
fn there_is_none_although_a_secret_is_kept() {
    expect![[r#"
        warning  webhook_none  acme/shop: it has no webhook | cause: a webhook secret is kept and the repository has no webhook: changes are seen only when they are looked for | mend: add a webhook in the settings of acme/shop: content type `application/json`, the secret, and the address of Gaffer's webhook endpoint with /github/webhook; or forget the secret
    "#]].assert_eq(&knowing().ills(&[]));
}

#[test]
fn it_points_elsewhere() {
    let clinic = knowing();
    clinic.hook("https://old.example.com/github/webhook?key=canary", SECRET);
    let wanted = "https://gaffer.example.com/github/webhook";
    let ills = clinic.ills(&["--webhook-url", wanted]);
    expect![[r#"
        error    webhook_elsewhere  acme/shop: its webhooks point at `https://old.example.com/github/webhook` | cause: no webhook of the repository points at Gaffer's webhook endpoint, so changes are seen only when they are looked for | mend: open the webhooks in the settings of acme/shop and set the payload address to https://gaffer.example.com/github/webhook
    "#]].assert_eq(&ills);
    assert!(!ills.contains("canary"));
}

#[test]
fn it_is_switched_off() {
    let clinic = knowing();
    let api = clinic.api(SECRET, SECRET);
    clinic.github().set_hook(HookSetup {
        active: false,
        ..HookSetup::default()
    });
    expect![[r#"
        error    webhook_inactive  acme/shop: http://DOOR/github/webhook is not active | cause: the webhook is switched off, so nothing arrives | mend: open the webhook in the settings of acme/shop and tick `Active`
    "#]].assert_eq(&ills(&clinic, &api, &[]));
}

#[test]
fn it_does_not_tell_of_everything() {
    let clinic = knowing();
    let api = clinic.api(SECRET, SECRET);
    clinic.github().set_hook(HookSetup {
        events: vec!["pull_request".to_owned(), "push".to_owned()],
        ..HookSetup::default()
    });
    expect![[r#"
        warning  webhook_events  acme/shop: http://DOOR/github/webhook does not get `check_run`, `check_suite`, `pull_request_review`, `status` | cause: the webhook does not tell of everything that Gaffer waits for; the rest is seen only when it is looked for | mend: open the webhook in the settings of acme/shop and tick the events that are missing
    "#]].assert_eq(&ills(&clinic, &api, &[]));
}

#[test]
fn it_sends_forms() {
    let clinic = knowing();
    let api = clinic.api(SECRET, SECRET);
    clinic.github().set_hook(HookSetup {
        form: true,
        ..HookSetup::default()
    });
    assert!(clinic.deliver() > 0);
    expect![[r#"
        error    webhook_form  acme/shop: http://DOOR/github/webhook gets forms | cause: the webhook sends forms instead of JSON, which are refused | mend: open the webhook in the settings of acme/shop and set the content type to `application/json`
        warning  webhook_fails  acme/shop: http://DOOR/github/webhook answered 422; 2 of the 2 newest deliveries failed | cause: recent deliveries of the webhook failed: GitHub does not reach Gaffer's webhook endpoint, or it answers with an error | mend: look at `Recent Deliveries` of the webhook in the settings of acme/shop, and check that `gaffer up` runs and is reachable there
    "#]].assert_eq(&ills(&clinic, &api, &[]));
}

#[test]
fn no_secret_is_kept() {
    let clinic = Clinic::new();
    let api = clinic.api("another", SECRET);
    assert!(clinic.deliver() > 0);
    expect![[r#"
        error    webhook_secret_missing  acme/shop: http://DOOR/github/webhook gets deliveries, and no secret is kept | cause: webhooks arrive and Gaffer keeps no secret to verify them with, so all are refused | mend: set GAFFER_WEBHOOK_SECRET to the webhook's secret and start `gaffer up` again
    "#]].assert_eq(&ills(&clinic, &api, &[]));
}

#[test]
fn the_secrets_differ() {
    let clinic = knowing();
    let api = clinic.api("another", SECRET);
    assert!(clinic.deliver() > 0);
    expect![[r#"
        error    webhook_secret_mismatch  acme/shop: http://DOOR/github/webhook answered 401 to the 2 newest of 2 deliveries | cause: Gaffer's webhook endpoint answers deliveries with 401: the webhook signs with another secret | mend: set the webhook's secret in the settings of acme/shop to the one of GAFFER_WEBHOOK_SECRET, and redeliver what failed
    "#]].assert_eq(&ills(&clinic, &api, &[]));
    // Once deliveries arrive again, what failed before is history.
    clinic.api(SECRET, SECRET);
    clinic
        .github()
        .comment(clinic.now(), "acme/shop", 1, ("somebody", "Hello"));
    assert!(clinic.wait(clinic.sandbox.deliver_webhooks()) > 0);
    assert_eq!(clinic.ills(&[]), "");
}

#[test]
fn nobody_takes_the_deliveries() {
    let clinic = knowing();
    let closed = HeldPort::take();
    let api = format!("http://{}/github/webhook", closed.address());
    clinic.hook(&api, SECRET);
    assert!(clinic.deliver() > 0);
    expect![[r#"
        warning  webhook_fails  acme/shop: http://DOOR/github/webhook did not answer; 2 of the 2 newest deliveries failed | cause: recent deliveries of the webhook failed: GitHub does not reach Gaffer's webhook endpoint, or it answers with an error | mend: look at `Recent Deliveries` of the webhook in the settings of acme/shop, and check that `gaffer up` runs and is reachable there
    "#]].assert_eq(&ills(&clinic, &api, &[]));
}
