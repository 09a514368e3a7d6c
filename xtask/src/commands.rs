//! What `cargo xtask` can be asked for.

use anyhow::Result;
use clap::Parser;

use crate::{bench, chaos, deploy, localstack, ministack, mutants, test};

/// Automation for the Gaffer workspace.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
pub(crate) enum Xtask {
    /// Checks the whole workspace, stage by stage, and stops at the first failure.
    Test(test::TestOptions),
    /// Measures Gaffer and prints the figures beside their targets.
    Bench(bench::BenchOptions),
    /// Plays the stories with every fault on and Gaffer killed and restarted, seed by seed; or proves that a guard is needed.
    Chaos(chaos::ChaosOptions),
    /// Mutates what decides and what guards, and names every change that no test notices. Takes hours.
    Mutants(mutants::MutantsOptions),
    /// Runs the services of AWS on this machine, for the tests that need them, until it is ended.
    Localstack,
    /// The same with functions, which run as processes.
    Ministack,
    /// Puts Gaffer into AWS or an emulator of it; takes it back a version; tells what is there; takes it down.
    Deploy(deploy::DeployOptions),
}

impl Xtask {
    /// Does it.
    pub(crate) fn run(&self) -> Result<()> {
        match self {
            Self::Test(options) => test::run(options),
            Self::Bench(options) => bench::run(options),
            Self::Chaos(options) => chaos::run(options),
            Self::Mutants(options) => mutants::run(options),
            Self::Localstack => localstack::run(),
            Self::Ministack => ministack::run(),
            Self::Deploy(options) => deploy::run(options),
        }
    }
}
