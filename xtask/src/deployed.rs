//! What the stage `deployed` needs: the functions, and services that run them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::cargo::{WHOLE, forget_outer_package};
use crate::ministack::MiniStack;
use crate::tools::python;

/// The binaries of the functions.
const BINARIES: [&str; 4] = ["poller", "dispatcher", "webhook", "api"];

/// Everything that the stories of the deployed functions run on. It runs until this is dropped.
pub(crate) struct Set {
    services: MiniStack,
    functions: PathBuf,
    cargo_lambda: PathBuf,
}

/// Builds the functions as the tests build them, and starts the services.
pub(crate) fn set(root: &Path) -> Result<Set> {
    Ok(Set {
        functions: built(root, &BINARIES)?,
        cargo_lambda: python::cargo_lambda(root)?,
        services: MiniStack::start(root)?,
    })
}

impl Set {
    /// What the test reads.
    pub(crate) fn environment(&self) -> Vec<(&'static str, OsString)> {
        let services = self.services.environment().into_iter();
        let services = services.map(|(name, value)| (name, value.into()));
        let ours = [
            ("GAFFER_FUNCTIONS", &self.functions),
            ("GAFFER_CARGO_LAMBDA", &self.cargo_lambda),
        ];
        let ours = ours.map(|(name, path)| (name, path.clone().into_os_string()));
        services.chain(ours).collect()
    }
}

/// Builds these binaries, and returns the folder that holds them.
pub(crate) fn built(root: &Path, wanted: &[&str]) -> Result<PathBuf> {
    let mut command = Command::new("cargo");
    forget_outer_package(&mut command);
    // Built as a part of the workspace and beside a test: with features of its own, all dependencies would be
    // compiled again.
    command.args(["build", "--workspace", "--test", "deployed"]);
    command.args(["--message-format", "json-render-diagnostics"]);
    for binary in wanted {
        command.args(["--bin", binary]);
    }
    let output = command
        .env(WHOLE.0, WHOLE.1)
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .context("starting `cargo build`")?;
    ensure!(
        output.status.success(),
        "{} did not build",
        wanted.join(", ")
    );
    let said = String::from_utf8_lossy(&output.stdout);
    let binaries: Vec<PathBuf> = said.lines().filter_map(binary).collect();
    ensure!(
        binaries.len() == wanted.len(),
        "cargo built {} binaries, not {}: {binaries:?}",
        binaries.len(),
        wanted.len()
    );
    let folder = binaries.first().and_then(|binary| binary.parent());
    Ok(folder.context("finding the binaries")?.to_owned())
}

/// The binary in one of cargo's messages.
fn binary(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let kinds = message.get("target")?.get("kind")?.as_array()?;
    let binary = message.get("executable")?.as_str()?;
    let is_binary = kinds.iter().any(|kind| kind == "bin");
    is_binary.then(|| PathBuf::from(binary))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_about_binaries_name_one() {
        let of = |kind: &str, executable: &str| {
            binary(&format!(
                r#"{{"reason":"compiler-artifact","target":{{"kind":["{kind}"]}},"executable":{executable}}}"#
            ))
        };
        let poller = PathBuf::from("/t/debug/poller");
        assert_eq!(of("bin", r#""/t/debug/poller""#), Some(poller));
        assert_eq!(of("test", r#""/t/debug/deployed-1""#), None);
        assert_eq!(of("lib", "null"), None);
        assert_eq!(binary("not a message"), None);
    }
}
