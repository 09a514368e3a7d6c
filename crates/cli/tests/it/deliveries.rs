//! `gaffer delivery` against the real API over the same data folder, with no dispatcher behind it.

use domain::ids::RepoName;
use domain::intake::Intake;
use engine::backend::Backend;
use engine::settings::Switches;
use serde_json::{Value, json};

use crate::jobs::{backend, save, world};
use crate::world::{Fields, Told, World, words};

const REPO: &str = "acme/shop";

/// A delivery of an issue in a source that waits for a person at its plan.
fn create(world: &World) -> String {
    let made = world.json(&[
        "delivery",
        "create",
        "Add search",
        "--repo",
        REPO,
        "--issue",
        "12",
        "--criterion",
        "finds by name",
        "--ref",
        "trigger:jira:SHOP-7",
        "--priority",
        "7",
    ]);
    made["delivery"]["id"].as_str().unwrap().to_owned()
}

fn place(answer: &Value) -> (&str, &str) {
    let delivery = &answer["delivery"];
    let word = |field: &str| delivery[field].as_str().unwrap();
    (word("phase"), word("run_status"))
}

#[test]
fn an_export_has_sources_jobs_and_deliveries() {
    let world = world();
    let id = create(&world);
    let said = world.run(&["export"]).ok().stdout;
    let lines: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kind = |kind: &str| lines.iter().filter(|line| line["line"] == kind).count();
    assert_eq!((kind("source"), kind("delivery")), (1, 1), "{said}");
    let delivery = lines
        .iter()
        .find(|line| line["line"] == "delivery")
        .unwrap();
    delivery.holds(&json!({ "id": id.as_str(), "phase": "plan" }));
    delivery["delivery"].holds(&json!({ "runs": [], "issue": "acme/shop#12" }));
    for beside in ["events", "transcripts"] {
        assert_eq!(delivery[beside], json!([]), "{beside}");
    }
}

#[test]
fn a_delivery_is_created_listed_shown_and_explained() {
    let world = world();
    let id = create(&world);
    let shown = world.json(&["delivery", "show", &id]);
    assert_eq!(place(&shown), ("plan", "pending"));
    assert_eq!(world.json(&["delivery", "show", "acme/shop#12"]), shown);
    let listed = world.json(&["delivery", "list", "--needs", "person"]);
    assert_eq!(listed["deliveries"][0]["id"], id.as_str());
    let told = world.json(&["delivery", "list", "--phase", "review", "--all"]);
    assert_eq!(told["deliveries"], json!([]));
    let board = world.json(&["delivery", "board"]);
    assert_eq!(board["phases"][1]["phase"], "plan");
    assert_eq!(board["phases"][1]["deliveries"][0]["id"], id.as_str());
    let parts = board["phases"].as_array().unwrap();
    let parts: Vec<(&str, &str)> = parts
        .iter()
        .map(|it| (it["part"].as_str().unwrap(), it["phase"].as_str().unwrap()))
        .collect();
    assert_eq!(parts[3..5], [("ci", "review"), ("cd", "verify")]);
    let said = world.run(&["delivery", "board"]).ok().stdout;
    let (ci, cd) = said.split_once("Delivery (CD):").unwrap();
    assert!(ci.contains("Integration (CI):") && ci.contains("Add search"));
    assert!(cd.contains("None.") && !cd.contains("Add search"), "{said}");
    let why = world.json(&["delivery", "why", &id]);
    assert_eq!(why["because"][0]["code"], "awaits_start");
    for (command, said) in [
        (&["delivery", "list"][..], "plan, pending"),
        (&["delivery", "board", "--repo", REPO], "Add search"),
        (&["delivery", "show", &id], "finds by name"),
        (&["delivery", "show", &id], "- trigger:jira:SHOP-7"),
        (&["delivery", "show", &id], "gaffer delivery start"),
        (&["delivery", "why", &id], "[awaits_start]"),
        (&["delivery", "wait", &id], "Waits for"),
    ] {
        let ran = world.run(command).ok();
        let said = said.to_lowercase();
        assert!(ran.stdout.to_lowercase().contains(&said), "{said}: {ran:?}");
    }
}

/// Works on the store of a world.
fn with_backend(world: &World, work: impl AsyncFnOnce(&Backend)) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(work(&backend(world)));
}

