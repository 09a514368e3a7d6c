//! Ids of nothing, and oversized values: refused by name, and nothing is stored. The parser's own tests cover the
//! form of values.

use std::time::Duration;

use crate::jobs::{create, world};
use crate::world::{Ran, World};

/// Ten megabytes.
const HEAVY_BYTES: usize = 10 * 1024 * 1024;

/// Longest that any of these may take: none of them waits.
const WITHIN: Duration = Duration::from_secs(20);

const JOB: &str = "01j00000000000000000000000";
const SESSION: &str = "987654321987";
const EVENT: &str = "evt_00000000000000000000000000000000";

/// Commands about what is not there.
const NOTHING: &[&[&str]] = &[
    &["source", "set", "acme/none", "--branch", "x"],
    &["source", "pause", "acme/none"],
    &["source", "resume", "acme/none"],
    &["pause", "--source", "acme/none"],
    &["resume", "--source", "acme/none"],
    &["job", "create", "--repo", "acme/none", "--prompt", "x"],
    &["job", "adopt", SESSION, "--repo", "acme/none"],
    &["account", "set", "nobody", "--per-day", "3"],
    &["source", "add", "acme/none", "--account", "nobody"],
    &["source", "set", "acme/shop", "--agent", "nobody"],
    &[
        "agent",
        "set",
        "nobody",
        "--url",
        "https://bot.example.com/",
    ],
    &["agent", "rotate", "nobody"],
    &["agent", "remove", "nobody"],
    &["agent", "test", "nobody"],
    &["token", "revoke", "nobody"],
    &["wake", "list", "--agent", "nobody"],
    &["wake", "show", EVENT],
    &["wake", "replay", EVENT],
    &["dlq", "show", "99"],
    &["dlq", "redrive", "99"],
    &["dlq", "drop", "99"],
    &["logs", JOB],
    &["job", "show", JOB],
    &["job", "show", SESSION],
    &["job", "messages", JOB],
    &["job", "register", JOB],
    &["job", "why", JOB],
    &["job", "events", JOB],
    &["job", "wait", JOB],
    &["job", "say", JOB, "x"],
    &["job", "approve", JOB],
    &["job", "merge", JOB],
    &["job", "cancel", JOB],
    &["job", "retry", JOB],
    &["job", "artifacts", JOB],
    &["mcp", "call", "jules_nothing"],
];

/// What is not there.
fn named<'a>(command: &[&'a str]) -> &'a str {
    match command {
        ["job", "show", id] => id,
        ["mcp", .., tool] => tool,
        ["job", "create" | "adopt", ..] | ["source", "add", ..] => {
            if command.contains(&"nobody") {
                "nobody"
            } else {
                "acme/none"
            }
        }
        ["source", "set", "acme/shop", ..] => "nobody",
        ["source" | "pause" | "resume", ..] => "acme/none",
        ["wake", "list", ..] | ["agent" | "account" | "token", ..] => "nobody",
        ["wake", ..] => EVENT,
        ["dlq", ..] => "99",
        _ => JOB,
    }
}

/// Everything stored, without the line with the time.
fn stored(world: &World) -> Vec<String> {
    let all = world.run(&["export", "--all"]).ok().stdout;
    all.lines().skip(1).map(str::to_owned).collect()
}

fn refused(ran: &Ran, named: &str, command: &[&str]) {
    assert!(ran.code == 1 || ran.code == 2, "{command:?}: {ran:?}");
    assert!(ran.stderr.contains(named), "{command:?}: {ran:?}");
    assert!(
        ran.stderr.len() < 4_000,
        "{command:?}: {} bytes",
        ran.stderr.len()
    );
}

#[test]
fn an_id_of_nothing_is_named_and_changes_nothing() {
    let world = world();
    create(&world);
    let before = stored(&world);
    for command in NOTHING {
        let named = named(command);
        let began = std::time::Instant::now();
        let ran = world.run(command);
        assert!(began.elapsed() < WITHIN, "{command:?}");
        refused(&ran, named, command);
    }
    assert_eq!(stored(&world), before);
}

#[test]
fn more_than_anybody_may_give_is_refused_with_its_limit() {
    let world = world();
    let before = stored(&world);
    let heavy = "x".repeat(HEAVY_BYTES);
    let file = world.file("heavy", &heavy);
    let create = ["job", "create", "--repo", "acme/shop"];
    for command in [
        &[&create[..], &["-"]].concat()[..],
        &[&create[..], &["--prompt-file", &file]].concat(),
        &["jobs", "import", "-"],
        &["jobs", "import", &file],
        &["account", "add", "second"],
        &["account", "add", "second", "--key-file", &file],
        &["secret", "set", "github"],
        &["monitor", "--once", "--config", &file],
        &["events", "export", "--config", &file],
        &["handle-event"],
        &["mcp", "call", "jules_list_jobs", "-"],
    ] {
        let ran = world.feed(command, &heavy);
        refused(&ran, "longer than", command);
        assert_eq!(ran.code, 2, "{command:?}: {ran:?}");
    }
    assert_eq!(stored(&world), before);
}
