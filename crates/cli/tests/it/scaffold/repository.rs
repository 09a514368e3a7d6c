//! A real repository, and the command run in it with nothing of the tester's own settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::at_work;
use crate::world::{FailureText, Ran, ran};

/// Where `git` is looked for.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// When everything is committed.
const DATE: &str = "2026-02-17T08:00:00Z";

/// A repository in a folder of its own.
pub(crate) struct Repository {
    folder: TempDir,
}

impl Repository {
    /// With one commit on `main`.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("shop")).unwrap();
        let repository = Self { folder };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.git(&["config", "user.name", "Ann"]);
        repository.git(&["config", "user.email", "ann@example.com"]);
        let origin = "https://github.com/acme/shop.git";
        repository.git(&["remote", "add", "origin", origin]);
        repository.write("README.md", "A shop.\n");
        repository.commit("Open the shop");
        repository
    }

    /// After init, a commit and bootstrap.
    pub(crate) fn set_up() -> Self {
        let repository = Self::new();
        repository.run(&["scaffold", "init"]).ok();
        repository.commit("Set Gaffer up");
        repository.run(&["scaffold", "bootstrap"]).ok();
        repository
    }

    /// With events and requirements of a day.
    pub(crate) fn at_work(day: &str) -> Self {
        let repository = Self::set_up();
        let files = at_work::files(day);
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (*path, Some(text.as_str())))
            .collect();
        repository.commit_to_worker(&files);
        repository
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("shop")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.root().join(path), text);
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    /// Commits everything in the working tree.
    pub(crate) fn commit(&self, subject: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "-m", subject]);
    }

    /// Commits files to the worker branch as a session does, or takes them away.
    pub(crate) fn commit_to_worker(&self, files: &[(&str, Option<&str>)]) {
        self.commit_to("jules", files);
    }

    /// The same on any branch that is there.
    pub(crate) fn commit_to(&self, branch: &str, files: &[(&str, Option<&str>)]) {
        let folder = self.folder.path().join("elsewhere");
        let place = folder.to_str().unwrap();
        self.git(&["worktree", "add", "--quiet", place, branch]);
        for (path, text) in files {
            match text {
                Some(text) => write(&folder.join(path), text),
                None => fs::remove_file(folder.join(path)).unwrap(),
            }
        }
        self.git_in(&folder, &["add", "--all"]);
        self.git_in(&folder, &["commit", "--quiet", "-m", "Write"]);
        self.git(&["worktree", "remove", place]);
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.root(), arguments)
    }

    #[track_caller]
    pub(crate) fn git_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        self.prepare(&mut command, folder);
        let ran = ran_in(command, arguments);
        assert_eq!(ran.code, 0, "git {arguments:?}: {ran:?}");
        ran.stdout.trim_end().to_owned()
    }

    /// Types a line into a shell that finds the built programs first.
    pub(crate) fn types(&self, line: &str) -> Ran {
        let built = Path::new(env!("CARGO_BIN_EXE_gaffer")).parent().unwrap();
        let mut command = Command::new("/bin/sh");
        self.prepare(&mut command, &self.root());
        command.env("PATH", format!("{}:{PATH}", built.display()));
        ran_in(command, &["-c", line])
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_in(&self.root(), arguments)
    }

    /// It ends with 2, prints nothing, and names what does not fit.
    #[track_caller]
    pub(crate) fn refuses(&self, arguments: &[&str], named: &str) {
        let ran = self.run(arguments);
        let printed = (ran.code, ran.stdout.as_str());
        assert_eq!(printed, (2, ""), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(named), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.len() < 1_000, "{arguments:?}: {ran:?}");
    }

    pub(crate) fn run_in(&self, folder: &Path, arguments: &[&str]) -> Ran {
        ran_in(self.gaffer(folder), arguments)
    }

    /// The command, to be changed by a test.
    pub(crate) fn gaffer(&self, folder: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gaffer"));
        self.prepare(&mut command, folder);
        command
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.json()
    }

    /// Runs a command that has to fail and returns its error for programs.
    pub(crate) fn refused(&self, arguments: &[&str]) -> FailureText {
        self.run(&[arguments, &["--json"]].concat()).failure()
    }

    /// Everything that a command could have changed.
    pub(crate) fn state(&self) -> String {
        let refs = self.git(&["for-each-ref"]);
        let status = self.git(&["status", "--porcelain", "--ignored"]);
        format!("{refs}\n{status}")
    }

    /// Nothing of the tester's own settings.
    pub(crate) fn prepare(&self, command: &mut Command, folder: &Path) {
        command
            .env_clear()
            .env("PATH", PATH)
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", DATE)
            .env("GIT_COMMITTER_DATE", DATE)
            .current_dir(folder);
    }
}

/// Runs a command to its end.
pub(crate) fn ran_in(mut command: Command, arguments: &[&str]) -> Ran {
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    ran(command, "")
}

/// Writes a shell program through a child. If the test process wrote it, a child that another thread starts meanwhile would inherit the
/// open file, and the system executes no file that is open for writing.
pub(crate) fn write_program(place: &Path, text: &str) {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "cat >\"$0\" && chmod 755 \"$0\""])
        .arg(place)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    ran(command, &format!("#!/bin/sh\n{text}\n")).ok();
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
