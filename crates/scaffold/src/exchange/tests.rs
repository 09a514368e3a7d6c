//! What is read of an exchange, with files that cannot be read among it.

use domain::delivery::{self, Actor, DeliveryKind, NewDelivery, Rules};
use domain::ids::DeliveryId;
use domain::priority::Priority;

use super::*;
use crate::layout::{EXCHANGE, WORKSTREAMS};
use crate::tree::{Change, Entry};

fn tree(files: &[(&str, &str)]) -> Tree {
    let file = |(path, text): &(&str, &str)| (path.parse().unwrap(), Entry::text(*text));
    files.iter().map(file).collect()
}

const READY: &str = "id: abc123\ntitle: Retry once\nlabel: bugs\nsource_events: [aaa111, gone00]\nacceptance_criteria:\n  - It is retried.\nrequires_deep_analysis: false\n";

#[test]
fn a_requirement_has_its_events() {
    let path = ".jules/exchange/requirements/abc123-retry.yml";
    let event = ".jules/exchange/events/decided/aaa111-slow.yml";
    let files = tree(&[
        (path, READY),
        (event, "id: aaa111\n"),
        (
            ".jules/exchange/events/decided/bbb222-other.yml",
            "id: bbb222\n",
        ),
        (".jules/exchange/requirements/broken.yml", "id: [\n"),
        (
            ".jules/exchange/requirements/no-mark.yml",
            "id: ccc333\ntitle: x\n",
        ),
        (".jules/exchange/requirements/deep/ddd444.yml", READY),
    ]);
    let found = requirements(&files, &EXCHANGE);
    let [found] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(found.reference.path, path);
    assert_eq!(found.reference.events, [event]);
    assert!(!found.needs_planning);
    let criteria = acceptance_criteria(&files, &path.parse().unwrap());
    assert_eq!(criteria, ["It is retried."]);
}

#[test]
fn a_delivery_takes_a_requirement_of_any_size_and_with_any_text() {
    let path = ".jules/exchange/requirements/abc123-retry.yml";
    let secret = format!("ghp_{}", "A1b2".repeat(9));
    let criteria = format!(
        "  - It is retried.\n  - \"{}\"\n  - \"the key {secret} goes\"\n  - \" \"\n{}",
        "long ".repeat(100),
        format!("  - \"{}\"\n", "\u{1F980} ".repeat(90)).repeat(30),
    );
    let text = format!(
        "id: abc123\ntitle: \"{}\"\nproblem: \"{} {secret}\"\nacceptance_criteria:\n{criteria}requires_deep_analysis: false\n",
        "retry ".repeat(100),
        "x".repeat(9_000),
    );
    let files = tree(&[(path, &text)]);
    let [found] = &requirements(&files, &EXCHANGE)[..] else {
        panic!("no requirement");
    };
    let lines = acceptance_criteria(&files, &path.parse().unwrap());
    assert_eq!(lines[0], "It is retried.");
    assert_eq!(lines[2], "the key [secret] goes");
    let new = NewDelivery {
        id: DeliveryId::of_requirement(&"acme/shop".parse().unwrap(), &found.reference.id, 1),
        seq: 1,
        kind: DeliveryKind::Requirement,
        repo: "acme/shop".parse().unwrap(),
        issue: None,
        requirement: Some(found.reference.clone()),
        summary: found.title.clone(),
        description: Some(description(&text)),
        acceptance_criteria: lines,
        refs: Vec::new(),
        priority: Priority::default(),
        parent: None,
        by: Actor::System,
    };
    let created = delivery::create(&new, &Rules::default(), Timestamp::UNIX_EPOCH);
    let created = created.unwrap().aggregate;
    assert!(created.acceptance_criteria.len() > 3);
    let raw = NewDelivery {
        description: Some(text),
        ..new
    };
    assert!(delivery::create(&raw, &Rules::default(), Timestamp::UNIX_EPOCH).is_err());
}

#[test]
fn labels_have_the_looks_that_github_takes() {
    let text = r##"{ "issue_labels": {
        "bugs": { "color": "d73a4a", "description": "It is wrong" },
        "docs": { "color": "#0075ca" },
        "a/b": { "color": "0075ca" }
    } }"##;
    let files = tree(&[(EXCHANGE.labels, text)]);
    let look = |name: &str, colour: &str, description: &str| Label {
        name: name.to_owned(),
        colour: colour.to_owned(),
        description: description.to_owned(),
    };
    assert_eq!(
        labels(&files, &EXCHANGE),
        [
            look("bugs", "d73a4a", "It is wrong"),
            look("docs", "ededed", "")
        ]
    );
    assert_eq!(labels(&tree(&[]), &EXCHANGE).len(), 5, "those of ours");
}

