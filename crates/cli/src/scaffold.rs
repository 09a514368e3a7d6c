//! `gaffer scaffold` and `gaffer run`: the files of a repository that agents work by, and the prompts that they make.

mod bootstrap;
mod deinit;
mod disk;
mod examine;
mod exchange;
mod init;
mod migrate;
mod persona;
mod place;
mod preview;
mod role;
mod setup;
mod upgrade;
mod workflow;

use std::env;

use ::scaffold::config::Runner;
use anyhow::{Context, Result};
use domain::ids::StreamName;

use crate::args::persona::PersonaCommand;
use crate::args::scaffold::{RoleCommand, ScaffoldCommand, SetupCommand};
use crate::git::Git;
use crate::render::{self, Answer};

pub(crate) use place::must_be_inside;
pub(crate) use preview::{repository, run as preview};

/// Where a repository's settings lie.
const CONFIG: &str = ".jlo/config.toml";

/// The version that is written into a repository.
const OURS: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn run(command: &ScaffoldCommand, as_json: bool) -> Result<()> {
    let git = here()?;
    let answer = match command {
        ScaffoldCommand::Init => init::run(&git)?,
        ScaffoldCommand::Bootstrap => bootstrap::run(&git)?,
        ScaffoldCommand::Upgrade => upgrade::run(&git)?,
        ScaffoldCommand::Migrate { dry_run } => migrate::run(&git, *dry_run)?,
        ScaffoldCommand::Deinit => deinit::run(&git)?,
        ScaffoldCommand::Doctor(args) => return examine::run(&git, args, as_json),
    };
    render::answer(&answer, as_json).context("writing the answer")
}

/// Runs one of the commands about roles.
pub(crate) fn role(command: &RoleCommand, as_json: bool) -> Result<()> {
    role::run(&here()?, command, as_json)
}

/// Runs one of the commands about personas.
pub(crate) fn persona(command: &PersonaCommand, as_json: bool) -> Result<()> {
    persona::run(command, as_json)
}

/// Runs one of the commands about tools.
pub(crate) fn setup(command: &SetupCommand) -> Result<Answer> {
    setup::run(&here()?, command)
}

/// Writes the workflows for GitHub Actions.
pub(crate) fn workflow(runner: Option<&Runner>) -> Result<Answer> {
    workflow::generate(&here()?, runner)
}

/// Runs one of the commands about what agents wrote.
pub(crate) fn inspect(revision: Option<&str>, stream: &StreamName) -> Result<Answer> {
    exchange::inspected(&here()?, revision, stream)
}

fn here() -> Result<Git> {
    Git::at(&env::current_dir().context("finding the present folder")?)
}
