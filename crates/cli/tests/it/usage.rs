//! Exit codes, help, completions, and what failures look like.

use crate::world::{KEY, Told, World, ran, words};

#[test]
fn bad_usage_ends_with_2_and_names_the_argument_and_its_value() {
    let world = World::new();
    let wrong: [(&[&str], &str); 9] = [
        (&["source", "add", "acme"], "acme"),
        (
            &["source", "add", "a/b", "--stuck-after", "20"],
            "--stuck-after",
        ),
        (&["account", "add", "Default"], "Default"),
        (&["account", "add", "x", "--plan", "gold"], "gold"),
        (&["agent", "add", "bot", "--url", "ftp://bot"], "--url"),
        (&["agent", "set", "bot"], "--url"),
        (&["job", "show", "../etc"], "../etc"),
        (
            &["job", "merge", "01j00000000000000000000000", "--sha", "abc"],
            "--sha",
        ),
        (&["fly"], "fly"),
    ];
    for (arguments, name) in wrong {
        let told = world.refused(arguments);
        told.is(2, "usage");
        told.tells(name, "");
        let people = world.run(arguments);
        assert_eq!(people.code, 2);
        assert!(people.stdout.is_empty(), "{people:?}");
        assert!(people.stderr.lines().count() <= 2, "{people:?}");
    }
    assert!(
        !world.data().exists(),
        "a command that was not understood made a data folder"
    );
}

#[test]
fn secrets_among_the_arguments_are_not_repeated() {
    let world = World::new();
    for arguments in [
        &["account", "add", "default", KEY][..],
        &["account", "add", KEY],
        &["agent", "add", "bot", "--url", KEY],
    ] {
        let ran = world.run(arguments);
        assert!(ran.code == 2 && !ran.says(KEY), "{ran:?}");
    }
    let ran = world.run(&words(
        "agent add bot --url https://me:hunter2@bot.example.com/",
    ));
    assert!(ran.code == 2 && !ran.says("hunter2"), "{ran:?}");
}

#[test]
fn failures_take_two_lines_at_most_and_say_what_to_do() {
    let world = World::new();
    let ran = world.run(&["source", "add", "acme/shop"]);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!((ran.code, lines.len(), ran.stdout.as_str()), (1, 2, ""));
    assert!(
        lines[0].starts_with("gaffer: adding source acme/shop: there is no account")
            && lines[1].starts_with("next: "),
        "{lines:?}"
    );
}

#[test]
fn help_and_version_are_answers() {
    let world = World::new();
    for arguments in [
        &["--help"][..],
        &["-h"],
        &["source", "add", "--help"],
        &["--version"],
    ] {
        let ran = world.run(arguments).ok();
        assert!(ran.says("gaffer"), "{ran:?}");
    }
    let mut nothing = world.command(&[]);
    nothing.env_remove("GAFFER_DATA");
    let nothing = ran(nothing, "");
    assert!(nothing.code == 2 && nothing.says("Usage"), "{nothing:?}");
    let told = world.refused(&[]);
    assert_eq!(told.exit, 2);
    told.tells("subcommand", "");
}

#[test]
fn a_command_without_its_subcommand_shows_its_help() {
    let world = World::new();
    for (arguments, part) in [
        (&[][..], "\nWork:\n  job "),
        (&["job"], "\n  create "),
        (&["source"], "\n  add "),
    ] {
        let ran = world.run(arguments);
        assert_eq!(ran.code, 2);
        assert!(ran.stdout.is_empty(), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(part), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains("Usage: gaffer"), "{ran:?}");
    }
    let told = world.refused(&["job"]);
    assert!(told.next.contains("create, list, show"), "{told:?}");
}

#[test]
fn help_is_a_command_and_typos_get_suggestions() {
    let world = World::new();
    for (arguments, part) in [
        (&["help"][..], "\nOperation:\n"),
        (&["help", "job"], "\n  create "),
        (&["help", "job", "create"], "--prompt-file <FILE>"),
        (&["job", "help", "create"], "--prompt-file <FILE>"),
    ] {
        let ran = world.run(arguments).ok();
        assert!(ran.says(part), "{arguments:?}: {ran:?}");
    }
    for (arguments, meant) in [
        (&["jop"][..], "`job`"),
        (&["job", "creat"], "`create`"),
        (&["job", "list", "--limt", "3"], "`--limit`"),
        (&["account", "add", "x", "--plan", "prro"], "`pro`"),
    ] {
        let told = world.refused(arguments);
        assert!(told.next.contains(meant), "{arguments:?}: {told:?}");
    }
}

