//! `gaffer sprint` against the real API over the same data folder, with no dispatcher behind it.

use domain::ids::{PersonaName, RepoName};
use engine::backend::Backend;
use engine::keys;
use engine::readings::ReadPersonas;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::jobs::{backend, create, put, save, world};
use crate::world::{Fields, Told, World, ran};

const REPO: &str = "acme/shop";

fn repo() -> RepoName {
    REPO.parse().unwrap()
}

fn names(names: &[&str]) -> Vec<PersonaName> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(future)
}

/// A world whose personas are read, as the dispatcher does it.
fn with_personas() -> World {
    with_faults(&[])
}

/// The same with files that cannot be used.
fn with_faults(faults: &[&str]) -> World {
    let world = world();
    let backend = backend(&world);
    let read = ReadPersonas {
        // Those who ask later wait for no other reading.
        read_at: backend.now() + SignedDuration::from_hours(1),
        commit: Some("1111111111111111111111111111111111111111".parse().unwrap()),
        batch: names(&["art", "curator", "refactor", "sheriff"]),
        others: names(&["weaver"]),
        faults: faults.iter().map(|fault| (*fault).to_owned()).collect(),
        taken: None,
        failure: None,
    };
    wait(put(&backend, keys::personas_read(&repo()), &read));
    world
}

fn start(world: &World) -> Value {
    let line = ["sprint", "start", REPO, "--number", "50"];
    let some = ["--persona", "curator", "--persona", "refactor"];
    world.json(&[&line[..], &some].concat())["sprint"].clone()
}

