//! Third-party programs against the built `gaffer`: they were written from the same public specifications as ours,
//! and know nothing of it.

mod mcp;
mod openapi;
mod webhooks;
mod workflows;

use std::env;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Where `cargo xtask` keeps one of these programs. Without it there is nothing to test with, which is a failure and never a pass.
fn place(name: &str) -> PathBuf {
    let place = env::var_os(name);
    let place = place.unwrap_or_else(|| {
        panic!("{name} is not set: `cargo xtask test --only test` fetches what this test needs")
    });
    PathBuf::from(place)
}

/// Python with one of these packages, about to run a script.
fn python(package: &str, script: &str) -> Command {
    let mut command = Command::new("python3");
    command
        .env("PYTHONPATH", place(package))
        .args(["-c", script]);
    command
}

/// Node with one of these packages, about to run a script.
fn node(package: &str, script: &str) -> Command {
    let mut command = Command::new("node");
    command.current_dir(place(package)).args(["-e", script]);
    command
}

/// Runs one of them to its end with a text on standard input, and answers what it printed.
#[track_caller]
fn printed(command: Command, stdin: &str) -> String {
    let output = ended(command, stdin);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// What one of them printed, whatever it thought of the text.
fn said(command: Command, stdin: &str) -> String {
    let output = ended(command, stdin);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap()
}

fn ended(mut command: Command, stdin: &str) -> Output {
    let command = command.stdin(Stdio::piped());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(stdin.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}
