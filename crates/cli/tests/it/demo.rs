//! The demo as a newcomer runs it: the built binary, real sockets, and what it says of itself.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::world::{Fields, World, alone};

/// Runs `gaffer demo --json` with these options and answers the last line of its stdout.
fn demo(options: &[&str]) -> Value {
    let _alone = alone();
    let output = Command::new(env!("CARGO_BIN_EXE_gaffer"))
        .args(["demo", "--json"])
        .args(options)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}\n{stderr}");
    let last = stdout.lines().last().unwrap();
    serde_json::from_str(last).unwrap()
}

/// Runs a story with `--stay`: asks for the dashboard whose address it prints, ends it as Ctrl-C does, and answers its report.
fn demo_that_stays(story: &str) -> Value {
    let _alone = alone();
    let mut child = Command::new(env!("CARGO_BIN_EXE_gaffer"))
        .args(["demo", "--json", story, "--stay"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut dashboard = String::new();
    for line in lines.by_ref().map(Result::unwrap) {
        if let Some(url) = line.strip_prefix("Dashboard: http://") {
            dashboard = url.to_owned();
        }
        if line.contains("until Ctrl-C") {
            break;
        }
    }
    let (address, path) = dashboard.split_once('/').unwrap();
    let mut page = TcpStream::connect(address).unwrap();
    write!(
        page,
        "GET /{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    page.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("Token of the HTTP API"), "{answer}");
    let ended = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(ended.unwrap().success());
    let report = lines.last().unwrap().unwrap();
    assert!(child.wait().unwrap().success(), "{report}");
    serde_json::from_str(&report).unwrap()
}

/// What every run of the story has to result in.
fn check(report: &Value) {
    report.holds(&json!({
        "jobs": 3, "merged": 3, "merged_at_green_head": true, "wakes_doubled": 0, "wakes_lost": 0,
        "agent_bytes_while_progressing": 0,
    }));
    // One question, one plan, one silence, and four completions: the repaired job completes twice.
    report.holds(&json!({ "events": { "question": 2, "stuck": 1, "completed": 4 }, "wakes": 7 }));
    for number in [
        "wakes_redelivered",
        "jules_calls",
        "github_calls",
        "seconds",
    ] {
        assert!(report[number].is_number(), "{number}: {report}");
    }
}

#[test]
fn three_jobs_end_merged() {
    check(&demo(&[]));
}

#[test]
fn without_webhooks_the_story_ends_the_same() {
    let report = demo(&["--no-webhooks"]);
    check(&report);
    let merges = report["green_to_merged_seconds"].as_array();
    assert_eq!(merges.map(Vec::len), Some(3), "{report}");
}

#[test]
fn three_issues_end_as_closed_deliveries_with_one_task_each() {
    let report = demo_that_stays("--deliveries");
    let of = |name: &str| report[name].as_u64();
    for (name, wanted) in [
        ("deliveries", 3),
        ("closed", 3),
        ("tasks", 3),
        ("merged", 3),
        ("tasks_per_delivery", 1),
        ("comments_max", 1),
        // One change is sent back by its reviewer, and the checks of one fail first.
        ("rounds", 2),
        // Three reviews, and another one of the change that was sent back.
        ("wakes", 4),
    ] {
        assert_eq!(of(name), Some(wanted), "{name}: {report}");
    }
    assert!(report["seconds"].is_number(), "{report}");
}

/// How every step of a whole pipeline ends.
fn all_done() -> Value {
    json!({
        "bootstrap": "done", "narrator": "done", "observers": "done", "decider": "done",
        "planner": "done", "requirements": "done",
    })
}

fn ran(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output();
    output.unwrap()
}

/// What a program says that has to succeed.
fn said(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = ran(folder, program, arguments);
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {output:?}"
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_pipeline_ends_with_a_merged_requirement_and_a_repository_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("new/shop.git");
    let report = demo(&["--pipeline", "--keep", kept.to_str().unwrap()]);
    assert_eq!(report["steps"], all_done(), "{report}");
    for (name, wanted) in [
        // A narrator, six observers, a decider, a planner and an implementer.
        ("sessions", 10),
        ("pulls_of_sessions", 10),
        // Gaffer's own are the bootstrap and the removal of files.
        ("pulls_merged", 12),
        ("pulls_left", 0),
        ("events", 6),
        ("requirements", 1),
        ("implemented", 1),
        ("files_left", 0),
        ("doctor_errors", 0),
        ("doctor_warnings", 0),
        ("wakes", 0),
    ] {
        assert_eq!(report[name].as_u64(), Some(wanted), "{name}: {report}");
    }
    assert!(report["seconds"].is_number(), "{report}");
    said(&kept, "git", &["fsck", "--strict"]);
    said(
        folder.path(),
        "git",
        &["clone", "--quiet", "new/shop.git", "shop"],
    );
    let clone = folder.path().join("shop");
    said(&clone, "git", &["fsck", "--strict"]);
    let doctor = ["scaffold", "doctor", "--strict"];
    let examined = said(&clone, env!("CARGO_BIN_EXE_gaffer"), &doctor);
    assert_eq!(examined, "0 errors, 0 warnings.\n");
    let branches = said(&kept, "git", &["branch", "--format=%(refname:short)"]);
    assert_eq!(branches, "jules\nmain\n");
    let subjects = |branch| said(&kept, "git", &["log", "--format=%s", branch]);
    let told = subjects("jules").lines().count();
    assert_eq!(told, 12, "{}", subjects("jules"));
    assert!(subjects("jules").starts_with("Remove the files of an implemented requirement"));
    assert!(subjects("main").starts_with("Say more with the name"));
    let changed = said(&kept, "git", &["diff", "--stat", "main~1", "main"]);
    assert!(changed.contains("src/cart.rs | 1 +"), "{changed}");
}

#[test]
fn a_sprint_of_five_ends_with_one_merged_pull_request() {
    let report = demo(&["--sprint"]);
    for (name, wanted) in [
        ("members", 5),
        ("integrated", 5),
        ("skipped", 0),
        ("ticks", 4),
        ("conflicts", 1),
        ("resolved", 1),
        ("pulls_merged", 1),
        ("mails", 1),
        ("tasks", 5),
    ] {
        assert_eq!(report[name].as_u64(), Some(wanted), "{name}: {report}");
    }
    assert!(report["seconds"].is_number(), "{report}");
}

#[test]
fn a_folder_that_is_in_use_is_refused_before_anything_is_played() {
    let world = World::new();
    let file = world.file("mine.txt", "mine\n");
    let folder = Path::new(&file).parent().unwrap().display().to_string();
    for (place, why) in [(&folder, "not empty"), (&file, "Not a directory")] {
        let told = world.refused(&["demo", "--pipeline", "--keep", place]);
        told.is(2, "not_empty");
        told.tells(place, "");
        told.tells(why, "");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine\n");
    for wrong in [
        &["--pipeline", "--keep"][..],
        &["--keep", "shop.git"],
        &["--deliveries", "--keep"],
        &["--deliveries", "--pipeline"],
        &["--deliveries", "--sprint"],
        &["--sprint", "--keep"],
        &["--stay"],
    ] {
        world.refused(&[&["demo"], wrong].concat()).is(2, "usage");
    }
}
