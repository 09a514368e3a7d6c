//! `gaffer pause`, `gaffer resume` and `gaffer status`.

use serde_json::json;

use crate::world::{Fields, Told, World};

#[test]
fn everything_is_paused_until_it_is_resumed() {
    let world = World::with_account();
    let _up = world.worked_over();
    assert_eq!(world.json(&["status"])["paused_since"], json!(null));
    let paused = world.json(&["pause"]);
    assert_eq!(paused["paused"], true);
    // Pausing twice keeps the first time.
    assert_eq!(world.json(&["pause"]), paused);
    let told = world.json(&["status"]);
    assert_eq!(told["paused_since"], paused["paused_since"]);
    let told = world.json(&["resume"]);
    assert_eq!(told, json!({ "paused": false, "paused_since": null }));
    // Held work is handled now, not only when it is due.
    let status = world.json(&["status"]);
    assert_eq!(status["paused_since"], json!(null));
    assert_eq!(status["queue"]["waiting"], json!(1));
    world.run(&["resume"]).ok();
}

#[test]
fn one_source_is_paused_by_either_command() {
    let world = World::with_account();
    let _up = world.worked_over();
    world.run(&["source", "add", "acme/shop"]).ok();
    world.run(&["source", "add", "acme/other"]).ok();
    let told = world.json(&["pause", "--source", "ACME/shop"]);
    assert_eq!(told, json!({ "source": "acme/shop", "paused": true }));
    let status = world.json(&["status"]);
    status.holds(&json!({ "paused_sources": ["acme/shop"], "paused_since": null }));
    let told = world.json(&["source", "resume", "acme/shop"]);
    assert_eq!(told["paused"], false);
    let told = world.json(&["source", "pause", "acme/other"]);
    assert_eq!(told["paused"], true);
    let told = world.json(&["resume", "--source", "acme/other"]);
    assert_eq!(told["paused"], false);
    assert_eq!(world.json(&["status"])["paused_sources"], json!([]));
}

#[test]
fn status_tells_people_where_they_are() {
    let world = World::new();
    let agent = ["agent", "add", "bot", "--url", "https://bot.example.com/x"];
    world.run(&agent).ok();
    let _up = world.worked_over();
    let empty = world.run(&["status"]).ok();
    empty.tells(&["gaffer account add default"]);
    assert!(empty.says(&world.data().display().to_string()), "{empty:?}");
    let world = World::with_account();
    let _up = world.worked_over();
    let status = world.json(&["status"]);
    let account = &status["accounts"][0];
    account.holds(&json!({ "name": "default", "slots": { "used": 0, "of": 3 } }));
    // As the HTTP API answers it.
    assert_eq!(account["health"], "working");
    status.holds(&json!({ "queue": { "waiting": 0, "dead": 0, "oldest": null } }));
    assert!(world.run(&["status"]).ok().says("0 of 15"));
}

#[test]
fn status_and_doctor_say_first_that_nothing_runs() {
    let world = World::with_account();
    let words = "`gaffer up` is not running on this data folder";
    let status = world.run(&["status"]);
    assert_eq!(status.code, 1, "{status:?}");
    let told = status.stdout.lines().next();
    assert_eq!(told, Some(&*format!("error: {words}")));
    assert!(status.stderr.contains("gaffer up --data"), "{status:?}");
    let json = world.run(&["status", "--json"]);
    assert_eq!((json.code, &json.json()["running"]), (1, &json!(false)));
    assert!(json.stderr.contains(r#""code":"not_running""#), "{json:?}");
    let doctor = world.run(&["doctor"]);
    let first = doctor.stdout.lines().next().unwrap();
    assert!(first.starts_with("error"), "{doctor:?}");
    assert!(first.contains("not_running"), "{doctor:?}");
    assert!(doctor.says(words), "{doctor:?}");
    assert_eq!(doctor.code, 1);
    let _up = world.worked_over();
    assert_eq!(world.json(&["status"])["running"], json!(true));
    assert!(!world.run(&["doctor"]).says("not_running"));
}