#[test]
fn the_last_summary_has_a_day_or_a_moment() {
    let at = |created: &str| {
        let text = format!("created_at: \"{created}\"\n");
        let files = tree(&[(EXCHANGE.changes, &text)]);
        last_summary(&files, &EXCHANGE).map(|at| at.to_string())
    };
    assert_eq!(at("2026-03-01"), Some("2026-03-01T00:00:00Z".to_owned()));
    assert_eq!(
        at("2026-03-01T08:30:00Z"),
        Some("2026-03-01T08:30:00Z".to_owned())
    );
    assert_eq!(at("lately"), None);
    assert_eq!(last_summary(&tree(&[]), &EXCHANGE), None);
    let made_up =
        "# Gaffer made this file up for the trial run mock-1.\ncreated_at: \"2026-03-01\"\n";
    let files = tree(&[(EXCHANGE.changes, made_up)]);
    assert_eq!(last_summary(&files, &EXCHANGE), None, "of a trial run");
}

#[test]
fn only_files_below_the_two_folders_belong_to_the_pipeline() {
    for (path, is) in [
        (".jules/exchange/changes.yml", true),
        (".jlo/config.toml", true),
        (".jules.md", false),
        ("src/.jules/a", false),
    ] {
        assert_eq!(is_of_pipeline(path), is, "{path}");
    }
}

#[test]
fn settings_that_name_other_branches_do_not_fit() {
    let config = crate::config::parse("c", "[run]\njules_worker_branch = \"bots\"\n").unwrap();
    let said = misfit(&config, "main", "jules").unwrap();
    assert!(said.contains("`bots` in `jules_worker_branch`"), "{said}");
    let said = misfit(&config, "trunk", "bots").unwrap();
    assert!(said.contains("`main` in `jlo_target_branch`"), "{said}");
    assert_eq!(misfit(&config, "main", "bots"), None);
}

#[test]
fn a_proposal_becomes_an_issue_that_calls_no_one() {
    let path = ".jules/exchange/proposals/recruiter-one.yml";
    let text = "id: abc123\npersona: recruiter\ncreated_at: \"2026-03-01\"\ntitle: \"Ask @ann <!-- x\"\nproblem: Nobody answers.\nimpact_surface:\n  - docs\n  - code\n";
    let files = tree(&[
        (path, text),
        (".jules/exchange/proposals/.gitkeep", ""),
        (".jules/exchange/proposals/broken.yml", "id: [\n"),
    ]);
    let found = proposals(&files, &EXCHANGE);
    let [found] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(found.path.as_str(), path);
    assert_eq!(found.title, "[innovator/recruiter] Ask (at)ann &lt;!-- x");
    assert!(found.marker.starts_with("proposal:abc123:"));
    assert_eq!(found.label(), "innovator/recruiter");
    assert!(
        found
            .body
            .starts_with("## Problem\n\nNobody answers.\n\n## Introduction\n\n\n\n")
    );
    assert!(
        found
            .body
            .contains("## Impact surface\n\n- docs\n- code\n\n")
    );
}

#[test]
fn a_requirement_is_named_by_a_file_of_its_folder() {
    let broken = ".jules/exchange/requirements/broken.yml";
    let ready = ".jules/exchange/requirements/abc123-retry.yml";
    let event = ".jules/exchange/events/decided/aaa111-slow.yml";
    let files = tree(&[(ready, READY), (broken, "id: [\n"), (event, "id: aaa111\n")]);
    let found = named(&files, &EXCHANGE, ready).unwrap();
    assert_eq!(found.reference.events, [event]);
    for (path, why) in [
        (event, "is no requirement"),
        (".jlo/config.toml", "is no requirement"),
        (
            ".jules/exchange/requirements/../events/decided/aaa111-slow.yml",
            "is no requirement",
        ),
        (
            ".jules/exchange/requirements/deep/abc123.yml",
            "is no requirement",
        ),
        (".jules/exchange/requirements/.gitkeep", "is no requirement"),
        (".jules/exchange/requirements/none.yml", "is not there"),
        (broken, "cannot be read"),
    ] {
        let refused = named(&files, &EXCHANGE, path).unwrap_err().to_string();
        assert!(refused.contains(path) && refused.contains(why), "{refused}");
    }
}

