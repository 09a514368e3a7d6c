//! Twenty seeds of chaos: every fault on, and the process killed at every moment of every kind of effect.

use std::process::Command;

use serde_json::Value;

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
