//! `gaffer setup`: the script of the tools, and the values that they take.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::repository::{Repository, ran_in, write_program};
use crate::world::{Ran, Told};

const SECRETS: &str = ".jlo/setup/secrets.toml";
const INSTALL: &str = ".jlo/setup/install.sh";

fn mode(repository: &Repository, path: &str) -> u32 {
    let found = fs::metadata(repository.root().join(path)).unwrap();
    found.permissions().mode() & 0o777
}

#[test]
fn a_script_is_made_of_the_tools_and_every_value_stays() {
    let repository = Repository::set_up();
    repository.write(".jlo/setup/tools.yml", "tools: [gh, just]\n");
    repository.run(&["setup", "gen"]).ok();
    assert_eq!(
        (mode(&repository, INSTALL), mode(&repository, SECRETS)),
        (0o755, 0o600)
    );
    assert!(
        repository
            .read(INSTALL)
            .starts_with("#!/usr/bin/env bash\n")
    );
    repository.git(&["add", "--all"]);
    let tracked = repository.git(&["ls-files", ".jlo/setup"]);
    tracked.tells(&[INSTALL]);
    tracked.lacks(&[SECRETS]);
    let given = repository
        .read(SECRETS)
        .replacen("value = \"\"", "value = \"mine\"", 1);
    repository.write(SECRETS, &given);
    repository.write(".jlo/setup/tools.yml", "tools: [gh, just, swift]\n");
    let again = repository.json(&["setup", "gen"]);
    assert!(
        again["written"]
            .as_array()
            .unwrap()
            .contains(&INSTALL.into())
    );
    assert!(repository.read(SECRETS).contains("value = \"mine\""));
    assert_eq!(mode(&repository, SECRETS), 0o600);
    let third = repository.json(&["setup", "gen"]);
    assert_eq!(third["written"], serde_json::json!([]));
    repository.commit("Install tools");
    repository.run(&["scaffold", "doctor", "--strict"]).ok();
}

#[test]
fn tools_are_listed_in_short_and_in_detail() {
    let repository = Repository::new();
    let listed = repository.run(&["setup", "list"]).ok();
    for name in ["gh", "just", "swift", "uv"] {
        assert!(
            listed.stdout.lines().any(|line| line.starts_with(name)),
            "{listed:?}"
        );
    }
    let detail = repository.run(&["setup", "list", "--detail", "gh"]).ok();
    detail.prints(&["GH_TOKEN"]);
    assert!(!detail.stdout.contains("swift"), "{detail:?}");
    let all = repository.json(&["setup", "list", "--detail"]);
    assert_eq!(all["components"].as_array().unwrap().len(), 4);
}

#[test]
fn what_cannot_be_set_up_is_named_and_nothing_is_written() {
    let repository = Repository::set_up();
    fs::remove_file(repository.root().join(".jlo/setup/tools.yml")).unwrap();
    repository.refused(&["setup", "gen"]).is(2, "no_tools");
    let (list, line) = ("gaffer setup list", "correct that line");
    for (text, named, next) in [
        ("tools: []\n", "no tools are selected", list),
        ("tools: [ghh]\n", "`ghh`", list),
        ("tools: [gh\n", "tools.yml:", line),
        ("tols: [gh]\n", "tools.yml:1", line),
    ] {
        repository.write(".jlo/setup/tools.yml", text);
        let before = repository.state();
        let refused = repository.refused(&["setup", "gen"]);
        refused.is(2, "setup");
        refused.tells(named, next);
        assert_eq!(repository.state(), before);
    }
    repository.write(".jlo/setup/tools.yml", "tools: [gh]\n");
    repository.write(SECRETS, "GH_TOKEN = \n");
    let refused = repository.refused(&["setup", "gen"]);
    refused.tells("secrets.toml:1", line);
    let refused = repository.refused(&["setup", "list", "--detail", "ghh"]);
    assert!(refused.error.contains("did you mean `gh`?"), "{refused:?}");
}

/// A machine without any of the tools: what would fetch and install them only notes how it was called, and puts a tool there that does so
/// too.
struct Machine {
    home: TempDir,
}

/// Notes down how a program was called.
const NOTE: &str = "printf '%s\\n' \"${0##*/} $*\" >>\"$HOME/calls\"";