/// What waits for a person is held up by nothing, and the board tells all the same that the rest is.
#[test]
fn the_board_says_whether_gaffer_only_observes() {
    for observe_only in [false, true] {
        let world = world();
        create(&world);
        let switches = Switches {
            observe_only,
            ..Switches::default()
        };
        with_backend(&world, async |backend| save(backend, &(), &switches).await);
        let board = world.json(&["delivery", "board"]);
        assert_eq!(board["observe_only"], observe_only);
        let said = world.run(&["delivery", "board"]).ok().stdout;
        let told = said.contains("Gaffer only observes");
        assert_eq!(told, observe_only, "{said}");
    }
}

/// What a reading of issues that failed leaves in the store.
pub(crate) async fn fail_reading(backend: &Backend) {
    let repo: RepoName = REPO.parse().unwrap();
    let found = backend.store.get_or_initial::<Intake>(&repo).await.unwrap();
    let next = found
        .value
        .failed("GitHub answers 502", backend.now(), None);
    save(backend, &repo, &next).await;
}

/// A source whose issues the dispatcher could not read.
fn with_unread_issues() -> World {
    let world = world();
    world.done(&["source", "set", REPO, "--label", "gaffer"]);
    with_backend(&world, fail_reading);
    world
}

#[test]
fn a_source_whose_issues_could_not_be_read_looks_idle_nowhere() {
    let world = with_unread_issues();
    let _up = world.worked_over();
    let why = "the issues of acme/shop could not be read: GitHub answers 502";
    for command in [
        &["delivery", "board"][..],
        &["delivery", "board", "--repo", REPO],
        &["delivery", "list"],
        &["source", "show", REPO],
        &["source", "list"],
        &["status"],
        &["top", "--once"],
    ] {
        assert!(world.run(command).ok().stdout.contains(why), "{command:?}");
        let unread = world.json(command)["unread_issues"].clone();
        assert_eq!(unread[0]["repo"], REPO, "{command:?}");
        assert_eq!(unread[0]["sentence"], why, "{command:?}");
    }
    world.run(&["source", "add", "acme/other"]).ok();
    for command in [
        &["delivery", "board", "--repo", "acme/other"][..],
        &["source", "show", "acme/other"],
    ] {
        assert!(!world.run(command).ok().stdout.contains(why), "{command:?}");
        assert_eq!(world.json(command)["unread_issues"], json!([]));
    }
}

#[test]
fn what_a_pause_holds_up_is_shown_and_listed_with_its_end() {
    let world = world();
    let id = create(&world);
    world.run(&["pause"]).ok();
    // The answer to an order says so, too.
    let started = world.run(&["delivery", "start", &id]).ok().stdout;
    let shown = world.run(&["delivery", "show", &id]).ok().stdout;
    let end = "everything is paused, and goes on once it is resumed; `gaffer resume` lets everything go on";
    for said in [&started, &shown] {
        said.tells(&[end, "Everything is paused."]);
    }
    for listed in [&["delivery", "list"][..], &["delivery", "board"]] {
        let said = world.run(listed).ok().stdout;
        said.tells(&["person, paused", "`gaffer resume`"]);
    }
    world.run(&["resume"]).ok();
    world.run(&["source", "pause", REPO]).ok();
    let shown = world.run(&["delivery", "show", &id]).ok().stdout;
    shown.tells(&["`gaffer source resume acme/shop`"]);
    world.run(&["source", "resume", REPO]).ok();
    let shown = world.run(&["delivery", "show", &id]).ok().stdout;
    assert!(!shown.contains("paused"), "{shown}");
}

#[test]
fn a_delivery_is_started_cancelled_and_tried_again() {
    let world = world();
    let id = create(&world);
    let order = |verb: &str, more: &[&str]| {
        let line = [&["delivery", verb, "acme/shop#12"][..], more].concat();
        world.json(&line)
    };
    let started = order("start", &[]);
    assert_eq!(place(&started), ("plan", "running"));
    let spans = started["delivery"]["phase_runs"].as_array().unwrap();
    assert_eq!(spans.last().unwrap()["actor"], "person at the command line");
    let cancelled = order("cancel", &[]);
    assert_eq!(place(&cancelled), ("plan", "failed"));
    let told = world.refused(&["delivery", "wait", &id, "--until", "closed"]);
    told.is(1, "failed");
    told.tells("", "gaffer delivery retry");
    let again = order("retry", &["--reason", "keep the old route"]);
    assert_eq!(place(&again), ("plan", "running"));
    assert_eq!(again["delivery"]["feedback"], "keep the old route");
    let told = world.refused(&["delivery", "wait", &id, "--within", "1s"]);
    told.is(1, "still_waiting");
    for name in [id.as_str(), "acme/shop#12"] {
        let told = world.json(&["logs", "--delivery", name]);
        assert_eq!(told["delivery_id"], id.as_str());
        let by_hand = json!("failed, by person at the command line");
        let mut entries = told["entries"].as_array().unwrap().iter();
        assert!(entries.any(|it| it["outcome"] == by_hand), "{told}");
    }
}

