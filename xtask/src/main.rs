//! `cargo xtask`: the project's automation, in Rust so that it needs nothing but cargo to start.

mod bench;
mod chaos;
mod guards;
mod localstack;
mod mutants;
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
    /// Measures Gaffer and prints the figures beside their targets.
    Bench(bench::Options),
    /// Plays the stories with every fault on and Gaffer killed and restarted, seed by seed; or proves that a guard is needed.
    Chaos(chaos::Options),
    /// Mutates what decides and what guards, and names every change that no test notices. Takes hours.
    Mutants(mutants::Options),
    /// Runs the services of AWS on this machine, for the tests that need them, until it is ended.
    Localstack,
}

fn main() -> ExitCode {
    if let Some(code) = guards::compile_without() {
        return code;
    }
    output::ended(match Xtask::parse() {
        Xtask::Test(options) => test::run(&options),
        Xtask::Bench(options) => bench::run(&options),
        Xtask::Chaos(options) => chaos::run(&options),
        Xtask::Mutants(options) => mutants::run(&options),
        Xtask::Localstack => localstack::run(),
    })
}
