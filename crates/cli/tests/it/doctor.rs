//! `gaffer doctor` by its real binary against the sandbox: every misconfiguration is produced, and its cause and
//! remedy are reported.

mod accounts;
mod agents;
mod clinic;
mod credential;
mod machine;
mod merging;
mod page;
mod repository;
mod webhooks;
mod work;

use serde_json::{Value, json};

use clinic::Clinic;

use crate::world::{Fields, Told};

#[test]
fn a_healthy_installation_is_told_so_and_nothing_was_written() {
    let clinic = Clinic::new();
    let (told, code) = clinic.report(&[]);
    expect_test::expect![[r#"
        ok       data  data folder DATA: it can be read, and its disk has room
        ok       clock  this machine's clock: it agrees with the clocks of Jules and GitHub
        ok       jules  account `default`: Jules accepts its key; repositories it shows: 1
        ok       github  GitHub credential: GitHub accepts it; it is of `octo-owner`
        ok       source  acme/shop: Jules and GitHub show it, and what is demanded of a merge can be met
        ok       webhook  acme/shop: there is none; changes are seen when they are looked for
        ok       agent  agent `helper`: SANDBOX takes connections
        ok       work  work: nothing is paused and nothing was set aside
        0 errors, 0 warnings.
    "#]].assert_eq(&told);
    assert_eq!(code, 0, "{told}");
    let counters = clinic.sandbox.counters();
    assert_eq!((counters.github_writes, counters.creates), (0, 0));
    assert_eq!(clinic.sandbox.agents().received("helper").len(), 0);
}

#[test]
fn programs_get_every_finding_with_its_code_and_people_get_three_lines_each() {
    let clinic = Clinic::new().set("GITHUB_TOKEN", "AIzaSyTEST0123456789012345678901234567890");
    let _up = clinic.world.worked_over();
    let ran = clinic.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    report.holds(&json!({ "errors": 2, "warnings": 0 }));
    let findings = report["findings"].as_array().unwrap();
    let of = |code: &str| findings.iter().find(|finding| finding["code"] == code);
    let wrong = of("github_kind").unwrap();
    assert_eq!(wrong["severity"], "error");
    for field in ["about", "what", "cause", "mend"] {
        assert!(
            wrong[field].as_str().is_some_and(|text| !text.is_empty()),
            "{field}"
        );
    }
    let fine = of("jules").unwrap();
    fine.holds(&json!({ "severity": "ok", "cause": null }));
    let told: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(told["code"], "unhealthy");
    let lines = clinic.run(&["doctor"]).stdout;
    let of_each = |finding: &Value| match finding["severity"].as_str() {
        Some("ok") => 1,
        _ => 3,
    };
    let count: usize = findings.iter().map(of_each).sum();
    assert_eq!(lines.lines().count(), count + 1, "{lines}");
    lines.tells(&["\n         cause: ", "\n         mend: "]);
    // The misplaced secret is shown nowhere.
    assert!(!ran.says("AIzaSyTEST") && !lines.contains("AIzaSyTEST"));
}

#[test]
fn it_works_beside_a_writer_and_leaves_the_store_as_it_was() {
    let clinic = Clinic::new();
    let before = clinic.records();
    clinic.with_backend(async |_| {
        let (told, code) = clinic.report(&[]);
        assert_eq!((told.lines().count() > 3, code), (true, 0), "{told}");
    });
    assert_eq!(clinic.records(), before);
}

#[test]
fn one_source_is_looked_at_alone() {
    let clinic = Clinic::new();
    clinic.ok(&["source", "add", "acme/none"]);
    let _up = clinic.world.worked_over();
    assert_eq!(clinic.run(&["doctor", "--source", "acme/shop"]).code, 0);
    assert_eq!(clinic.run(&["doctor", "--source", "acme/none"]).code, 1);
    let unknown = clinic
        .run(&["doctor", "--source", "acme/other", "--json"])
        .failure();
    unknown.is(1, "no_such");
}
