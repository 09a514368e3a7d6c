//! `gaffer agent`.

use std::process::Child;
use std::time::Duration;

use domain::ids::AgentName;
use domain::wake::WakeState;
use engine::store::Store;
use local::Database;
use serde_json::{Value, json};

use crate::world::{Fields, Told, World, words};

const URL: &str = "https://bot.example.com/wake";

/// A world with one agent, and its secret.
fn with_agent() -> (World, String) {
    let world = World::with_account();
    let added = world.json(&["agent", "add", "bot", "--url", URL]);
    let secret = added["secret"].as_str().unwrap().to_owned();
    (world, secret)
}

fn store(world: &World) -> Store {
    let database = Database::open(&world.data().join("gaffer.db")).unwrap();
    Store::new(std::sync::Arc::new(local::Store::new(&database)))
}

fn bot() -> AgentName {
    "bot".parse().unwrap()
}

#[test]
fn a_secret_is_shown_once_and_stored_for_its_owner_alone() {
    let (world, secret) = with_agent();
    assert!(secret.starts_with("whsec_") && secret.len() > 40);
    assert_eq!(world.secret("agents/bot"), (secret.clone(), 0o600));
    let _up = world.worked_over();
    for command in [
        &["agent", "list"][..],
        &["agent", "list", "--json"],
        &["agent", "set", "bot", "--enable"],
        &["status"],
    ] {
        assert!(!world.run(command).ok().says(&secret), "{command:?}");
    }
    assert!(!world.stored(&secret));
    let people = world.done(&words("agent add other --url http://127.0.0.1:9000/wake"));
    people.tells(&[
        "whsec_",
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
        "--allow-host 127.0.0.1:9000",
    ]);
    let again = world.refused(&["agent", "add", "bot", "--url", URL]);
    again.is(1, "exists");
    assert_eq!(world.secret("agents/bot").0, secret);
}

#[test]
fn a_rotation_signs_with_both_until_it_is_finished() {
    let (world, old) = with_agent();
    let told = world.refused(&["agent", "rotate", "bot", "--finish"]);
    assert_eq!(told.code, "no_rotation");
    let begun = world.json(&["agent", "rotate", "bot"]);
    let new = begun["secret"].as_str().unwrap();
    assert_ne!(new, old);
    assert_eq!(world.secret("agents/bot"), (format!("{new},{old}"), 0o600));
    let twice = world.refused(&["agent", "rotate", "bot"]);
    twice.is(1, "rotation_under_way");
    let finished = world.done(&["agent", "rotate", "bot", "--finish", "--json"]);
    assert!(!finished.says(new) && !finished.says(&old));
    assert_eq!(world.secret("agents/bot"), (new.to_owned(), 0o600));
    assert!(!world.stored(new));
}

#[test]
fn a_rotation_is_undone() {
    let (world, old) = with_agent();
    world.run(&["agent", "rotate", "bot"]).ok();
    let told = world.json(&["agent", "rotate", "bot", "--undo"]);
    assert_eq!(told, json!({ "agent": "bot", "rotation": "undone" }));
    assert_eq!(world.secret("agents/bot").0, old);
    let told = world.run(&["agent", "rotate", "bot", "--undo", "--finish"]);
    assert_eq!(told.code, 2);
}

#[test]
fn an_agent_changes_its_address() {
    let (world, secret) = with_agent();
    let set = world.json(&["agent", "set", "bot", "--url", "https://other.example.com/"]);
    assert_eq!(set["agent"]["url"], "https://other.example.com/");
    assert_eq!(world.secret("agents/bot").0, secret);
    assert_eq!(world.refused(&["agent", "set", "bot"]).exit, 2);
    let told = world.refused(&["agent", "set", "nobody", "--enable"]);
    assert_eq!(told.code, "no_such");
}

#[test]
fn an_agent_is_removed_when_nothing_names_it() {
    let (world, _) = with_agent();
    world.done(&["source", "add", "acme/shop", "--agent", "bot"]);
    let told = world.refused(&["agent", "remove", "bot"]);
    told.is(1, "in_use");
    told.tells("", "gaffer source set acme/shop");
    world.done(&["source", "set", "acme/shop", "--no-agent"]);
    let told = world.json(&["agent", "remove", "bot"]);
    assert_eq!(told, json!({ "agent": "bot", "removed": true }));
    assert!(!world.data().join("secrets/agents/bot").exists());
    assert_eq!(world.json(&["agent", "list"]), json!({ "agents": [] }));
    assert_eq!(world.refused(&["agent", "remove", "bot"]).code, "no_such");
}

#[tokio::test]
async fn a_test_that_nothing_delivers_is_taken_back() {
    let (world, _) = with_agent();
    let told = world.refused(&["agent", "test", "bot", "--within", "1s"]);
    told.is(1, "not_running");
    told.tells("", "gaffer up");
    let wakes = store(&world).wakes(&bot()).await.unwrap();
    assert!(
        matches!(wakes[0].value.state, WakeState::Dead { .. }),
        "{wakes:?}"
    );
    assert_eq!(world.refused(&["agent", "test", "nobody"]).code, "no_such");
}

#[tokio::test]
async fn a_test_takes_the_way_of_a_wake_and_waits_for_the_acknowledgement() {
    let (world, _) = with_agent();
    let child = world
        .command(&["agent", "test", "bot", "--json"])
        .spawn()
        .unwrap();
    let child = acknowledge(&world, child).await;
    let output = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), &answer["outcome"]),
        (Some(0), &json!("acknowledged"))
    );
    let wake = &store(&world).wakes(&bot()).await.unwrap()[0].value;
    assert_eq!(answer["event_id"], json!(wake.event.id));
    let message = domain::wake::message(&wake.event, None);
    assert_eq!(
        (
            message.event.as_str(),
            message.account.as_str(),
            message.job_id
        ),
        ("test", "test", None)
    );
    let again = world.refused(&["wake", "replay", wake.event.id.as_str()]);
    assert_eq!(again.code, "acknowledged");
}