#[test]
fn how_the_sprints_of_a_source_go_is_set_and_kept_by_each() {
    let world = with_personas();
    let line = [
        "sprint",
        "set",
        REPO,
        "--parallel",
        "every=5",
        "--at-once",
        "2",
        "--member-timeout",
        "45m",
    ];
    let rules = world.json(&line)["source"]["sprints"].clone();
    rules.holds(&json!({ "parallel": "every=5", "at_once": 2, "member_timeout": "45m" }));
    let rules = world.json(&["sprint", "set", REPO, "--next", "at-once"]);
    let rules = &rules["source"]["sprints"];
    rules.holds(&json!({ "parallel": "every=5", "next": "at-once" }));
    let shown = world.done(&["sprint", "set", REPO, "--next", "at-once"]);
    let is_it = |line: &str| line.contains("integration") && line.contains("consolidated");
    assert!(shown.stdout.lines().any(is_it), "{shown:?}");
    let plan = |number: &str| {
        let line = ["sprint", "start", REPO, "--dry-run", "--number", number];
        world.json(&line)["plan"].clone()
    };
    let parallel = plan("50");
    parallel.holds(&json!({ "merges": "consolidated", "at_once": 2 }));
    let sequential = plan("51");
    sequential.holds(&json!({
        "merges": "individual", "at_once": 1, "begin_now": 1, "begin_later": 3,
    }));
    let begun = start(&world);
    let states = begun["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["state"]);
    assert!(states.eq([&json!("waiting"), &json!("waiting")]), "{begun}");
    let line = "sprint set --at-once all --parallel always";
    let line: Vec<&str> = line.split(' ').chain([REPO]).collect();
    let all = world.json(&line);
    let rules = all["source"]["sprints"].as_object().unwrap();
    assert_eq!(rules.get("at_once"), Some(&Value::Null), "{all}");
    let shown = world.run(&["source", "show", REPO]).ok().stdout;
    let told = "parallel always, all at once, members waited for 45m, next at-once, consolidated";
    assert!(shown.contains(told), "{shown}");
}

#[test]
fn odd_settings_of_sprints_are_refused() {
    let world = with_personas();
    for wrong in [
        ["--parallel", "only="],
        ["--at-once", "0"],
        ["--member-timeout", "30"],
        ["--member-timeout", "30s"],
        ["--next", "soon"],
        ["--integration", "none"],
    ] {
        let line = [&["sprint", "set", REPO][..], &wrong].concat();
        assert_eq!(world.refused(&line).exit, 2, "{wrong:?}");
    }
    let missing = world.refused(&["sprint", "set", "acme/none", "--next", "by-hand"]);
    missing.is(1, "no_such");
}

#[test]
fn a_dry_run_says_who_would_take_part_and_what_waits() {
    let world = with_personas();
    let line = ["sprint", "start", REPO, "--dry-run"];
    let said = world.run(&line).ok().stdout;
    said.tells(&[
        "Sprint 1 of acme/shop would start; nothing was created.",
        "art, curator, refactor, sheriff",
        "jules-sprint-1-integration",
        "A member that waits for 60 minutes is given up",
        "gaffer sprint set acme/shop --at-once N",
    ]);
    let plan = &world.json(&line)["plan"];
    // The free plan runs three at once.
    plan.holds(&json!({ "sessions": 4, "begin_now": 3, "wait_for_slots": 1, "wait_for_quota": 0 }));
    let none = world.run(&["sprint", "list", REPO]).ok().stdout;
    let first = "No sprint yet: `gaffer sprint start acme/shop`.";
    assert!(none.contains(first), "{none}");
}

#[test]
fn a_start_prints_the_job_of_each_member() {
    let world = with_personas();
    let line = ["sprint", "start", REPO, "--persona", "curator"];
    let said = world.run(&line).ok().stdout;
    let shown = world.json(&["sprint", "status", REPO]);
    let job = shown["sprint"]["members"][0]["job_id"].as_str().unwrap();
    let told = format!("Sprint 1 of acme/shop\n🚀 Launched curator: {job}\n");
    assert_eq!(said, told);
}

#[test]
fn a_start_names_the_files_of_personas_that_it_leaves_out() {
    let fault = ".jules/personas/odd/prompt.md:1: there is no `id`: add `id: odd`";
    let world = with_faults(&[fault]);
    let named = world.refused(&["sprint", "start", REPO, "--persona", "odd"]);
    named.is(1, "faulty_persona");
    named.tells(fault, "");
    let line = ["sprint", "start", REPO, "--persona", "curator"];
    let dry = [&line[..], &["--dry-run"]].concat();
    for line in [&dry[..], &line[..]] {
        let said = world.run(line).ok().stdout;
        let told = format!("\nPersonas that cannot be used:\n- {fault}\n");
        assert!(said.ends_with(&told), "{said}");
    }
}

#[test]
fn a_start_prints_no_job_of_a_member_that_begins_later() {
    let world = with_personas();
    world.json(&["sprint", "set", REPO, "--at-once", "1"]);
    let line = ["sprint", "start", REPO, "--persona", "refactor"];
    let both = [&line[..], &["--persona", "curator"]].concat();
    let said = world.run(&both).ok().stdout;
    let mut lines = said.lines().skip(1);
    let first = lines.next().unwrap();
    assert!(first.starts_with("🚀 Launched curator: "), "{said}");
    assert_eq!(lines.collect::<Vec<_>>(), ["refactor begins later"]);
}

#[test]
fn a_start_in_a_pause_launches_nobody() {
    let world = with_personas();
    world.run(&["pause"]).ok();
    let line = ["sprint", "start", REPO, "--persona", "curator"];
    let plan = world.json(&[&line[..], &["--dry-run"]].concat())["plan"].clone();
    plan.holds(&json!({ "begin_now": 0, "begin_later": 1 }));
    let said = world.run(&line).ok().stdout;
    let told = "Sprint 1 of acme/shop\ncurator begins later\nEverything is paused.\n";
    assert_eq!(said, told);
}

#[test]
fn a_sprint_is_listed_shown_explained_ticked_integrated_and_aborted() {
    let world = with_personas();
    start(&world);
    let again = world.refused(&["sprint", "start", REPO]);
    again.is(1, "already_running");
    let look = "gaffer sprint why acme/shop";
    assert!(again.next.contains(look), "{again:?}");
    let waits = world.refused(&["sprint", "integrate", REPO]);
    waits.is(1, "nothing_ready");
    assert!(!waits.next.contains("--now"), "{waits:?}");
    for (command, said) in [
        (&["sprint", "list", REPO][..], "0 of 2"),
        (&["sprint", "status", REPO], "curator"),
        (
            &["sprint", "status", REPO, "50"],
            "jules-sprint-50-integration",
        ),
        (&["sprint", "why", REPO], "Its job is about to be made."),
        (
            &["sprint", "why", REPO, "50"],
            "It is waited for until about",
        ),
        (&["sprint", "tick", REPO], "working"),
    ] {
        let ran = world.run(command).ok();
        assert!(ran.stdout.contains(said), "{said}: {ran:?}");
    }
    let status = world.run(&["status"]).stdout;
    status.tells(&["acme/shop 50: working, 0 of 2 in"]);
    let now = world.refused(&["sprint", "integrate", REPO, "--now"]);
    now.is(1, "nothing_ready");
    let abort = "gaffer sprint abort acme/shop";
    assert!(now.next.contains(abort), "{now:?}");
    world.json(&["sprint", "abort", REPO]);
    world.refused(&["sprint", "abort", REPO]).is(1, "ended");
    let next = world.json(&["sprint", "start", REPO, "--persona", "art"]);
    assert_eq!(next["sprint"]["number"], 51);
    let off = world.json(&["sprint", "abort", REPO]);
    assert_eq!(off["sprint"]["state"], "aborted");
    let listed = world.json(&["sprint", "list", REPO, "--limit", "1"]);
    assert_eq!(listed["sprints"][0]["number"], 51);
}

#[test]
fn what_cannot_be_a_sprint_is_refused() {
    let world = with_personas();
    for (line, code) in [
        (&["sprint", "start", "acme/none"][..], "no_such_source"),
        (&["sprint", "list", "acme/none"], "no_such_source"),
        (
            &["sprint", "start", REPO, "--persona", "nobody"],
            "no_persona",
        ),
        (
            &["sprint", "start", REPO, "--persona", "weaver"],
            "not_in_batch",
        ),
        (&["sprint", "status", REPO], "no_such_sprint"),
        (&["sprint", "why", REPO, "7"], "no_such_sprint"),
        (&["sprint", "abort", REPO], "no_such_sprint"),
        (&["sprint", "state", REPO], "no_such_sprint"),
    ] {
        let refused = world.refused(line);
        refused.is(1, code);
    }
    let other = world.refused(&["sprint", "why", REPO, "7"]);
    let list = format!("`gaffer sprint list {REPO}`");
    assert!(other.next.contains(&list), "{other:?}");
    let newest = world.refused(&["sprint", "why", REPO]);
    let none = format!("{REPO} has no sprint yet");
    assert!(newest.error.contains(&none), "{newest:?}");
    for wrong in [
        &["sprint", "start", "shop"][..],
        &["sprint", "start", REPO, "--number", "0"],
        &["sprint", "start", REPO, "--persona", "The Art"],
        &["sprint", "status", REPO, "latest"],
        &["sprint", "tick", REPO, "--now"],
    ] {
        assert_eq!(world.refused(wrong).exit, 2, "{wrong:?}");
    }
    let large = world.refused(&["sprint", "start", REPO, "--number", "4000000000000"]);
    assert!(large.error.contains("from 1 to 4294967295"), "{large:?}");
}

/// Gives the second member a job that is there.
async fn give_job(backend: &Backend, job: &str) {
    let found = backend.must_sprint(&repo(), None).await.unwrap();
    let mut sprint = found.value;
    sprint.members[1].job = job.parse().unwrap();
    let id = (repo(), sprint.number);
    save(backend, &id, &sprint).await;
}

#[test]
fn the_state_is_not_written_through_a_link() {
    let world = with_personas();
    start(&world);
    let [folder, elsewhere] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join(".jules")).unwrap();
    let mut command = world.command(&["sprint", "state", REPO, "--json"]);
    command.current_dir(folder.path());
    let refused = ran(command, "").failure();
    refused.is(2, "link");
    refused.tells(".jules is a link", "");
    let mut there = std::fs::read_dir(elsewhere.path()).unwrap();
    assert!(there.next().is_none());
}

