//! `cargo xtask deploy`: runs the package `deploy`, whose dependencies take long to build, with cargo-lambda at hand.

use std::ffi::OsString;
use std::process::Command;

use anyhow::{Context, Result};

use crate::cargo::forget_outer_package;
use crate::tools::{self, python};

/// The words that need no build, and so no cargo-lambda.
const WITHOUT_BUILD: [&str; 5] = ["rollback", "status", "destroy", "--help", "-h"];

/// What is passed on as it was typed.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct DeployOptions {
    /// `--help` tells them.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "OPTIONS"
    )]
    arguments: Vec<OsString>,
}

/// Runs it, and ends as it ended.
pub(crate) fn run(options: &DeployOptions) -> Result<()> {
    let root = tools::workspace()?;
    let mut command = Command::new("cargo");
    forget_outer_package(&mut command);
    let first = options.arguments.first().and_then(|word| word.to_str());
    if !first.is_some_and(|word| WITHOUT_BUILD.contains(&word)) {
        command.env("GAFFER_CARGO_LAMBDA", python::cargo_lambda(&root)?);
    }
    let status = command
        .args(["run", "--quiet", "--package", "deploy", "--"])
        .args(&options.arguments)
        .current_dir(&root)
        .status()
        .context("starting `cargo run`")?;
    if status.success() {
        return Ok(());
    }
    // It has said why.
    std::process::exit(status.code().unwrap_or(1))
}
