//! Other people's programs against the built `gaffer`: they were written from the same public specifications as ours, and know nothing of it.

use std::env;
use std::path::PathBuf;
use std::process::Command;

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

/// Runs one of them to its end, and answers what it printed.
#[track_caller]
fn printed(mut command: Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// The specification's own example: one secret, one message, one signature.
mod example {
    pub(super) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
}

#[test]
fn both_verifiers_are_at_hand() {
    let python = python(
        "GAFFER_PEER_WEBHOOKS_PYTHON",
        &format!(
            "from standardwebhooks import Webhook; Webhook('{}'); print('here')",
            example::SECRET
        ),
    );
    assert_eq!(printed(python), "here\n");
    let node = node(
        "GAFFER_PEER_WEBHOOKS_NODE",
        &format!(
            "const {{ Webhook }} = require('standardwebhooks'); new Webhook('{}'); console.log('here')",
            example::SECRET
        ),
    );
    assert_eq!(printed(node), "here\n");
}
