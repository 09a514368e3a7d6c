//! The demo as a newcomer runs it: the built binary, real sockets, and what it says of itself.

use std::process::Command;

use serde_json::Value;

/// Runs `gaffer demo --json` with these options and answers the last line of its stdout.
fn demo(options: &[&str]) -> Value {
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

/// What every run of the story has to result in.
fn check(report: &Value) {
    assert_eq!(report["jobs"], 3, "{report}");
    assert_eq!(report["merged"], 3, "{report}");
    assert_eq!(report["merged_at_green_head"], true, "{report}");
    assert_eq!(report["wakes_doubled"], 0, "{report}");
    assert_eq!(report["wakes_lost"], 0, "{report}");
    assert_eq!(report["agent_bytes_while_progressing"], 0, "{report}");
    // One question, one plan, one silence, and four completions: the repaired job completes twice.
    assert_eq!(
        report["events"],
        serde_json::json!({ "question": 2, "stuck": 1, "completed": 4 }),
        "{report}"
    );
    assert_eq!(report["wakes"], 7, "{report}");
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
    let report = demo(&["--deliveries"]);
    let of = |name: &str| report[name].as_u64();
    for (name, wanted) in [
        ("deliveries", 3),
        ("closed", 3),
        ("tasks", 3),
        ("merged", 3),
        ("comments_max", 1),
        // One change is sent back by its reviewer, and the checks of one fail first.
        ("rounds", 2),
        // Three reviews, and another one of the change that was sent back.
        ("wakes", 4),
    ] {
        assert_eq!(of(name), Some(wanted), "{name}: {report}");
    }
}
