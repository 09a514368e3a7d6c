//! `gaffer token`.

use serde_json::{Value, json};

use crate::world::{Fields, Told, World, words};

#[test]
fn a_token_is_shown_once_listed_without_it_and_revoked() {
    let world = World::with_account();
    let made = world.json(&words("token create dashboard --scope read --expires 90d"));
    let text = made["value"].as_str().unwrap();
    text.begins("gaf_dashboard_");
    assert!(text.len() > 70, "{text}");
    made["token"].holds(&json!({ "scope": "read", "state": "open" }));
    assert!(!world.stored(text), "only its digest is stored");
    let listed = world.run(&["token", "list"]).ok();
    listed.tells(&["dashboard"]);
    assert!(!listed.says(&text[20..]), "{listed:?}");
    let other = world.json(&["token", "create", "bot"]);
    assert_ne!(other["value"], made["value"]);
    assert_eq!(other["token"]["scope"], "write");
    assert_eq!(other["token"]["expires_at"], Value::Null);

    let again = world.refused(&["token", "create", "dashboard"]);
    again.is(1, "exists");
    for _ in 0..2 {
        let revoked = world.json(&["token", "revoke", "dashboard"]);
        assert_eq!(revoked["token"]["state"], "revoked");
    }
    let all = world.json(&["token", "list"]);
    let states = all["tokens"].as_array().unwrap().iter();
    let states: Vec<_> = states.map(|it| it["state"].clone()).collect();
    assert_eq!(states, [json!("open"), json!("revoked")]);
    // Its name is free again.
    world.run(&["token", "create", "dashboard"]).ok();
    let told = world.refused(&["token", "revoke", "nobody"]);
    assert_eq!(told.code, "no_such");
}

#[test]
fn what_cannot_be_a_token_is_bad_usage() {
    let world = World::with_account();
    for wrong in [
        &["token", "create", "Bot"][..],
        &["token", "create", "a/b"],
        &["token", "create", "bot", "--scope", "root"],
        &["token", "create", "bot", "--expires", "90"],
        &["token", "create"],
        &["token", "revoke", "a b"],
    ] {
        assert_eq!(world.refused(wrong).exit, 2, "{wrong:?}");
    }
    assert_eq!(world.json(&["token", "list"]), json!({ "tokens": [] }));
}
