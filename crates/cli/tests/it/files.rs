//! `gaffer jobs`, `gaffer events` and `config.json` on a data folder without a working process.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::jobs::{create, world};
use crate::world::{Fields, Told, World, ended};

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_list_is_taken_twice_and_what_is_wrong_in_it_is_told_with_its_number() {
    let world = world();
    let job = create(&world);
    let list = format!("{{\"job_id\": \"{job}\", \"metadata\": {{\"task\": \"x\"}}}}\n{job}\n");
    let file = world.file("jobs.jsonl", &list);
    for _ in 0..2 {
        let taken = world.json(&["jobs", "import", &file]);
        taken.holds(&json!({ "known": 2, "wrong": [] }));
    }
    let array = json!([job, { "job_id": job }, 7, "01j99999999999999999999999"]).to_string();
    let ran = world.feed(&["--json", "jobs", "import", "-"], &array);
    assert_eq!(ran.code, 1, "{ran:?}");
    let taken = ran.json();
    assert_eq!(taken["known"], 2);
    let wrong = taken["wrong"].as_array().unwrap();
    assert!(ran.says("entries_wrong"), "{ran:?}");
    assert!(wrong.iter().any(|it| it["entry"] == 4), "{taken}");
    let secret = json!({ "job_id": job, "metadata": { "key": crate::world::KEY } });
    let told = world.feed(&["jobs", "import", "-"], &secret.to_string());
    assert_eq!(told.code, 1);
    told.tells(&["looks like a secret"]);
    assert!(!world.stored(crate::world::KEY) && !told.says(crate::world::KEY));
    let broken = world.feed(&["jobs", "import", "-"], &format!("{{\"job_id\n{job}\n"));
    assert!(broken.code == 1 && broken.says("Entry 1:"), "{broken:?}");
    assert!(broken.says("1 known already"), "{broken:?}");
}

#[test]
fn a_session_without_a_repository_needs_one() {
    let world = world();
    world.run(&["source", "add", "acme/till"]).ok();
    let ran = world.feed(&["jobs", "import", "-"], "1234567890");
    assert!(ran.code == 1 && ran.says("--repo OWNER/REPO"), "{ran:?}");
    let ran = world.feed(
        &["jobs", "import", "-", "--repo", "acme/other"],
        "1234567890",
    );
    assert!(ran.code == 1 && ran.says("acme/other"), "{ran:?}");
}

#[test]
fn a_list_that_cannot_be_read_is_bad_usage_and_names_its_limit() {
    let world = world();
    let long = "x".repeat(5 * 1024 * 1024);
    let file = world.file("long", &long);
    for ran in [
        world.run(&["--json", "jobs", "import", &file]),
        world.feed(&["--json", "jobs", "import", "-"], &long),
    ] {
        let told = ran.failure();
        assert_eq!(told.exit, 2, "{told:?}");
        assert!(told.error.contains("longer than 4194304 bytes"), "{told:?}");
    }
    let told = world.refused(&["jobs", "import", "no/such/file"]);
    assert_eq!(told.exit, 2);
    told.tells("no/such/file", "");
}