#[test]
fn a_requirement_that_is_not_there_names_the_nearest_one() {
    let ready = ".jules/exchange/requirements/abc123-retry.yml";
    let files = tree(&[(ready, READY)]);
    let said = |name: &str| {
        let path = format!(".jules/exchange/requirements/{name}");
        named(&files, &EXCHANGE, &path).unwrap_err().to_string()
    };
    let near = said("abc123-retyr.yml");
    assert!(
        near.ends_with(&format!("did you mean `{ready}`?")),
        "{near}"
    );
    // The folder is the same for all, so only the names count.
    let far = said("zzzzzz.yml");
    assert!(far.contains("`gaffer exchange inspect` lists"), "{far}");
}

#[test]
fn a_requirement_of_a_trial_run_is_none_for_real_work() {
    let path = ".jules/exchange/requirements/abc123-retry.yml";
    let made_up = format!("# Gaffer made this file up for the trial run mock-1.\n{READY}");
    let files = tree(&[(path, &made_up)]);
    assert!(
        named(&files, &EXCHANGE, path).is_ok(),
        "people may remove it"
    );
    let refused = real(&files, &EXCHANGE, path).unwrap_err().to_string();
    assert!(refused.contains("of the trial run mock-1"), "{refused}");
    let files = tree(&[(path, READY)]);
    assert_eq!(
        real(&files, &EXCHANGE, path),
        named(&files, &EXCHANGE, path)
    );
}

#[test]
fn an_event_that_was_added_since_is_pending_again() {
    let path = ".jules/exchange/requirements/abc123-retry.yml";
    let own = ".jules/exchange/events/decided/aaa111-slow.yml";
    let late = ".jules/exchange/events/decided/bbb222-late.yml";
    let text = READY.replace("gone00", "bbb222");
    let files = tree(&[
        (path, &text),
        (own, "id: aaa111\nrequirement_id: abc123\n"),
        (late, "id: bbb222\nrequirement_id: abc123\n"),
    ]);
    let known = |events: &[&str]| RequirementRef {
        id: "abc123".parse().unwrap(),
        path: path.to_owned(),
        events: events.iter().map(|path| (*path).to_owned()).collect(),
    };
    let gone = |path: &str| Change::Remove(path.parse().unwrap());
    let pending = ".jules/exchange/events/pending/bbb222-late.yml";
    let again = Change::Write(
        pending.parse().unwrap(),
        "id: bbb222\nrequirement_id: \"\"\n".to_owned(),
    );
    let removed = removal(&files, &known(&[own]));
    assert_eq!(removed, [gone(path), gone(own), again, gone(late)]);
    let all = removal(&files, &known(&[own, late]));
    assert_eq!(all, [gone(path), gone(own), gone(late)]);
    let without = tree(&[(own, "id: aaa111\n")]);
    assert_eq!(removal(&without, &known(&[own])), [gone(own)]);
}

#[test]
fn an_older_requirement_has_the_label_of_its_folder_and_goes_with_its_events() {
    let path = ".jules/workstreams/generic/issues/bugs/abc123-retry.yml";
    let event = ".jules/workstreams/generic/events/decided/aaa111-slow.yml";
    let late = ".jules/workstreams/generic/events/decided/bbb222-late.yml";
    let text = READY.replace("label: bugs\n", "");
    let files = tree(&[(path, &text), (event, "id: aaa111\nissue_id: abc123\n")]);
    let [found] = &requirements(&files, &WORKSTREAMS)[..] else {
        panic!("no requirement");
    };
    assert_eq!(found.label, "bugs");
    assert_eq!(found.reference.events, [event]);
    let more = text.replace("gone00", "bbb222");
    let files = tree(&[
        (path, &more),
        (event, "id: aaa111\nissue_id: abc123\n"),
        (late, "id: bbb222\nissue_id: abc123\n"),
    ]);
    let gone = |path: &str| Change::Remove(path.parse().unwrap());
    let again = Change::Write(
        late.replace("decided", "pending").parse().unwrap(),
        "id: bbb222\nissue_id: \"\"\n".to_owned(),
    );
    let removed = removal(&files, &found.reference);
    assert_eq!(removed, [gone(path), gone(event), again, gone(late)]);
}