#[tokio::test]
async fn an_address_that_the_running_process_may_not_wake_is_refused_at_once() {
    let world = World::with_account();
    let url = "http://127.0.0.1:9/wake";
    world.run(&["agent", "add", "here", "--url", url]).ok();
    let mut up = world.worked_over();
    let told = world.refused(&["agent", "test", "here", "--within", "10m"]);
    assert_eq!(told.code, "address_refused", "{told:?}");
    assert!(told.next.contains("--allow-host 127.0.0.1:9"), "{told:?}");
    let here = "here".parse().unwrap();
    assert_eq!(store(&world).wakes(&here).await.unwrap().len(), 0);
    assert!(world.run(&["doctor"]).says("agent_address"));
    up.note(&["127.0.0.1:9".to_owned()]).unwrap();
    assert!(!world.run(&["doctor"]).says("agent_address"));
    let told = world.refused(&["agent", "test", "here", "--within", "1s"]);
    assert_eq!(told.code, "not_running", "{told:?}");
    assert!(!world.run(&["doctor"]).says("dead_wakes"));
}

#[test]
fn wakes_are_listed_shown_and_sent_once_more() {
    let (world, _) = with_agent();
    let none = world.json(&["wake", "list"]);
    assert_eq!(none, json!({ "wakes": [], "more": false }));
    world.refused(&["agent", "test", "bot", "--within", "1s"]);
    let dead = world.json(&["wake", "list", "--state", "given-up", "--since", "1h"]);
    let wake = &dead["wakes"][0];
    wake.holds(&json!({ "event": "test", "agent": "bot", "way": "http", "next": null }));
    let id = wake["event_id"].as_str().unwrap();
    let shown = world.json(&["wake", "show", id]);
    assert_eq!(shown["wakes"][0]["message"]["event_id"], id);
    let people = world.run(&["wake", "show", id]).ok();
    assert!(people.says("was given up at") && people.says("\"account\": \"test\""));

    // A test needs no replay.
    let nothing = world.json(&["wake", "replay", "--since", "1h"]);
    assert_eq!(nothing, json!({ "replayed": [] }));
    let again = world.json(&["wake", "replay", id]);
    assert_eq!(again, json!({ "replayed": [id] }));
    let waiting = world.json(&["wake", "list", "--agent", "bot"]);
    assert_eq!(waiting["wakes"][0]["state"], "waiting");
    let dead = world.json(&["wake", "list", "--state", "given-up"]);
    assert_eq!(dead["wakes"], json!([]));
    let other = "evt_00000000000000000000000000000000";
    for command in ["show", "replay"] {
        let told = world.refused(&["wake", command, other]);
        assert_eq!(told.code, "no_such_wake");
        assert_eq!(world.refused(&["wake", command, "evt_1"]).exit, 2);
    }
    let told = world.refused(&["wake", "list", "--agent", "x"]);
    assert_eq!(told.code, "no_such");
    assert_eq!(world.refused(&["wake", "replay"]).exit, 2);
}

#[test]
fn ways_are_chosen_and_an_address_brings_its_secret() {
    let world = World::with_account();
    let added = world.json(&["agent", "add", "me"]);
    assert_eq!(added["secret"], Value::Null);
    assert!(!world.data().join("secrets/agents/me").exists());
    let ways = || world.json(&["agent", "list"])["agents"][0]["ways"].clone();
    assert_eq!(ways(), json!(["inbox"]));
    let refused = world.refused(&["agent", "test", "me", "--within", "1s"]);
    assert_eq!(refused.code, "not_taken");
    assert!(refused.next.contains("gaffer watch --agent me"));
    let http = ["agent", "set", "me", "--channel", "http"];
    assert_eq!(world.refused(&http).code, "no_url");
    let url = world.json(&["agent", "set", "me", "--url", URL]);
    let secret = url["secret"].as_str().unwrap();
    assert_eq!(world.secret("agents/me").0, secret);
    assert_eq!(ways(), json!(["http"]));
    let both = [&http[..], &["--channel", "inbox"]].concat();
    world.run(&both).ok();
    assert_eq!(ways(), json!(["http", "inbox"]));
    let twice = [&http[..], &["--channel", "http"]].concat();
    assert_eq!(world.refused(&twice).code, "doubled_channel");
    let other = world.refused(&["agent", "set", "me", "--channel", "pigeon"]);
    assert_eq!(other.exit, 2);
}

/// Acts as the agent: acknowledges the wake as soon as it is stored, or fails when the command ends without one.
async fn acknowledge(world: &World, mut child: Child) -> Child {
    let store = store(world);
    let mut look = tokio::time::interval(Duration::from_millis(20));
    loop {
        look.tick().await;
        if let Some(found) = store.wakes(&bot()).await.unwrap().into_iter().next() {
            let next = found.value.acknowledged(found.value.event.observed_at);
            let key = engine::keys::wake(&bot(), &found.value.event.id);
            let body = json!({ "schema": engine::store::BODY_SCHEMA, "it": next }).to_string();
            let record = engine::ports::Record {
                key,
                version: found.version,
                body,
                due: None,
                list: None,
                forget: None,
            };
            let expect = engine::ports::Expect::Version(found.version);
            store
                .records()
                .commit(vec![engine::ports::Write::Put { record, expect }])
                .await
                .unwrap();
            return child;
        }
        assert!(
            child.try_wait().unwrap().is_none(),
            "the command ended without a wake"
        );
    }
}