#[test]
fn what_is_exported_can_be_imported() {
    let world = world();
    let (first, second) = (create(&world), create(&world));
    world.run(&["job", "cancel", &first]).ok();
    let all = lines(&world.run(&["jobs", "export"]).ok().stdout);
    let ids: Vec<_> = all
        .iter()
        .map(|line| line["job_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, [&first, &second]);
    all[0].holds(&json!({ "state": "cancelled", "repo": "acme/shop" }));
    let active = world.run(&["jobs", "export", "--active"]).ok().stdout;
    assert_eq!(lines(&active).len(), 1);
    assert_eq!(lines(&active)[0]["metadata"], json!({}));
    let noted = json!({ "job_id": second, "metadata": { "task": "Search", "for": ["me"] } });
    world
        .feed(&["jobs", "import", "-"], &noted.to_string())
        .ok();
    let active = world.run(&["jobs", "export", "--active"]).ok().stdout;
    assert_eq!(lines(&active)[0]["metadata"], noted["metadata"]);
    let again = world.feed(&["--json", "jobs", "import", "-"], &active).ok();
    assert_eq!(again.json()["known"], 1);
}

#[test]
fn no_event_is_no_line_and_a_cursor_is_checked() {
    let world = world();
    let ran = world.run(&["events", "export"]).ok();
    assert_eq!(ran.stdout, "");
    let told = world.refused(&["events", "export", "--after", "yesterday"]);
    assert!(told.exit == 2 && told.error.contains("--after"), "{told:?}");
}

#[test]
fn settings_that_are_wrong_are_told_with_file_key_and_value() {
    let world = world();
    let bad = world.file("bad.json", r#"{"monitor_poll_seconds": -5}"#);
    for command in [
        &["monitor", "--once"][..],
        &["events", "export", "--append"],
    ] {
        let told = world.refused(&[command, &["--config", &bad]].concat());
        assert_eq!(told.exit, 2, "{told:?}");
        for named in ["bad.json", "`monitor_poll_seconds`", "-5"] {
            assert!(told.error.contains(named), "{told:?}");
        }
    }
    // The one in the data folder holds when none is named.
    world.file("data/config.json", r#"{"jobs_pth": "x"}"#);
    let ran = world.run(&["events", "export"]);
    assert!(ran.code == 0 && ran.says("`jobs_path`"), "{ran:?}");
}

/// `stuck_minutes` is taken up by a monitor that can work, and by no other.
#[test]
fn a_monitor_that_cannot_write_its_file_changes_no_source() {
    let world = world().set("GITHUB_TOKEN", "ghp_0123456789abcdefghijABCDEFGHIJ012345");
    let before = world.json(&["source", "list"]);
    let no_folder = world.file("no-folder", "");
    let settings =
        json!({ "events_path": format!("{no_folder}/events.jsonl"), "stuck_minutes": 45 });
    let config = world.file("config.json", &settings.to_string());
    for how in ["--once", "--loop"] {
        let ran = world.run(&["monitor", how, "--config", &config]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.says("`events_path`, cannot be written"), "{ran:?}");
        assert_eq!(world.json(&["source", "list"]), before);
    }
}

#[test]
fn nothing_is_made_where_there_is_no_gaffer() {
    let world = World::new();
    for command in [
        &["jobs", "export"][..],
        &["events", "export", "--append"],
        &["monitor", "--once"],
    ] {
        let told = world.refused(command);
        assert_eq!(told.exit, 2, "{told:?}");
    }
    assert!(!world.data().exists());
    assert_eq!(world.refused(&["monitor"]).exit, 2);
    assert_eq!(world.refused(&["monitor", "--once", "--loop"]).exit, 2);
}

#[test]
fn a_file_of_events_is_handled_line_by_line_and_remembered() {
    let world = world();
    let config = world.file("config.json", "{}");
    let state = config.replace("config.json", "state.json");
    let seen = config.replace("config.json", "seen");
    world.file(
        "config.json",
        &json!({ "watcher_state_path": state }).to_string(),
    );
    let lines = "{\"event\": \"question\", \"event_id\": \"a\"}\nnonsense\n{\"event\": \"stuck\", \"event_id\": \"b\"}\n{\"event\": \"half";
    let file = world.file("events.jsonl", lines);
    let script = format!("printf '%s\\n' \"$JULES_EVENT\" >> {seen}");
    let watch = |world: &World| {
        let watch = [
            "watch", "--events", &file, "--once", "--json", "--config", &config,
        ];
        let mut command = world.command(&[&watch[..], &["--", "sh", "-c", &script]].concat());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        crate::world::ran(command, "")
    };
    let ran = watch(&world);
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 2), "{ran:?}");
    assert!(ran.says("passed over: nonsense"), "{ran:?}");
    let ran = watch(&world);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
    world.file(
        "events.jsonl",
        "{\"event\": \"error\", \"event_id\": \"c\"}\n",
    );
    assert_eq!(watch(&world).stdout.lines().count(), 1);
    let handled = std::fs::read_to_string(&seen).unwrap();
    let ids: Vec<_> = handled
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["event_id"].clone())
        .collect();
    assert_eq!(ids, ["a", "b", "c"]);
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&state).unwrap()).unwrap();
    kept.holds(&json!({ "malformed": 1, "given_up": 0 }));
}