#[test]
fn a_plan_is_sent_and_a_delivery_split_by_people() {
    let world = world();
    world.done(&words(&format!(
        "source set {REPO} --plan-by human --no-checkpoints"
    )));
    let id = create(&world);
    let plan = world.data().join("plan.md");
    std::fs::write(&plan, "1. Add the box.").unwrap();
    let parts = world.data().join("parts.json");
    let two = json!([
        { "summary": "The box", "acceptance_criteria": ["it is there"] },
        { "summary": "The index", "acceptance_criteria": [] },
    ]);
    std::fs::write(&parts, two.to_string()).unwrap();
    let split = world.json(&["delivery", "split", &id, "--file", parts.to_str().unwrap()]);
    assert_eq!(split["delivery"]["children"][1]["summary"], "The index");
    let third = world.json(&["delivery", "create", "Mend", "--repo", REPO]);
    let third = third["delivery"]["id"].as_str().unwrap().to_owned();
    let part = "The door\n- [ ] it opens\n- [ ] it closes";
    world.done(&["delivery", "split", &third, "--part", part]);
    let exported = world.run(&["export"]).ok().stdout;
    let mut lines = exported.lines();
    let line = lines.find_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        (line["id"] == third.as_str()).then_some(line)
    });
    assert_eq!(
        line.unwrap()["delivery"]["children"][0]["acceptance_criteria"],
        json!(["it opens", "it closes"])
    );
    let other = world.json(&["delivery", "create", "Tidy", "--repo", REPO]);
    let other = other["delivery"]["id"].as_str().unwrap().to_owned();
    let file = plan.to_str().unwrap();
    let planned = world.json(&words(&format!(
        "delivery plan {other} --file {file} --target-file src/box.rs"
    )));
    assert_eq!(planned["delivery"]["plan"]["content"], "1. Add the box.");
    assert_eq!(place(&planned), ("implement", "running"));
}

#[test]
fn what_cannot_be_done_now_exits_with_1_and_bad_usage_with_2() {
    let world = world();
    let id = create(&world);
    let sha = "1111111111111111111111111111111111111111";
    for (command, code) in [
        (&["approve", &id][..], "nothing_to_approve"),
        (&["reject", &id, "--reason", "no"], "nothing_to_reject"),
        (&["retry", &id], "not_failed"),
        (&["cancel", &id], "not_running"),
        (&["verdict", &id, "pass", "--sha", sha], "not_in_review"),
    ] {
        let told = world.refused(&[&["delivery"][..], command].concat());
        told.is(1, code);
        told.tells("", "`start`");
    }
    let parts = ["--part", "A piece"].repeat(21);
    let many = [&["delivery", "split", &id][..], &parts].concat();
    let told = world.refused(&many);
    assert_eq!(told.code, "odd_number_of_children");
    assert!(told.error.contains("1 to 20 parts, not 21"), "{told:?}");
    assert!(!told.error.contains("`children`"), "{told:?}");
    let again = ["delivery", "create", "x", "--repo", REPO, "--issue", "12"];
    let told = world.refused(&again);
    told.is(1, "exists");
    told.tells("", &format!("gaffer delivery show {id}"));
    // No process runs that could read it.
    let told = world.refused(&["delivery", "create", "--repo", REPO, "--issue", "13"]);
    told.is(1, "not_read_yet");
    let told = world.refused(&["delivery", "transcript", &id]);
    told.is(1, "no_such_run");
    let told = world.refused(&["delivery", "show", "0123456789ab"]);
    told.is(1, "no_such_delivery");
    for command in [
        &["create", "--repo", REPO][..],
        &["reject", &id],
        &["verdict", &id, "pass"],
        &["verdict", &id, "perhaps", "--sha", sha],
        &["verdict", &id, "not-pass", "--sha", sha],
        &["split", &id],
        &["split", &id, "--part", "The box\nThe index"],
        &["transcript", &id, "--run", "newest"],
        &["list", "--phase", "merge"],
        &["create", "x", "--repo", REPO, "--again"],
        &["create", "x", "--repo", REPO, "--ref", "SHOP-7"],
    ] {
        let told = world.refused(&[&["delivery"][..], command].concat());
        assert_eq!(told.exit, 2, "{command:?}: {told:?}");
    }
    assert_eq!(
        place(&world.json(&["delivery", "show", &id])),
        ("plan", "pending")
    );
}

