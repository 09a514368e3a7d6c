//! Jules accounts: keys, plans, and who else works with them.

use std::fs;

use expect_test::expect;
use jiff::SignedDuration;
use sandbox::jules::BadKey;
use sandbox::{Fault, FaultKind, Foreign, ForeignSession, Scenario, Service, Times};

use super::clinic::Clinic;
use crate::world::{HeldPort, KEY};

fn answers(clinic: &Clinic, code: u16) {
    clinic.sandbox.faults().add(Fault {
        service: Service::Jules,
        path_contains: String::new(),
        method: None,
        body_contains: String::new(),
        kind: FaultKind::status(code),
        times: Times::Always,
    });
}

#[test]
fn there_is_no_account() {
    let clinic = Clinic::empty(Scenario::default(), SignedDuration::ZERO);
    // A folder without anything in it.
    clinic.ok(&["agent", "add", "bot", "--url", "https://bot.example.com/x"]);
    clinic.ok(&["agent", "remove", "bot"]);
    expect![[r#"
        error    no_account  Jules accounts: there is none | cause: without a Jules account no job can be started | mend: run `gaffer account add default`
        warning  no_source  sources: there is none | cause: there is no repository to work on | mend: run `gaffer source add OWNER/REPO`
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn there_is_no_key() {
    let clinic = Clinic::new();
    clinic.world.feed(&["account", "add", "work"], KEY).ok();
    fs::remove_file(clinic.world.data().join("secrets/jules/work")).unwrap();
    expect![[r#"
        error    jules_key_missing  account `work`: its key is not kept and JULES_API_KEY is not set | cause: the account has no key, so Jules is not even asked | mend: make a key at https://jules.google.com/settings and run `gaffer account add work --replace-key`
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn a_token_of_githubs_is_the_key() {
    let clinic = Clinic::new().set("JULES_API_KEY", "ghp_0123456789012345678901234567890123456");
    let before = clinic.sandbox.requests().len();
    expect![[r#"
        error    jules_key_kind  account `default`: what is kept as its key is a token of GitHub's | cause: what stands there is no key of Google's; it was not sent to Jules | mend: make a key at https://jules.google.com/settings, run `gaffer account add default --replace-key`, and replace the credential that stood there
        warning  not_looked_at  acme/shop: its connection to Jules could not be seen: Jules was not asked for account `default` | cause: what could not be seen may be wrong all the same, and nothing else is said of it | mend: mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again
    "#]].assert_eq(&clinic.ills(&[]));
    // A credential of another service is not shown to Jules.
    let asked = clinic.sandbox.requests().split_off(before);
    assert!(
        asked.iter().all(|it| it.service != Service::Jules),
        "{asked:?}"
    );
}

#[test]
fn gaffers_own_token_is_the_key() {
    let clinic = Clinic::new().set("JULES_API_KEY", "gaf_0123456789abcdef0123456789abcdef");
    expect![[r#"
        error    jules_key_kind  account `default`: what is kept as its key is a token of Gaffer's own API | cause: what stands there is no key of Google's; it was not sent to Jules | mend: make a key at https://jules.google.com/settings, run `gaffer account add default --replace-key`, and replace the credential that stood there
        warning  not_looked_at  acme/shop: its connection to Jules could not be seen: Jules was not asked for account `default` | cause: what could not be seen may be wrong all the same, and nothing else is said of it | mend: mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn jules_refuses_the_key() {
    let clinic = Clinic::new().set("JULES_API_KEY", "wrong-key");
    expect![[r#"
        error    jules_key_refused  account `default`: listing the repositories of account `default`: Jules answered 401 UNAUTHENTICATED; store a valid key for this account: Request had invalid authentication credentials. Expected OAuth 2 access token, lo… | cause: Jules does not accept the key: it was deleted, disabled because it was found in public, or cut while it was copied | mend: make a new key at https://jules.google.com/settings and run `gaffer account add default --replace-key`
        warning  not_looked_at  acme/shop: its connection to Jules could not be seen: listing the repositories of account `default`: Jules answered 401 UNAUTHENTICATED; store a valid key for this account: Request had invalid authentication credentials. Expected OAuth 2 access token, lo… | cause: what could not be seen may be wrong all the same, and nothing else is said of it | mend: mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again
    "#]].assert_eq(&clinic.ills(&[]));
    clinic
        .sandbox
        .jules()
        .switch(|it| it.bad_key = BadKey::Invalid);
    expect![[r#"
        error    jules_key_refused  account `default`: listing the repositories of account `default`: Jules answered 400 INVALID_ARGUMENT; store a valid key for this account: API key not valid. Please pass a valid API key. | cause: Jules does not accept the key: it was deleted, disabled because it was found in public, or cut while it was copied | mend: make a new key at https://jules.google.com/settings and run `gaffer account add default --replace-key`
        warning  not_looked_at  acme/shop: its connection to Jules could not be seen: listing the repositories of account `default`: Jules answered 400 INVALID_ARGUMENT; store a valid key for this account: API key not valid. Please pass a valid API key. | cause: what could not be seen may be wrong all the same, and nothing else is said of it | mend: mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn jules_lets_nobody_in() {
    let clinic = Clinic::new();
    answers(&clinic, 403);
    expect![[r#"
        error    jules_forbidden  account `default`: listing the repositories of account `default`: Jules answered 403 PERMISSION_DENIED: The caller does not have permission | cause: Jules knows the key and does not let its owner in | mend: open https://jules.google.com as the key's owner and accept its terms, or use a key of another person
        warning  not_looked_at  acme/shop: its connection to Jules could not be seen: listing the repositories of account `default`: Jules answered 403 PERMISSION_DENIED: The caller does not have permission | cause: what could not be seen may be wrong all the same, and nothing else is said of it | mend: mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn jules_cannot_be_reached() {
    let closed = HeldPort::take();
    let base = format!("http://{}/v1alpha", closed.address());
    let clinic = Clinic::new().set("JULES_API_BASE", base);
    expect![[r#"
        error    jules_unreachable  account `default`: listing the repositories of account `default`: Jules could not be reached (Connection refused (os error 111)) | cause: no answer came from Jules: the network, a proxy, or the address in JULES_API_BASE | mend: check the network, and unset JULES_API_BASE unless you mean it
        warning  not_looked_at  acme/shop: its connection to Jules could not be seen: listing the repositories of account `default`: Jules could not be reached (Connection refused (os error 111)) | cause: what could not be seen may be wrong all the same, and nothing else is said of it | mend: mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn jules_is_in_trouble() {
    let clinic = Clinic::new();
    answers(&clinic, 503);
    expect![[r#"
        warning  jules_trouble  account `default`: listing the repositories of account `default`: Jules answered 503 UNAVAILABLE: The service is currently unavailable. | cause: Jules answered with an error that may pass by itself | mend: run `gaffer doctor` again in a few minutes
        warning  not_looked_at  acme/shop: its connection to Jules could not be seen: listing the repositories of account `default`: Jules answered 503 UNAVAILABLE: The service is currently unavailable. | cause: what could not be seen may be wrong all the same, and nothing else is said of it | mend: mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn the_limits_are_above_every_plan() {
    let clinic = Clinic::new();
    let more = ["--concurrent", "60", "--per-day", "15", "--key-stdin"];
    let add = ["account", "add", "work"];
    clinic
        .world
        .feed(&[&add[..], &more].concat(), sandbox::DEFAULT_KEY)
        .ok();
    expect![[r#"
        warning  limits_above_plan  account `work`: no plan allows 60 tasks at a time and 15 in 24 hours | cause: Jules refuses what is above the plan, and each refused create costs time | mend: run `gaffer account set work --plan free`, or the plan that you have: free, pro or ultra
    "#]].assert_eq(&clinic.ills(&[]));
    clinic.ok(&["account", "set", "work", "--plan", "free"]);
    assert_eq!(clinic.ills(&[]), "");
}

#[test]
fn another_installation_works_with_the_account() {
    let session = ForeignSession {
        count: 2,
        title: "[gaffer gother/01jv0000000000000000000007#1] Other {n}".to_owned(),
        ..ForeignSession::default()
    };
    let clinic = Clinic::with_scenario(Scenario {
        foreign: vec![Foreign::Session(session)],
        ..Scenario::default()
    });
    expect![[r#"
        warning  other_installation  account `default`: 2 of its newest sessions are of the installation `gother` | cause: another Gaffer works with the same account; both draw on one quota, and neither sees the other's waiting jobs | mend: stop one of the two, give it a key of another person, or lower the limits of both with `gaffer account set default --concurrent N --per-day N`
    "#]].assert_eq(&clinic.ills(&[]));
}