#[test]
fn an_event_of_an_unknown_kind_is_logged_done_with_and_counted() {
    let world = world();
    let odd = json!({ "event": "celebrated", "event_id": "a", "job_id": "j1" }).to_string();
    let alone = world.run(&["--json", "handle-event", "--event", &odd]);
    assert_eq!(alone.code, 0, "{alone:?}");
    assert!(
        alone.stderr.contains("unknown_event: `celebrated`"),
        "{alone:?}"
    );
    assert_eq!(alone.json()["called"], json!([]));
    assert_eq!(alone.json()["event"], "celebrated");

    let config = world.file("config.json", "{}");
    let state = config.replace("config.json", "state.json");
    let settings = json!({ "watcher_state_path": state }).to_string();
    world.file("config.json", &settings);
    let known = json!({ "event": "question", "event_id": "b" });
    let file = world.file("events.jsonl", &format!("{odd}\n{known}\n{odd}\n"));
    // Without a command it is the program's own.
    let watch = ["watch", "--events", &file, "--once", "--config", &config];
    let ran = world.run(&watch);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.says("a celebrated (try 1): done"), "{ran:?}");
    assert_eq!(ran.stderr.matches("unknown_event: ").count(), 2, "{ran:?}");
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&state).unwrap()).unwrap();
    let counts = ["unknown_event", "malformed", "given_up"].map(|name| kept[name].clone());
    assert_eq!(counts, [json!(2), json!(0), json!(0)]);
}

#[test]
fn the_command_of_the_settings_is_run_and_what_always_fails_is_given_up() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let world = world().set("PATH", path.to_str().unwrap());
    let state = world.file("state.json", "");
    let settings = json!({ "watcher_state_path": state, "zai_command": "exit 3" });
    let config = world.file("config.json", &settings.to_string());
    let file = world.file(
        "events.jsonl",
        "{\"event\": \"error\", \"event_id\": \"c\"}\n",
    );
    let told = world.run(&[
        "watch", "--events", &file, "--once", "--json", "--config", &config,
    ]);
    assert_eq!((told.code, told.stdout.lines().count()), (1, 5), "{told:?}");
    told.tells(&["exit code 3", "not_handled"]);
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&state).unwrap()).unwrap();
    assert_eq!(kept["given_up"], 1);
    assert_eq!(world.refused(&["watch"]).exit, 2);
}

/// How long a command may go on after its reader is gone.
const ENDS_WITHIN: Duration = Duration::from_secs(300);

/// Starts a command, takes so many lines from it as `head` does, and answers how it ended and what it said on stderr.
fn headed(mut command: Command, lines: usize) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    // Without a line to read, the reader is closed before the command can write.
    let reader = (lines > 0).then_some(reader);
    let piped = command.stdin(Stdio::null()).stdout(writer);
    let mut child = piped.stderr(Stdio::piped()).spawn().unwrap();
    // Its writer would keep the pipe open after the child's end.
    drop(command);
    for line in reader
        .into_iter()
        .flat_map(|it| BufReader::new(it).lines())
        .take(lines)
    {
        line.unwrap();
    }
    let code = ended(&mut child, ENDS_WITHIN).code();
    let output = child.wait_with_output().unwrap();
    (code, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn whoever_follows_events_ends_quietly_once_nobody_reads_them() {
    let world = world();
    let config = world.file("config.json", r#"{"watcher_poll_seconds": 0.1}"#);
    let follow = ["events", "export", "--follow", "--config", &config];
    assert_eq!(headed(world.command(&follow), 0), (Some(0), String::new()));
}

#[test]
fn a_list_that_nobody_reads_to_its_end_is_no_failure() {
    let world = world();
    for _ in 0..3 {
        create(&world);
    }
    let export = ["jobs", "export"];
    assert_eq!(headed(world.command(&export), 1), (Some(0), String::new()));
}

#[test]
fn a_watcher_ends_once_nobody_reads_what_it_tells_and_remembers_what_it_did() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let world = world().set("PATH", path.to_str().unwrap());
    let state = world.file("state.json", "");
    let settings = json!({ "watcher_state_path": state, "zai_command": "true" });
    let config = world.file("config.json", &settings.to_string());
    let one = "{\"event\": \"error\", \"event_id\": \"a\"}\n";
    let file = world.file("events.jsonl", &one.repeat(3));
    let watch = ["watch", "--events", &file, "--json", "--config", &config];
    assert_eq!(headed(world.command(&watch), 0), (Some(0), String::new()));
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&state).unwrap()).unwrap();
    assert_eq!(kept["offset"], one.len(), "{kept}");
}
