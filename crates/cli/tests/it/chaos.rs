//! Twenty seeds of chaos: every fault on, and the process killed at every moment of every kind of effect.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Longest wait for a process to begin or to end: each takes less than a second on an idle machine.
const WITHIN: Duration = Duration::from_secs(120);

#[test]
fn twenty_seeds_lose_nothing_and_do_nothing_twice() {
    let output = Command::new(env!("CARGO_BIN_EXE_gaffer"))
        .args(["demo", "--json", "--chaos", "1", "--seeds", "20"])
        .args(["--at-once", "3"])
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}\n{stderr}");
    let summary: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    assert_eq!(summary["seeds"], 20, "{summary}");
    assert_eq!(summary["merged"], 100, "{summary}");
    assert_eq!(summary["missed"], serde_json::json!([]), "{summary}");
    assert_eq!(summary["violations"], serde_json::json!({}), "{summary}");
    // Ten kinds of effects, wakes and twins, three moments each.
    let moments = summary["moments"].as_object().unwrap();
    assert_eq!(moments.len(), 36, "{summary}");
    assert!(summary["deaths"].as_u64() >= Some(40), "{summary}");
}

/// The process that another one keeps killing and starting, if it is there just now.
fn child_of(parent: u32) -> Option<u32> {
    let all = Command::new("ps")
        .args(["-A", "-o", "ppid=,pid=,args="])
        .output()
        .unwrap();
    let all = String::from_utf8_lossy(&all.stdout);
    all.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let is_ours = words.next() == Some(&parent.to_string());
        let child = words.next()?.parse().ok()?;
        (is_ours && line.contains("chaos-child")).then_some(child)
    })
}

fn is_alive(process: u32) -> bool {
    let asked = Command::new("kill")
        .args(["-0", &process.to_string()])
        .stderr(Stdio::null())
        .status();
    asked.unwrap().success()
}

#[test]
fn a_seed_that_is_killed_leaves_no_process_behind() {
    let mut seed = Command::new(env!("CARGO_BIN_EXE_gaffer"))
        .args(["demo", "--json", "--chaos", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let end = Instant::now() + WITHIN;
    let child = loop {
        if let Some(child) = child_of(seed.id()) {
            break child;
        }
        assert!(Instant::now() < end, "no child begins");
    };
    seed.kill().unwrap();
    seed.wait().unwrap();
    while is_alive(child) {
        assert!(Instant::now() < end, "{child} goes on by itself");
        std::thread::yield_now();
    }
}