#[test]
fn every_shell_gets_completions() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = world.run(&["completions", shell]).ok();
        ran.tells(&["gaffer", "rotate", "monitor"]);
    }
    assert_eq!(world.run(&["completions", "cmd"]).code, 2);
}

#[test]
fn a_data_folder_is_found_or_asked_for() {
    let world = World::new();
    let mut nowhere = world.command(&["status", "--json"]);
    nowhere.env_remove("GAFFER_DATA");
    ran(nowhere, "").failure().is(2, "usage");
    let agent = ["agent", "add", "bot", "--url", "https://bot.example.com/x"];
    let mut home = world.command(&agent);
    home.env_remove("GAFFER_DATA")
        .env("XDG_DATA_HOME", world.data());
    ran(home, "").ok();
    assert!(world.data().join("gaffer/gaffer.db").exists());
    let file = world.file("file", "");
    assert_eq!(world.refused(&["--data", &file, "status"]).exit, 1);
}

#[test]
fn what_is_to_be_done_next_can_be_done() {
    let world = World::with_account();
    let empty = world.refused(&["secret", "set", "github"]);
    assert!(!empty.next.contains("--key-file"), "{empty:?}");
    assert_eq!(empty.exit, 2);
    let nothing = world.refused(&["restore", "no-such-file"]);
    nothing.is(2, "usage");
    for word in ["owner", "mode", "owns"] {
        assert!(!nothing.error.contains(word), "{nothing:?}");
        assert!(!nothing.next.contains(word), "{nothing:?}");
    }
    let skill = world.json(&["mcp", "skill"]);
    assert!(skill["skill"].as_str().unwrap().contains("jules_"));
}

#[test]
fn a_service_runs_the_very_command_that_was_typed() {
    let world = World::new().set("JULES_API_KEY", KEY);
    let unit = world.run(&["up", "--no-webhooks", "--service"]).ok();
    let data = world.data().display().to_string();
    let command = format!("gaffer\" \"up\" \"--no-webhooks\" \"--data\" \"{data}\"");
    for part in [
        "After=network-online.target time-sync.target",
        "[Service]\nExecStart=\"/",
        &command,
        "WantedBy=default.target",
    ] {
        assert!(unit.says(part), "{part}: {unit:?}");
    }
    assert!(!unit.says(KEY) && !world.data().exists(), "{unit:?}");
    let list = world.json(&["up", "--service=launchd"]);
    let text = list["text"].as_str().unwrap();
    assert!(text.contains("<key>ProgramArguments</key>"), "{text}");
    assert_eq!(world.refused(&["up", "--service=cron"]).exit, 2);
}

#[test]
fn a_folder_that_cannot_be_served_is_refused() {
    let world = World::new().set("PATH", "/nowhere");
    let told = world.refused(&["sandbox", "--folder", "./no-such"]);
    told.is(2, "usage");
    // No git is found there.
    let file = world.file("a.txt", "a\n");
    let folder = std::path::Path::new(&file).parent().unwrap();
    let serve = [
        "--listen",
        "127.0.0.1:0",
        "--folder",
        folder.to_str().unwrap(),
    ];
    let told = world.refused(&[&["sandbox"], &serve[..]].concat());
    told.is(1, "no_files");
    told.tells("install git 2.38", "");
}

#[test]
fn a_demo_of_a_repository_with_files_is_refused_without_git() {
    let world = World::new().set("PATH", "/nowhere");
    for story in ["--sprint", "--pipeline"] {
        let told = world.refused(&["demo", story]);
        told.is(1, "no_files");
        told.tells("`git init` does not run", "git 2.38");
    }
}

#[test]
fn scenarios_have_names() {
    let world = World::new();
    let listed = world.json(&["sandbox", "--list"])["scenarios"].clone();
    let names = listed.as_array().unwrap().iter();
    let names: Vec<_> = names.map(|it| it["name"].as_str().unwrap()).collect();
    let six = [
        "question",
        "plan",
        "failing-check",
        "silence",
        "failure",
        "conflict",
    ];
    assert_eq!(names, six);
    let told = world.refused(&["sandbox", "--scenario", "questoin"]);
    assert_eq!(told.exit, 2);
    told.tells("", "question, plan");
    let missing = world.refused(&["sandbox", "--scenario", "./no-such.json"]);
    assert_eq!(missing.exit, 1);
}
