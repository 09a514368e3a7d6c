//! `gaffer account`.

use serde_json::json;

use crate::world::{Fields, KEY, Told, World, words};

#[test]
fn a_key_from_standard_input_is_stored_for_its_owner_alone_and_shown_nowhere() {
    let world = World::new();
    let ran = world
        .feed(&["account", "add", "default"], &format!("{KEY}\n"))
        .ok();
    assert!(!ran.says(KEY));
    assert_eq!(world.secret("jules/default"), (KEY.to_owned(), 0o600));
    let listed = world.run(&["account", "list"]).ok();
    listed.tells(&["default", "stored"]);
    listed.lacks(&[KEY]);
    let _up = world.worked_over();
    assert!(!world.run(&["status", "--json"]).ok().says(KEY));
    assert!(!world.stored(KEY));
}

#[test]
fn a_key_from_a_file_and_a_plan() {
    let world = World::new();
    let file = world.file("key.txt", KEY);
    let added = world.json(&words(&format!(
        "account add work --key-file {file} --plan pro --concurrent 3"
    )));
    let account = &added["account"];
    assert_eq!(
        (
            &account["concurrent"],
            &account["per_day"],
            &account["health"]["health"]
        ),
        (&json!(3), &json!(100), &json!("working"))
    );
    assert_eq!(world.secret("jules/work"), (KEY.to_owned(), 0o600));
    let listed = world.json(&["account", "list"]);
    assert_eq!(
        (
            listed["accounts"][0]["name"].as_str(),
            listed["accounts"][0]["key"].as_str()
        ),
        (Some("work"), Some("stored"))
    );
}

#[test]
fn a_key_is_replaced_only_when_that_is_said() {
    let world = World::with_account();
    let again = world
        .feed(&["account", "add", "default", "--json"], "other")
        .failure();
    again.is(1, "exists");
    again.tells("", "gaffer account add default --replace-key");
    assert_eq!(world.secret("jules/default").0, KEY);
    world
        .feed(
            &[
                "account",
                "add",
                "default",
                "--replace-key",
                "--per-day",
                "9",
            ],
            "other",
        )
        .ok();
    assert_eq!(world.secret("jules/default"), ("other".to_owned(), 0o600));
    let account = &world.json(&["account", "list"])["accounts"][0];
    account.holds(&json!({ "concurrent": 3, "per_day": 9 }));
    let unknown = world
        .feed(
            &["account", "add", "work", "--replace-key", "--json"],
            "other",
        )
        .failure();
    unknown.is(1, "no_such");
}

#[test]
fn a_bad_key_is_bad_usage_and_is_not_told() {
    let world = World::new();
    for bad in ["", " \n", "hunter2 hunter2", "hunter2\nhunter2"] {
        let ran = world.feed(&["account", "add", "default", "--json"], bad);
        assert!(!ran.says("hunter2"), "{ran:?}");
        assert_eq!(
            (ran.failure().exit, ran.failure().code.as_str()),
            (2, "usage"),
            "{bad:?}"
        );
    }
    let missing = world.refused(&["account", "add", "default", "--key-file", "no-such-file"]);
    assert_eq!(missing.exit, 2);
    assert!(missing.error.contains("no-such-file"), "{missing:?}");
    assert_eq!(world.json(&["account", "list"]), json!({ "accounts": [] }));
}

#[test]
fn the_environment_stands_for_the_default_account() {
    let world = World::new().set("JULES_API_KEY", KEY);
    let ran = world.run(&["account", "add", "default"]).ok();
    assert!(ran.says("JULES_API_KEY") && !ran.says(KEY), "{ran:?}");
    assert!(!world.data().join("secrets/jules/default").exists());
    let told = world.json(&["account", "list"]);
    assert_eq!(told["accounts"][0]["key"], "environment");
    let stored = world
        .feed(&["account", "add", "work", "--key-stdin"], "other")
        .ok();
    assert!(!stored.says("other"));
    assert_eq!(world.secret("jules/work").0, "other");
}

#[test]
fn an_agent_has_to_be_there() {
    let told = World::new()
        .feed(
            &["account", "add", "default", "--agent", "bot", "--json"],
            KEY,
        )
        .failure();
    told.is(1, "no_such");
    told.tells("agent `bot`", "gaffer agent add bot");
}

#[test]
fn limits_are_changed_without_the_key() {
    let world = World::with_account();
    let set = world.json(&["account", "set", "default", "--plan", "pro"]);
    let limits = |account: &serde_json::Value| {
        (
            account["concurrent"].as_u64().unwrap(),
            account["per_day"].as_u64().unwrap(),
        )
    };
    assert_eq!(limits(&set["account"]), (15, 100));
    // What is not given stays, and so does the key.
    let set = world.json(&["account", "set", "default", "--concurrent", "2"]);
    assert_eq!(limits(&set["account"]), (2, 100));
    let told = limits(&world.json(&["account", "list"])["accounts"][0]);
    assert_eq!(told, (2, 100));
    assert_eq!(world.secret("jules/default"), (KEY.to_owned(), 0o600));
    for (bad, exit, code) in [
        (&["account", "set", "default"][..], 2, "usage"),
        (
            &["account", "set", "default", "--per-day", "301"],
            2,
            "usage",
        ),
        (&["account", "set", "work", "--plan", "free"], 1, "no_such"),
        (
            &["account", "set", "default", "--agent", "bot"],
            1,
            "no_such",
        ),
    ] {
        world.refused(bad).is(exit, code);
    }
}
