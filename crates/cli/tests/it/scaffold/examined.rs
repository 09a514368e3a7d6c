//! `gaffer scaffold doctor` on committed files: what was planted is found, and only what is missing is fixed.

use engine::machine::SystemClock;
use engine::ports::Clock;
use jiff::tz::TimeZone;

use super::at_work::{DECIDED, PENDING, READY};
use super::repository::Repository;

const DOCTOR: &[&str] = &["scaffold", "doctor"];

pub(super) fn today() -> String {
    let now = SystemClock.now().to_zoned(TimeZone::UTC);
    now.date().to_string()
}

/// What is found first, as `rule file:line`, and the exit code.
fn found(repository: &Repository, arguments: &[&str]) -> (Vec<String>, i32) {
    let ran = repository.run(&[DOCTOR, arguments, &["--json"]].concat());
    let told = ran.json();
    let findings = told["findings"].as_array().unwrap();
    let place = |it: &serde_json::Value| {
        let word = |key: &str| it[key].as_str().unwrap().to_owned();
        format!("{} {}:{}", word("rule"), word("file"), it["line"])
    };
    (findings.iter().map(place).collect(), ran.code)
}

/// A file of the worker branch with one text in place of another.
fn replace(repository: &Repository, path: &str, old: &str, new: &str) {
    let text = repository.git(&["show", &format!("jules:{path}")]);
    assert!(text.contains(old), "{text}");
    let text = format!("{}\n", text.replacen(old, new, 1));
    repository.commit_to_worker(&[(path, Some(&text))]);
}

#[test]
fn nothing_is_wrong_with_a_pipeline_at_work() {
    let repository = Repository::at_work(&today());
    assert_eq!(found(&repository, &["--strict"]), (Vec::new(), 0));
}

#[test]
fn planted_faults_are_found_with_file_and_line() {
    for (path, old, new, place) in [
        (PENDING, "confidence: high", "confidence: certain", "value"),
        (
            PENDING,
            "author_role: qa",
            "author_role: qa\nmood: good",
            "unknown-key",
        ),
        (DECIDED, "cc11dd", "zz99zz", "link"),
        (READY, "label: bugs", "label: bug", "label"),
        (
            READY,
            "priority: high",
            "priority: high\npriority: low",
            "unreadable",
        ),
        (
            ".jules/roles/planner/contracts.yml",
            "layer: planner",
            "layer: decider",
            "contracts",
        ),
    ] {
        let repository = Repository::at_work(&today());
        let text = repository.git(&["show", &format!("jules:{path}")]);
        let before = text.split(old).next().unwrap();
        let line = before.lines().count() + new.lines().count();
        replace(&repository, path, old, new);
        let (places, code) = found(&repository, &[]);
        let wanted = format!("{place} {path}:");
        assert!(
            places.iter().any(|it| it.starts_with(&wanted)),
            "{wanted}: {places:?}"
        );
        assert_eq!(code, 1, "{places:?}");
        if ["value", "unknown-key", "label"].contains(&place) {
            assert!(places.contains(&format!("{wanted}{line}")), "{places:?}");
        }
        let told = repository.run(DOCTOR);
        told.prints(&[&format!("[ERROR] {path}:")]);
    }
}

#[test]
fn faults_of_what_people_own_are_found_where_they_are_committed() {
    let repository = Repository::set_up();
    let config = repository.read(".jlo/config.toml");
    let broken = config.replace("[workflow]", "[workflow]\ntime_zone = \"UTC\"");
    repository.write(".jlo/config.toml", &broken);
    let ran = repository.run(DOCTOR);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "0 errors, 0 warnings.\n")
    );
    assert!(ran.stderr.contains("not committed"), "{ran:?}");
    repository.commit("Break it");
    let line = 1 + broken
        .lines()
        .position(|it| it.starts_with("time_zone"))
        .unwrap();
    let expected = format!("config .jlo/config.toml:{line}");
    assert_eq!(found(&repository, &[]), (vec![expected], 1));
    let ran = repository.run(DOCTOR);
    assert!(ran.stdout.contains("did you mean `timezone`?"), "{ran:?}");
    repository.git(&["add", "--force", "."]);
    repository.write(".jlo/setup/secrets.toml", "[TOKEN]\nvalue = \"\"\n");
    repository.write(".jlo/config.toml", &config);
    repository.git(&["add", "--all", "--force"]);
    repository.git(&["commit", "--quiet", "-m", "Track it"]);
    let expected = "tracked-secrets .jlo/setup/secrets.toml:1".to_owned();
    assert_eq!(found(&repository, &[]), (vec![expected], 1));
}

#[test]
fn warnings_stop_only_those_who_are_strict() {
    let repository = Repository::at_work("2026-02-17");
    let waiting = vec![format!("waiting {PENDING}:4")];
    assert_eq!(found(&repository, &[]), (waiting.clone(), 0));
    assert_eq!(found(&repository, &["--strict"]), (waiting, 2));
}

#[test]
fn a_revision_is_examined_in_place_of_the_branch() {
    let repository = Repository::at_work(&today());
    repository.git(&["branch", "session", "jules"]);
    repository.commit_to("session", &[(READY, Some("id: [\n"))]);
    assert_eq!(found(&repository, &[]).1, 0);
    let (places, code) = found(&repository, &["--ref", "session"]);
    let unreadable = format!("unreadable {READY}:");
    assert!(
        places.iter().any(|it| it.starts_with(&unreadable)),
        "{places:?}"
    );
    assert_eq!(code, 1);
    // A branch of what people own is examined with the worker branch.
    repository.git(&["branch", "settings", "main"]);
    repository.commit_to("settings", &[(".jlo/.jlo-version", Some("newest\n"))]);
    let expected = vec!["version .jlo/.jlo-version:1".to_owned()];
    assert_eq!(found(&repository, &["--ref", "settings"]), (expected, 1));
}

#[test]
fn the_doctor_puts_back_what_is_missing_and_nothing_else() {
    let repository = Repository::at_work(&today());
    let changed = "Rules of our own.\n";
    repository.commit_to_worker(&[
        (".jules/README.md", None),
        (".jules/exchange/proposals/.gitkeep", None),
        (".jules/JULES.md", Some(changed)),
        ("README.md", Some("Another shop.\n")),
    ]);
    let (tip, status) = (
        repository.git(&["rev-parse", "jules"]),
        repository.git(&["status", "--porcelain"]),
    );
    assert_eq!(found(&repository, &[]).1, 1);
    let fixed = repository.json(&[DOCTOR, &["--fix"]].concat());
    let expected = [".jules/README.md", ".jules/exchange/proposals/.gitkeep"];
    assert_eq!(fixed["fixed"], serde_json::json!(expected));
    let differing = repository.git(&["diff", "--name-only", &tip, "jules"]);
    assert_eq!(differing.lines().collect::<Vec<_>>(), expected);
    assert_eq!(repository.git(&["rev-parse", "jules^"]), tip);
    assert_eq!(repository.git(&["status", "--porcelain"]), status);
    let again = repository.json(&[DOCTOR, &["--fix"]].concat());
    assert_eq!(again["fixed"], serde_json::json!([]));
    repository.git(&["fsck", "--strict"]);
}

#[test]
fn a_repository_without_a_worker_branch_is_told_to_bootstrap() {
    let repository = Repository::new();
    repository.run(&["scaffold", "init"]).ok();
    repository.commit("Set Gaffer up");
    let ran = repository.run(DOCTOR);
    assert_eq!(ran.code, 1);
    ran.prints(&["bootstrap the repository first, with `gaffer scaffold bootstrap`"]);
}
