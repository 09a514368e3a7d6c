//! `gaffer dlq`, `gaffer logs`, `gaffer cost`, and moving with `gaffer export` and `gaffer import`.

use serde_json::{Value, json};

use crate::world::{Fields, Told, World};

const JOB: &str = "01j00000000000000000000000";

fn exported(world: &World) -> String {
    world.run(&["export", "--all"]).ok().stdout
}

#[test]
fn everything_moves_to_an_empty_folder_and_arrives_as_it_was() {
    let old = World::with_account();
    old.run(&["source", "add", "acme/shop"]).ok();
    let export = exported(&old);
    let new = World::new();
    let file = new.file("everything.jsonl", &export);
    let told = new.json(&["import", &file]);
    let records = export.lines().count() - 2;
    told.holds(&json!({ "records": records, "in_doubt": 0 }));
    // The same installation goes on, with the same sources and accounts; its key is not in it.
    let settings = |world: &World| -> Vec<(Value, Value)> {
        let lines = exported(world);
        let all = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let kept = all.filter(|line| line["line"] == "record" && line["pk"] != "CFG#restore");
        // An import writes the switches, which had never been set.
        let kept = kept.filter(|line| line["pk"] != "CFG#switches");
        kept.map(|line| (line["pk"].clone(), line["body"].clone()))
            .collect()
    };
    assert_eq!(settings(&new), settings(&old));
    let up = new.worked_over();
    assert_eq!(new.json(&["status"])["paused_since"], Value::Null);
    drop(up);
    assert!(!new.data().join("secrets/jules/default").exists());
}

#[test]
fn what_is_in_use_or_no_whole_export_is_refused_and_nothing_is_written() {
    let old = World::with_account();
    let export = exported(&old);
    let used = World::with_account();
    let file = used.file("everything.jsonl", &export);
    let before = exported(&used).lines().count();
    assert_eq!(used.refused(&["import", &file]).code, "occupied");
    assert_eq!(exported(&used).lines().count(), before);

    let cut: Vec<&str> = export.lines().collect();
    let cut = cut[..cut.len() - 1].join("\n");
    let newer = export.replacen("\"schema\":1", "\"schema\":99", 1);
    let jobs = old.run(&["export"]).ok().stdout;
    let texts = [
        cut,
        newer,
        jobs,
        "{}\n".to_owned(),
        String::new(),
        "no\n".repeat(3),
    ];
    for text in texts {
        let new = World::new();
        let file = new.file("everything.jsonl", &text);
        assert_eq!(new.refused(&["import", &file]).exit, 2, "{text:?}");
        assert!(!new.data().join("gaffer.db").exists(), "{text:?}");
    }
}

#[test]
fn dead_letters_are_told_of_even_when_there_are_none() {
    let world = World::with_account();
    assert_eq!(world.json(&["dlq", "list"]), json!({ "dead_letters": [] }));
    let told = world.run(&["dlq", "list"]).ok();
    told.tells(&["No message was given up."]);
    let nothing = json!({ "redriven": [], "malformed": [] });
    assert_eq!(world.json(&["dlq", "redrive", "--all"]), nothing);
    for command in ["show", "redrive", "drop"] {
        world.refused(&["dlq", command, "7"]).is(1, "no_such");
    }
    assert_eq!(world.run(&["dlq", "redrive"]).code, 2);
    let told = world.refused(&["dlq", "--queue", "ticks", "list"]);
    assert_eq!(told.exit, 2, "{told:?}");
}

#[test]
fn logs_and_cost_read_the_store_alone() {
    let world = World::with_account();
    let told = world.refused(&["logs", JOB]);
    assert!(told.error.contains(JOB), "{told:?}");
    let cost = world.json(&["cost"]);
    assert_eq!(
        (&cost["prices"], &cost["accounts"][0]["tasks_left"]),
        (&json!(null), &json!(15))
    );
    let cost = world.run(&["cost"]).ok();
    cost.tells(&["costs nothing on AWS"]);
    cost.lacks(&["dollars"]);
    let usage = [
        "job",
        "create",
        "--repo",
        "acme/shop",
        "--prompt",
        "x",
        "--priority",
        "10",
    ];
    assert_eq!(world.run(&usage).code, 2);
}

#[cfg(not(feature = "aws"))]
#[test]
fn without_aws_a_stack_is_refused_with_what_to_build() {
    let world = World::with_account();
    for command in [
        &["status", "--aws"][..],
        &["up", "--stack", "x"],
        &["export", "--all", "--stack", "x"],
        &["pause", "--stack", "x"],
        &["source", "list", "--stack", "x"],
        &["account", "--stack", "x", "list"],
        &["agent", "list", "--aws"],
        &["dlq", "list", "--stack", "x", "--queue", "ticks"],
        &["job", "list", "--stack", "x", "--url", "http://127.0.0.1:1"],
    ] {
        let told = world.refused(command);
        assert_eq!(told.exit, 2, "{told:?}");
        assert!(told.next.contains("--features aws"), "{told:?}");
    }
    assert_eq!(world.refused(&["status", "--stack", "a b"]).exit, 2);
}

#[test]
fn what_is_about_this_machine_is_not_done_for_a_stack() {
    let world = World::with_account();
    for command in [
        &["demo", "--stack", "x"][..],
        &["doctor", "--aws"],
        &["backup", "x.db", "--stack", "x"],
        &["completions", "bash", "--stack", "x"],
    ] {
        let told = world.refused(command);
        assert_eq!(told.exit, 2, "{told:?}");
        assert!(told.error.contains("about this machine"), "{told:?}");
    }
    let told = world.refused(&["job", "list", "--stack", "x"]);
    assert_eq!(told.exit, 2, "{told:?}");
    assert!(told.next.contains("--url URL"), "{told:?}");
}
