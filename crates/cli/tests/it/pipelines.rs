//! `gaffer pipeline`, `gaffer requirement` and `gaffer run` against the real API over the same data folder, with no
//! dispatcher behind it.

use std::thread;
use std::time::{Duration, Instant};

use domain::pipeline::{FoundRequirement, Requirement, RequirementRef, RequirementState};
use serde_json::{Value, json};

use crate::jobs::{backend, world};
use crate::world::{FailureText, Fields, Ran, Told, World};

const REPO: &str = "acme/shop";

/// How long a run that another process began may take to show.
const SOON: Duration = Duration::from_secs(120);

fn on() -> World {
    let world = world();
    world.json(&["pipeline", "on", REPO]);
    world
}

fn start(world: &World) -> String {
    let begun = world.json(&["pipeline", "start", REPO]);
    begun["pipeline"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_pipeline_is_switched_on_changed_and_off() {
    let world = world();
    let set = world.json(&["pipeline", "on", REPO, "--exchange", "auto"]);
    let rules = json!({ "exchange": "auto", "implement": "human", "worker": "jules" });
    assert_eq!(set["source"]["pipeline"], rules);
    let more = ["pipeline", "on", REPO, "--implement", "auto"];
    let set = world.json(&more);
    assert_eq!(set["source"]["pipeline"]["exchange"], "auto", "it stays");
    assert_eq!(set["source"]["pipeline"]["implement"], "auto");
    let shown = world.run(&["source", "show", REPO]).ok().stdout;
    assert!(shown.contains("on `jules`, exchange auto"), "{shown}");
    let off = world.run(&["pipeline", "off", REPO]).ok().stdout;
    assert!(off.starts_with("The pipeline of acme/shop is off"), "{off}");
    assert!(off.contains("its settings are forgotten"), "{off}");
    let refused = world.refused(&["pipeline", "start", REPO]);
    refused.is(1, "pipeline_off");
    refused.tells("", "gaffer pipeline on acme/shop");
}

#[test]
fn a_run_is_begun_listed_shown_explained_and_called_off() {
    let world = on();
    for latest in [
        ["pipeline", "show", "latest"],
        ["logs", "--pipeline", "latest"],
    ] {
        let none = world.refused(&latest);
        none.is(1, "no_such");
        none.tells("", "gaffer pipeline start");
    }
    let id = start(&world);
    let again = world.refused(&["pipeline", "start", REPO]);
    assert_eq!(again.code, "already_running");
    assert_eq!(again.existing, id);
    let next = format!("look at it with `gaffer pipeline show {id}`");
    assert_eq!(again.next, next);
    let listed = world.json(&["pipeline", "list", REPO, "--limit", "1"]);
    assert_eq!(listed["pipelines"][0]["id"], id.as_str());
    for (command, said) in [
        (&["pipeline", "list", REPO][..], "bootstrap"),
        (&["pipeline", "list", REPO], "not read yet"),
        (&["pipeline", "show", &id], "- observers: pending"),
        (
            &["pipeline", "why", &id],
            "It waits for the step bootstrap.",
        ),
        (
            &["pipeline", "why", "latest"],
            "It waits for the step bootstrap.",
        ),
        (&["pipeline", "show", "LATEST"], "- observers: pending"),
        (&["pipeline", "cancel", &id], "cancelled the run"),
        (
            &["pipeline", "why", &id],
            "`gaffer pipeline start acme/shop` begins another run",
        ),
        (&["requirement", "list", REPO], "follows no requirement"),
    ] {
        let ran = world.run(command).ok();
        assert!(ran.stdout.contains(said), "{said}: {ran:?}");
    }
    world.refused(&["pipeline", "cancel", &id]).is(1, "ended");
    let from = world.json(&["pipeline", "start", REPO, "--from", "decider"]);
    assert_eq!(from["pipeline"]["steps"][1]["step"], "decider");
}

#[test]
fn what_changes_the_exchange_or_the_labels_is_a_run_of_its_own() {
    let world = on();
    let path = ".jules/exchange/requirements/search.yml";
    for (words, steps, requirement, mock) in [
        (
            &["labels", "sync"][..],
            &["labels"][..],
            Value::Null,
            Value::Null,
        ),
        (
            &["exchange", "publish-proposals"],
            &["bootstrap", "proposals"],
            Value::Null,
            Value::Null,
        ),
        (
            &["exchange", "clean", "requirement", path],
            &["clean"],
            json!(path),
            Value::Null,
        ),
        (
            &["exchange", "clean", "mock", "--tag", "mock-1"],
            &["clean"],
            Value::Null,
            json!("mock-1"),
        ),
    ] {
        let begun = world.json(&[words, &["--repo", REPO]].concat());
        let run = &begun["pipeline"];
        let taken = run["steps"].as_array().unwrap();
        let taken: Vec<&Value> = taken.iter().map(|step| &step["step"]).collect();
        assert_eq!(taken, steps, "{words:?}");
        assert_eq!(run["requirement"], requirement, "{words:?}");
        assert_eq!(run["mock"], mock, "{words:?}");
        world.json(&["pipeline", "cancel", run["id"].as_str().unwrap()]);
    }
}

#[test]
fn a_requirement_that_is_not_there_is_refused_with_the_nearest() {
    let world = on();
    let refused = |verb: &str, id: &str| world.refused(&["requirement", verb, REPO, id]);
    let none = "there is no requirement `ab12ce` of `acme/shop`";
    let unlike = "there is no requirement `zz99zz` of `acme/shop`";
    let alike = format!("{none}: the nearest is `ab12cd`");
    let told = |refused: FailureText, said: &str| {
        assert_eq!(refused.code, "no_such_requirement");
        assert!(refused.error.ends_with(said), "{refused:?}");
        assert!(refused.next.contains("gaffer requirement list acme/shop"));
    };
    told(refused("show", "ab12ce"), none);
    follow(&world);
    for verb in ["show", "start"] {
        told(refused(verb, "ab12ce"), &alike);
        told(refused(verb, "zz99zz"), unlike);
    }
}

#[test]
fn a_layer_is_run_and_what_does_not_fit_it_is_refused() {
    let world = on();
    let line = ["run", "narrator", "--role", "qa", "--repo", REPO];
    let refused = world.refused(&line);
    refused.is(2, "bad_field");
    let line = ["run", "observers", "--role", "qa", "--repo", REPO];
    let ran = world.run(&line).ok();
    let id = ran.stdout.trim();
    let shown = world.json(&["pipeline", "show", id]);
    shown["pipeline"].holds(&json!({ "layer": "observers", "role": "qa" }));
    for wrong in [
        &["run", "observatory"][..],
        &["run", "integrator"],
        &["run", "narrator", "--branch", "main"],
        &["run", "narrator", "--within", "5m"],
        &["run", "narrator", "--wait", "--prompt-preview"],
        &["run", "narrator", "--job", "latest"],
        &[
            "run",
            "observers",
            "--prompt-preview",
            "--role",
            "qa",
            "--job",
            "latest",
        ],
        &["pipeline", "start", REPO, "--from", "planner"],
        &["pipeline", "on", REPO, "--exchange", "always"],
        &["pipeline", "on", REPO, "--worker", "main"],
        &[
            "pipeline",
            "on",
            REPO,
            "--worker",
            "jules-sprint-7-integration",
        ],
        &["requirement", "start", REPO, "search-box"],
    ] {
        assert_eq!(world.refused(wrong).exit, 2, "{wrong:?}");
    }
    let named = world.refused(&["run", "observatory"]);
    named.tells("did you mean `observers`?", "");
}

/// The id of the run that is under way, once there is one.
fn under_way(world: &World) -> String {
    let end = Instant::now() + SOON;
    loop {
        let listed = world.json(&["pipeline", "list", REPO]);
        if let Some(id) = listed["pipelines"][0]["id"].as_str() {
            return id.to_owned();
        }
        assert!(Instant::now() < end, "no run was begun");
    }
}

#[test]
fn one_who_waits_is_told_each_step_and_how_it_ended() {
    let waited = |more: &[&str]| -> (String, Ran) {
        let world = on();
        let line = [&["run", "n", "--repo", REPO, "--wait"], more].concat();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| world.run(&line));
            let id = under_way(&world);
            world.json(&["pipeline", "cancel", &id]);
            (id, waiting.join().unwrap())
        })
    };
    let (id, ran) = waited(&[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], format!("Pipeline {id}"));
    assert!(lines[1].starts_with("- narrator: failed ("), "{ran:?}");
    assert!(ran.stderr.contains("the step narrator failed"), "{ran:?}");
    let (id, ran) = waited(&["--json"]);
    let refused = ran.failure();
    assert_eq!(refused.code, "failed");
    assert!(refused.error.contains(&id), "{refused:?}");
}

