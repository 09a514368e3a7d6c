//! Runs the `git` program and reads what it says.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, anyhow};

use crate::error::Error;

/// Where a hook of git tells the programs that it runs to look, whatever folder they name.
const PLACES: [&str; 3] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"];

/// Git in a folder, and in no other one that the environment names.
pub(super) fn git_in(folder: &Path) -> Command {
    let mut command = Command::new("git");
    for place in PLACES {
        command.env_remove(place);
    }
    command.arg("-C").arg(folder);
    command
}

/// Runs git without an input, whatever it comes to.
pub(super) fn run(command: &mut Command) -> Result<Output> {
    command.stdin(Stdio::null()).output().map_err(unstarted)
}

/// Runs git with an input and returns what it says.
pub(super) fn feed(command: &mut Command, input: &[u8]) -> Result<Vec<u8>> {
    let doing = format!("running git {}", first_word(command));
    let piped = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn().map_err(unstarted)?;
    let mut pipe = child.stdin.take().context("git takes no input")?;
    // It may answer before it has read all, so both go on at once.
    let output = std::thread::scope(|scope| {
        let written = scope.spawn(move || pipe.write_all(input));
        let output = child.wait_with_output();
        drop(written.join());
        output
    });
    let output = output.with_context(|| doing.clone())?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(anyhow!("{doing}: {}", complaint(&output)))
}

/// What git says on stderr.
pub(super) fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

/// What git says on stdout, as text.
pub(super) fn text(bytes: &[u8]) -> Result<&str> {
    str::from_utf8(bytes).context("git said what is not UTF-8")
}

/// What git was asked to do; the words before it name the folder.
fn first_word(command: &Command) -> String {
    let words = command.get_args().skip(2).map(OsStr::to_string_lossy);
    words.take(1).collect()
}

fn unstarted(error: std::io::Error) -> anyhow::Error {
    let what = if error.kind() == ErrorKind::NotFound {
        "the program `git` is not there".to_owned()
    } else {
        format!("the program `git` could not be started: {error}")
    };
    let next = "install git 2.38 or newer, and put it on the PATH";
    Error::refused("no_git", what, next).into()
}