#[test]
fn who_waits_for_what_cannot_come_is_told_at_once() {
    let world = world();
    for (issue, code, next) in [
        (
            "acme/nowhere#1",
            "no_such_source",
            "gaffer source add acme/nowhere",
        ),
        (
            "acme/shop#13",
            "no_intake_label",
            "gaffer source set acme/shop --label",
        ),
    ] {
        let told = world.refused(&["delivery", "wait", issue, "--within", "5m"]);
        told.is(1, code);
        told.tells("", next);
    }
    let told = world.refused(&["source", "sync", REPO]);
    told.is(1, "no_intake_label");
    world.done(&["source", "set", REPO, "--label", "gaffer"]);
    // No process runs that could read them.
    let told = world.refused(&["source", "sync", REPO]);
    told.is(1, "not_read_yet");
    let told = world.refused(&["delivery", "wait", "acme/shop#13", "--within", "1s"]);
    told.is(1, "not_read_yet");
    told.tells("", "--issue 13");
}

#[test]
fn a_delivery_is_edited_and_what_there_is_not_is_neither_collected_nor_analysed() {
    let world = world();
    let id = create(&world);
    let edit = [
        "delivery",
        "edit",
        &id,
        "--summary",
        "Add a box",
        "--criterion",
        "it is there",
    ];
    let page = "https://jira.example.com/SHOP-8";
    let refers = format!("trigger:jira:SHOP-8 {page}");
    let more = ["--priority", "9", "--ref", &refers];
    let edited = world.json(&[&edit[..], &more].concat())["delivery"].clone();
    edited.holds(&json!({
        "summary": "Add a box", "priority": 9, "acceptance_criteria": ["it is there"],
    }));
    // The first one is its issue.
    let labels = [1_usize, 2].map(|at| edited["refs"][at]["label"].clone());
    assert_eq!(labels, [json!("SHOP-7"), json!("SHOP-8")]);
    assert_eq!(edited["refs"][2]["url"], page);
    assert_eq!(world.refused(&["delivery", "edit", &id]).exit, 2);
    // No process runs that could read the session.
    let told = world.refused(&["delivery", "collect", &id, "31415926535897932384"]);
    told.is(1, "not_read_yet");
    let text = ["delivery", "analysis", &id, "--text", "too much at once"];
    let told = world.refused(&[&text[..], &["--suggestion", "the box first"]].concat());
    told.is(1, "no_such_run");
    let told = world.refused(&[&text[..], &["--run", "0123abcd"]].concat());
    told.is(1, "no_such_run");
}

#[test]
fn what_does_not_go_together_is_refused_with_a_way_out() {
    let world = world();
    for (wrong, what, next) in [
        (
            &["--review-by", "agent"][..],
            "--review-by agent",
            "--agent NAME",
        ),
        (
            &["--endpoint", "implement"],
            "`review` comes after endpoint `implement`",
            "--checkpoint",
        ),
    ] {
        let told = world.refused(&[&["source", "set", REPO][..], wrong].concat());
        assert_eq!(told.exit, 2, "{told:?}");
        told.tells(what, next);
    }
    let both = ["--endpoint", "implement", "--checkpoint", "plan"];
    world.done(&[&["source", "set", REPO][..], &both].concat());
}

#[test]
fn a_source_that_changes_later_changes_no_delivery() {
    let world = world();
    let id = create(&world);
    world.done(&words(&format!(
        "source set {REPO} --endpoint verify --no-checkpoints"
    )));
    let shown = world.json(&["delivery", "show", &id]);
    assert_eq!(shown["delivery"]["endpoint"], "deploy");
    let checkpoints = json!(["plan", "implement", "review"]);
    assert_eq!(shown["delivery"]["checkpoints"], checkpoints);
}