impl Machine {
    fn new() -> Self {
        let machine = Self {
            home: tempfile::tempdir().unwrap(),
        };
        for folder in [
            "bin",
            "store",
            "swiftly",
            "unpacked",
            ".local/bin",
            ".local/share/swiftly",
        ] {
            fs::create_dir_all(machine.place(folder)).unwrap();
        }
        for name in ["bash", "sh", "ln"] {
            let found = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(name));
            let found = found.iter().find(|path| path.exists()).unwrap();
            symlink(found, machine.place("bin").join(name)).unwrap();
        }
        for (path, effect) in [
            ("store/gh", ""),
            ("store/swift", ""),
            ("store/just", ""),
            (
                "store/uv",
                "[ \"$1\" != tool ] || ln -s \"$HOME/store/just\" \"$HOME/.local/bin/just\"",
            ),
            (
                "store/swiftly",
                "[ \"$1\" != install ] || ln -s \"$HOME/store/swift\" \"$HOME/bin/swift\"",
            ),
            (
                "bin/sudo",
                "[ \"$2\" != install ] || ln -s \"$HOME/store/gh\" \"$HOME/bin/gh\"",
            ),
            (
                "bin/curl",
                "[ \"${2##*/}\" != install.sh ] || echo 'ln -s \"$HOME/store/uv\" \"$HOME/.local/bin/uv\"'",
            ),
        ] {
            machine.program(path, &format!("{NOTE}\n{effect}"));
        }
        // It ends after what it reads from, and is noted after it.
        let unpacked = "ln -s \"$HOME/store/swiftly\" \"$3/swiftly\"";
        let tar = format!("while read -r line; do :; done\n{NOTE}\n{unpacked}");
        machine.program("bin/tar", &tar);
        machine.program("bin/uname", "echo x86_64");
        machine.program("bin/mktemp", "echo \"$HOME/unpacked\"");
        let path = "PATH=\"$HOME/swiftly:$PATH\"\n";
        fs::write(machine.place(".local/share/swiftly/env.sh"), path).unwrap();
        let swiftly = machine.place("store/swiftly");
        symlink(swiftly, machine.place("swiftly/swiftly")).unwrap();
        machine
    }

    fn place(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    fn program(&self, path: &str, text: &str) {
        write_program(&self.place(path), text);
    }

    /// Runs the script, and returns how it ended and what was called.
    fn runs(&self, script: &Path) -> (Ran, Vec<String>) {
        let calls = self.place("calls");
        fs::write(&calls, "").unwrap();
        let folders = ["bin", ".local/bin"].map(|folder| self.place(folder));
        let mut command = Command::new(script);
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", std::env::join_paths(folders).unwrap());
        let ran = ran_in(command, &[]);
        let called = fs::read_to_string(calls).unwrap();
        let called = called.replace(&self.home.path().display().to_string(), "HOME");
        (ran, called.lines().map(str::to_owned).collect())
    }
}

/// A repository with the script of all tools, and where that is.
fn script() -> (Repository, PathBuf) {
    let repository = Repository::set_up();
    repository.write(".jlo/setup/tools.yml", "tools: [just, gh, swift]\n");
    repository.run(&["setup", "gen"]).ok();
    let place = repository.root().join(INSTALL);
    (repository, place)
}

#[test]
fn the_script_installs_what_is_not_there_and_dependencies_first() {
    let (_repository, script) = script();
    let machine = Machine::new();
    let (ran, called) = machine.runs(&script);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    assert_eq!(
        called,
        [
            "sudo apt-get update",
            "sudo apt-get install -y gh",
            "gh --version",
            "curl -fsSL https://download.swift.org/swiftly/linux/swiftly-x86_64.tar.gz",
            "tar -xz -C HOME/unpacked",
            "swiftly init --assume-yes --skip-install",
            "swiftly install --assume-yes --use latest",
            "swift --version",
            "curl -fsSL https://astral.sh/uv/install.sh",
            "uv --version",
            "uv tool install rust-just",
            "just --version",
        ]
    );
    let (again, called) = machine.runs(&script);
    assert_eq!(again.code, 0, "{again:?}");
    let versions = ["gh", "swift", "uv", "just"].map(|name| format!("{name} --version"));
    assert_eq!(called, versions);
}

#[test]
fn the_script_ends_with_the_first_thing_that_fails() {
    let (_repository, script) = script();
    for (path, code, last) in [
        ("bin/sudo", 7, "sudo apt-get update"),
        // What it is piped into ends well.
        ("bin/curl", 22, "tar -xz -C HOME/unpacked"),
        ("store/swift", 3, "swift --version"),
        ("store/uv", 4, "uv --version"),
    ] {
        let machine = Machine::new();
        machine.program(path, &format!("{NOTE}\nexit {code}"));
        let (ran, called) = machine.runs(&script);
        assert_eq!(ran.code, code, "{path}: {ran:?}");
        assert_eq!(called.last().unwrap(), last, "{path}: {called:?}");
    }
}
