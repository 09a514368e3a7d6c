//! `cargo xtask`: the project's automation, in Rust so that it needs nothing but cargo to start.

mod output;
mod stages;
mod test;
mod tools;

use std::process::ExitCode;

use clap::Parser;

/// Automation for the Gaffer workspace.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
enum Xtask {
    /// Checks the whole workspace, stage by stage, and stops at the first failure.
    Test(test::Options),
}

fn main() -> ExitCode {
    let Xtask::Test(options) = Xtask::parse();
    match test::run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::line(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
