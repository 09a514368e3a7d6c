//! The first seeds of chaos: every fault on, and the process killed at every moment of every kind of effect.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// As few as kill around every kind of effect; `cargo xtask chaos` plays more.
const SEEDS: &str = "13";

/// Longest wait for a process to begin or to end: each takes less than a second on an idle machine.
const WITHIN: Duration = Duration::from_secs(120);

static ALONE: Mutex<()> = Mutex::new(());

/// Held by each test: one that looks all the time whether a process is there would take its time from the seeds of the other.
fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
#[expect(clippy::print_stdout, reason = "times are printed and never asserted")]
fn the_first_seeds_lose_nothing_and_do_nothing_twice() {
    let _alone = alone();
    let output = Command::new(env!("CARGO_BIN_EXE_chaos"))
        .args(["seeds", "--json", "--count", SEEDS])
        .args(["--at-once", "3"])
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}\n{stderr}");
    let summary: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    assert_eq!(summary["seeds"], 13, "{summary}");
    assert_eq!(summary["merged"], 65, "{summary}");
    assert_eq!(summary["missed"], serde_json::json!([]), "{summary}");
    assert_eq!(summary["violations"], serde_json::json!({}), "{summary}");
    assert_eq!(summary["unplayed"], serde_json::json!({}), "{summary}");
    println!("the slowest seed took {} s", summary["slowest_seconds"]);
    // Each row of the table of kills at its three places.
    let moments = summary["moments"].as_object().unwrap();
    assert_eq!(moments.len(), 39, "{summary}");
    assert!(summary["deaths"].as_u64() >= Some(40), "{summary}");
}

/// Whether the kernel lists a child of chaos over a folder below this one. One that has ended is listed without its command line.
fn has_child(folder: &Path) -> bool {
    let folder = folder.display().to_string();
    let processes = fs::read_dir("/proc").unwrap();
    let mut lines = processes.filter_map(|it| fs::read(it.ok()?.path().join("cmdline")).ok());
    lines.any(|line| {
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains("\0child\0") && line.contains(&folder)
    })
}

#[test]
fn a_seed_that_is_killed_leaves_no_process_behind() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let mut seed = Command::new(env!("CARGO_BIN_EXE_chaos"))
        .args(["seed", "--json", "--keep", "1"])
        .env("TMPDIR", folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let end = Instant::now() + WITHIN;
    while !has_child(folder.path()) {
        assert!(Instant::now() < end, "no child begins");
        std::thread::yield_now();
    }
    seed.kill().unwrap();
    seed.wait().unwrap();
    while has_child(folder.path()) {
        assert!(Instant::now() < end, "the child goes on by itself");
        std::thread::yield_now();
    }
}