#[test]
fn the_state_is_written_where_scripts_look_for_it() {
    let world = with_personas();
    start(&world);
    let folder = tempfile::tempdir().unwrap();
    let write = || {
        let mut command = world.command(&["sprint", "state", REPO, "--json"]);
        command.current_dir(folder.path());
        let told = ran(command, "").ok().json();
        let text = std::fs::read_to_string(folder.path().join(".jules/cycle_state.json"));
        let written: Value = serde_json::from_str(&text.unwrap()).unwrap();
        assert_eq!(told["cycle_state"], written);
        written
    };
    let before = write();
    assert_eq!(before["history"], json!([]));
    assert_eq!(before["last_persona_id"], Value::Null);
    let job = create(&world);
    wait(give_job(&backend(&world), &job));
    let after = write();
    after.holds(&json!({ "last_persona_id": "refactor", "last_persona_index": 1 }));
    assert_eq!(after["last_session_id"], Value::Null, "it waits for a slot");
    let turn = &after["history"][0];
    assert_eq!(turn["persona_id"], "refactor");
    let keys = turn.as_object().unwrap().keys();
    let keys: Vec<&String> = keys.collect();
    assert_eq!(
        keys,
        ["created_at", "persona_id", "pr_number", "session_id"]
    );
    let keys: Vec<&String> = after.as_object().unwrap().keys().collect();
    let all = [
        "history",
        "last_persona_id",
        "last_persona_index",
        "last_pr_number",
        "last_session_id",
        "updated_at",
    ];
    assert_eq!(keys, all);
}
