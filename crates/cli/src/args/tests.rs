//! The command line as a whole: it is consistent, and every example in its help is understood.

use clap::{CommandFactory, Parser};

use super::*;

/// Every command below `command` that people type, with its full name.
fn walk(command: &clap::Command, name: &str, found: &mut Vec<(String, String)>) {
    let help = command.clone().render_long_help().to_string();
    found.push((name.to_owned(), help));
    for sub in command
        .get_subcommands()
        .filter(|sub| sub.get_name() != groups::HELP)
    {
        walk(sub, &format!("{name} {}", sub.get_name()), found);
    }
}

fn all() -> Vec<(String, String)> {
    let mut command = CommandLine::command();
    command.build();
    let mut found = Vec::new();
    walk(&command, "gaffer", &mut found);
    found
}

/// Splits a line as a shell does, as far as the examples need: single quotes, a pipe before and a redirection of either way after.
fn split(line: &str) -> Vec<String> {
    let line = line.rsplit(" | ").next().unwrap_or(line);
    let line = line.split(" > ").next().unwrap_or(line);
    let line = line.split(" < ").next().unwrap_or(line);
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.push(word);
    words
}

fn examples(help: &str) -> Vec<Vec<String>> {
    let after = help
        .split_once("\nExample")
        .map(|(_, after)| after)
        .unwrap_or_default();
    after
        .lines()
        .filter(|line| line.contains("gaffer ") && line.starts_with("  "))
        .map(|line| split(line.trim()))
        .collect()
}

#[test]
fn help_of_help_is_that_of_its_group_and_elsewhere_help_is_a_value() {
    let parsed = |line: &str| groups::parse(split(line).into_iter().map(Into::into));
    let shown = |line: &str| parsed(line).unwrap_err().to_string();
    for group in ["gaffer", "gaffer delivery", "gaffer job"] {
        let wanted = shown(&format!("{group} help"));
        for option in ["--help", "-h"] {
            assert_eq!(shown(&format!("{group} help {option}")), wanted);
        }
    }
    let said = shown("gaffer job say latest help --help");
    assert!(said.contains("gaffer job say"), "{said}");
    let said = shown("gaffer jobs help --help");
    assert!(!said.contains("Usage: gaffer job "), "{said}");
}

#[test]
fn the_help_of_mcp_names_every_toolset() {
    let all = all();
    let help = all.iter().find(|(name, _)| name == "gaffer mcp");
    let help = &help.unwrap().1;
    for set in client::mcp::Toolset::ALL {
        assert!(help.contains(&format!("`{set}`")), "{set}: {help}");
    }
}

#[test]
fn the_help_of_answers_says_that_a_person_is_called_last() {
    let all = all();
    for command in ["gaffer source add", "gaffer source set"] {
        let help = &all.iter().find(|(name, _)| name == command).unwrap().1;
        let words: Vec<_> = help.split_whitespace().collect();
        assert!(words.join(" ").contains("A person is called last"));
    }
}

#[test]
fn the_command_line_is_consistent() {
    CommandLine::command().debug_assert();
}

#[test]
fn every_command_has_an_example_that_is_understood() {
    let commands = all();
    assert!(commands.len() >= 42, "{} commands", commands.len());
    for (name, help) in commands {
        let examples = examples(&help);
        assert!(!examples.is_empty(), "{name} has no example:\n{help}");
        for example in &examples {
            let parsed = CommandLine::try_parse_from(example);
            assert!(
                parsed.is_ok(),
                "{name}: {example:?}: {}",
                parsed.unwrap_err()
            );
        }
        let own: Vec<_> = name.split(' ').collect();
        assert!(
            examples.iter().any(|example| example
                .starts_with(&own.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())),
            "{name}: {examples:?}"
        );
    }
}

#[test]
fn the_defaults_are_safe() {
    let parsed = CommandLine::try_parse_from(["gaffer", "source", "add", "acme/shop"]).unwrap();
    let Command::Source(source) = parsed.command else {
        panic!()
    };
    let source::SourceCommand::Add(args) = *source else {
        panic!()
    };
    assert_eq!(
        (args.account.as_str(), args.branch.as_str()),
        ("default", "main")
    );
    assert_eq!((args.policy, args.timing), Default::default());
    let parsed = CommandLine::try_parse_from(["gaffer", "up"]).unwrap();
    let Command::Up(up) = parsed.command else {
        panic!()
    };
    assert!(up.listen.ip().is_loopback() && !up.observe_only && up.outside.allow_hosts.is_empty());
    let parsed = CommandLine::try_parse_from(["gaffer", "handle-event"]).unwrap();
    let Command::HandleEvent(handle) = parsed.command else {
        panic!()
    };
    assert!(!handle.auto_approve_plans);
}

#[test]
fn what_is_wrong_is_told_with_its_argument_and_value() {
    for (line, names) in [
        ("source add acme", "OWNER/REPO acme"),
        ("source add a/b --stuck-after 20", "--stuck-after 20"),
        ("source add a/b --min-checks -1", "-1"),
        ("source add a/b --merge always", "--merge always"),
        ("source add a/b --branch a..b", "--branch a..b"),
        ("account add Default", "NAME Default"),
        ("source set a/b --repository-id 0", "--repository-id 0"),
        (
            "sprint set a/b --member-timeout 30s",
            "--member-timeout 30s",
        ),
        ("account add x --concurrent 0", "--concurrent 0"),
        ("agent add bot --url bot", "--url bot"),
        ("job show 'no id'", "ID 'no id'"),
        ("job list --limit 201", "--limit 201"),
        ("up --listen 4180", "--listen 4180"),
        ("up --listen foo", "`127.0.0.1:4180`"),
        ("up --allow-host http://x", "--allow-host http://x"),
    ] {
        let error = CommandLine::try_parse_from(split(&format!("gaffer {line}"))).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{line}");
        let told = crate::error::describe_usage(&error, groups::command).what;
        for name in split(names) {
            assert!(told.contains(&name), "{line}: {told}");
        }
    }
}

#[test]
fn a_prompt_comes_from_one_place() {
    let parse = |rest: &[&str]| {
        CommandLine::try_parse_from([&["gaffer", "job", "create", "--repo", "a/b"], rest].concat())
    };
    for good in [
        &["--prompt", "x"][..],
        &["--prompt-file", "x"],
        &["--prompt-file", "-"],
        &["-"],
        &["text"],
        &[],
    ] {
        assert!(parse(good).is_ok(), "{good:?}");
    }
    for bad in [
        &["--prompt", ""][..],
        &[""],
        &["text", "more"],
        &["--prompt", "x", "-"],
        &["--prompt", "x", "--prompt-file", "y"],
        &["--prompt-file", "y", "-"],
    ] {
        assert!(parse(bad).is_err(), "{bad:?}");
    }
}

mod wrong;
