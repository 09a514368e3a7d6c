//! What the stage `deployed` needs: the functions of this version and of the next, and services that run them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::ministack::MiniStack;
use crate::stages::forget_outer_package;
use crate::tools::python;

/// The binaries of the functions.
const BINARIES: [&str; 4] = ["poller", "dispatcher", "webhook", "api"];

/// What makes of this version one that does not exist yet: it stores one field more.
const NEXT: [&str; 2] = ["--features", "engine/next-shape"];

/// Everything that the stories of the deployed functions run on. It runs until this is dropped.
pub(crate) struct Set {
    services: MiniStack,
    this: PathBuf,
    next: PathBuf,
    cargo_lambda: PathBuf,
}

/// Builds the functions twice, as the tests build them, and starts the services.
pub(crate) fn set(root: &Path) -> Result<Set> {
    let folder = root.join("target/deployed");
    Ok(Set {
        this: built(root, &[], &folder.join("this"))?,
        next: built(root, &NEXT, &folder.join("next"))?,
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
            ("GAFFER_FUNCTIONS", &self.this),
            ("GAFFER_NEXT_FUNCTIONS", &self.next),
            ("GAFFER_CARGO_LAMBDA", &self.cargo_lambda),
        ];
        let ours = ours.map(|(name, path)| (name, path.clone().into_os_string()));
        services.chain(ours).collect()
    }
}

/// Builds the functions and puts their binaries into a folder, where the next build does not write over them.
fn built(root: &Path, features: &[&str], folder: &Path) -> Result<PathBuf> {
    let mut command = Command::new("cargo");
    forget_outer_package(&mut command);
    // Built as a part of the workspace and beside a test: with features of its own, all dependencies would be
    // compiled again.
    command.args(["build", "--workspace", "--test", "deployed"]);
    command.args(["--message-format", "json-render-diagnostics"]);
    for binary in BINARIES {
        command.args(["--bin", binary]);
    }
    let output = command
        .args(features)
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .context("starting `cargo build`")?;
    ensure!(output.status.success(), "the functions do not build");
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let binaries: Vec<PathBuf> = said.lines().filter_map(binary).collect();
    ensure!(
        binaries.len() == BINARIES.len(),
        "cargo built {} functions, not {}: {binaries:?}",
        binaries.len(),
        BINARIES.len()
    );
    for binary in binaries {
        let name = binary.file_name().context("naming a function")?;
        let copy = folder.join(name);
        fs::copy(&binary, &copy).with_context(|| format!("copying {}", binary.display()))?;
    }
    Ok(folder.to_owned())
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
