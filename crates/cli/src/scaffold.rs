//! `gaffer scaffold` and `gaffer run`: the files of a repository that agents work by, and the prompts that they make.

mod bootstrap;
mod deinit;
mod examine;
mod git;
mod init;
mod place;
mod preview;
mod upgrade;

use std::env;

use anyhow::{Context, Result};

use crate::args::scaffold::ScaffoldCommand;
use crate::render;
use git::Git;

pub(crate) use preview::run as preview;

/// Where a repository's settings lie.
const CONFIG: &str = ".jlo/config.toml";

/// The version that is written into a repository.
const OURS: &str = env!("CARGO_PKG_VERSION");

/// Runs one of the commands.
pub(crate) fn run(command: &ScaffoldCommand, as_json: bool) -> Result<()> {
    let git = here()?;
    let answer = match command {
        ScaffoldCommand::Init => init::run(&git)?,
        ScaffoldCommand::Bootstrap => bootstrap::run(&git)?,
        ScaffoldCommand::Upgrade => upgrade::run(&git)?,
        ScaffoldCommand::Deinit => deinit::run(&git)?,
        ScaffoldCommand::Doctor(args) => return examine::run(&git, args, as_json),
    };
    render::answer(&answer, as_json).context("writing the answer")
}

fn here() -> Result<Git> {
    Git::at(&env::current_dir().context("finding the present folder")?)
}
