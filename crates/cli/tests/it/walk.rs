//! Every command with `--json`, as its help shows it and typed wrongly: what it prints is JSON, and what failed has a code.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::jobs::world;
use crate::world::{Ran, World, ran};

/// Commands that go on until they are ended, or that call services of others: their own tests run them.
const ELSEWHERE: [&str; 8] = [
    "up",
    "demo",
    "sandbox",
    "monitor",
    "watch",
    "doctor",
    "github setup",
    "github token",
];

/// Commands of one level, as a help shows them: two spaces, the name, and what it does.
fn named_in(help: &str) -> Vec<String> {
    let shown = help.lines().take_while(|line| *line != "Options:");
    let names = shown.filter_map(|line| line.strip_prefix("  ")?.split_once("  "));
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c == '-')
    };
    let names = names.map(|(name, _)| name).filter(|name| is_name(name));
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// Every command that has none below it, with its help.
fn leaves(world: &World, above: &[String], found: &mut Vec<(Vec<String>, String)>) {
    let mut arguments: Vec<&str> = above.iter().map(String::as_str).collect();
    arguments.push("--help");
    let help = world.run(&arguments).ok().stdout;
    let below = if help.contains("COMMAND") {
        named_in(&help)
    } else {
        Vec::new()
    };
    if below.is_empty() {
        return found.push((above.to_vec(), help));
    }
    if help.contains("[COMMAND]") {
        found.push((above.to_vec(), help));
    }
    for name in below {
        leaves(world, &[above, &[name]].concat(), found);
    }
}

/// The examples of a help that need no shell, without the program's name.
fn examples(help: &str) -> Vec<Vec<String>> {
    let after = help.split_once("\nExample").map_or("", |(_, after)| after);
    let lines = after
        .lines()
        .filter_map(|line| line.strip_prefix("  gaffer "));
    // No process works on a job here that could be waited for, and what follows events goes on.
    let plain = lines.filter(|line| {
        !line.contains(['|', '<', '>', '$', '"'])
            && !line.contains("--until")
            && !line.contains("--follow")
    });
    plain
        .map(|line| {
            let quoted = line.split('\'').enumerate();
            let words = quoted.flat_map(|(at, part)| match at % 2 {
                0 => part
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>(),
                _ => vec![part.to_owned()],
            });
            words.collect()
        })
        .collect()
}

/// One JSON value on each line of stdout; on failure the last line of stderr is one as well.
#[track_caller]
fn is_json(ran: &Ran, what: &str) {
    let read = |line: &str| serde_json::from_str::<Value>(line);
    for line in ran.stdout.lines() {
        assert!(read(line).is_ok(), "{what}: {ran:?}");
    }
    if ran.code == 0 {
        return;
    }
    let told = ran.stderr.lines().last().unwrap_or_default();
    let told = read(told).unwrap_or_else(|_| panic!("{what}: {ran:?}"));
    for field in ["error", "code"] {
        let text = told[field].as_str().unwrap_or_default();
        assert!(!text.is_empty(), "{what}: {field}: {ran:?}");
    }
    assert!([1, 2].contains(&ran.code), "{what}: {ran:?}");
}

#[test]
fn every_command_answers_in_json_and_refuses_in_json() {
    let world = world();
    let cwd = tempfile::tempdir().unwrap();
    let run = |arguments: &[String]| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = world.command(&arguments);
        command.current_dir(cwd.path());
        ran(command, "")
    };
    let mut commands = Vec::new();
    leaves(&world, &[], &mut commands);
    let names: BTreeSet<String> = commands.iter().map(|(name, _)| name.join(" ")).collect();
    for name in [
        "job create",
        "mcp skill",
        "wake replay",
        "restore",
        "cost",
        "secret list",
    ] {
        assert!(names.contains(name), "{names:?}");
    }
    assert!(names.len() >= 70, "{} commands: {names:?}", names.len());
    for (name, help) in &commands {
        let what = name.join(" ");
        let flags = |more: &str| ["--json", more].map(str::to_owned).to_vec();
        let odd = run(&[name.clone(), flags("--no-such-option")].concat());
        assert_eq!(odd.failure().code, "usage", "{what}: {odd:?}");
        assert_eq!(odd.code, 2, "{what}: {odd:?}");
        if ELSEWHERE.contains(&what.as_str()) {
            continue;
        }
        for example in examples(help) {
            let arguments = [vec!["--json".to_owned()], example].concat();
            let ran = run(&arguments);
            is_json(&ran, &arguments.join(" "));
            let says_something = !ran.stdout.is_empty() || ran.code != 0;
            let may_be_silent = ["export", "events export", "jobs export", "mail log", "mcp"];
            assert!(
                says_something || may_be_silent.contains(&what.as_str()),
                "{what}: {ran:?}"
            );
        }
    }
}