#[test]
fn a_report_says_why_there_was_no_session() {
    let world = on();
    let line = ["workflow", "run", "narrator", "--repo", REPO];
    let ran = thread::scope(|scope| {
        let waiting = scope.spawn(|| world.run(&line));
        let id = under_way(&world);
        world.json(&["pipeline", "cancel", &id]);
        waiting.join().unwrap()
    });
    assert_eq!(ran.code, 1, "{ran:?}");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["number_of_api_requests_succeeded"], 0);
    let why = report["skip_reason"].as_str().unwrap();
    assert!(why.contains("cancelled the run"), "{why}");
    let mut keys: Vec<&String> = report.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(
        keys,
        [
            "layer",
            "number_of_api_requests_succeeded",
            "run_started_at",
            "schema_version",
            "skip_reason"
        ]
    );
}

/// Puts a requirement down, as a run does.
fn follow(world: &World) {
    let found = FoundRequirement {
        reference: RequirementRef {
            id: "ab12cd".parse().unwrap(),
            path: ".jules/exchange/requirements/search.yml".to_owned(),
            events: Vec::new(),
        },
        title: "Add a search box".to_owned(),
        label: "feats".to_owned(),
        needs_planning: false,
    };
    let backend = backend(world);
    let repo = REPO.parse().unwrap();
    let ready = RequirementState::Ready;
    let new = Requirement::found(&repo, found, ready, backend.now());
    let key = (repo, new.reference.id.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let saved = runtime.unwrap().block_on(backend.insert(&key, &new));
    assert!(saved.unwrap());
}

#[test]
fn a_requirement_is_listed_shown_and_started() {
    let world = on();
    follow(&world);
    let listed = world.json(&["requirement", "list", REPO]);
    assert_eq!(listed["requirements"][0]["state"], "ready");
    let start = ["requirement", "start", REPO, "ab12cd", "--keep-files"];
    let begun = world.json(&start);
    begun["requirement"].holds(&json!({ "state": "implementing", "keep_files": true }));
    let again = world.refused(&["requirement", "start", REPO, "ab12cd"]);
    again.is(1, "taken");
    let look = "gaffer requirement show acme/shop ab12cd";
    assert!(again.next.contains(look), "{again:?}");
    let shown = world.run(&["requirement", "show", REPO, "ab12cd"]).ok();
    assert!(shown.stdout.contains("they stay"), "{shown:?}");
}

#[test]
fn what_is_going_on_has_runs_and_requirements() {
    let world = on();
    let id = start(&world);
    follow(&world);
    let _up = world.worked_over();
    for command in [&["status"][..], &["top", "--once"]] {
        let told = world.json(command);
        assert_eq!(told["pipelines"], json!({ "bootstrap/pending": 1 }));
        assert_eq!(told["requirements"], json!({ "ready": 1 }));
        let said = world.run(command).ok().stdout;
        said.tells(&["1 bootstrap/pending", "1 ready"]);
    }
    world.json(&["pipeline", "cancel", &id]);
    assert_eq!(world.json(&["status"])["pipelines"], json!({}));
    let told = world.json(&["logs", "--pipeline", "latest"]);
    assert_eq!(told, world.json(&["logs", "--pipeline", &id]));
    assert_eq!(told["pipeline_id"], id.as_str());
    let first = &told["entries"][0];
    first.holds(&json!({ "about": "step", "id": "bootstrap" }));
    let outcome = first["outcome"].as_str().unwrap();
    assert!(outcome.contains("cancelled the run"), "{outcome}");
    let none = world.refused(&["logs", "--pipeline", "01k0000000000000000000000a"]);
    assert_eq!(none.code, "no_such");
}

#[test]
fn an_export_has_runs_and_requirements() {
    let world = on();
    let id = start(&world);
    follow(&world);
    let said = world.run(&["export"]).ok().stdout;
    let lines = said.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    let of = |kind: &str| lines.iter().find(|line| line["line"] == kind).unwrap();
    assert_eq!(of("pipeline")["id"], id.as_str());
    assert_eq!(of("pipeline")["state"], "pending");
    assert_eq!(of("pipeline")["pipeline"]["steps"][0]["kind"], "bootstrap");
    assert_eq!(of("requirement")["id"], "ab12cd");
    assert_eq!(of("requirement")["requirement"]["state"]["state"], "ready");
    assert_eq!(of("end")["lines"], lines.len() - 2);
}
