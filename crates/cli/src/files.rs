//! The files of jobs and events: a list of jobs is read and printed, events are appended, and `config.json` says where the files are.

pub(crate) mod config;
mod copy;
mod entries;
pub(crate) mod events;
pub(crate) mod jobs;
mod known;
pub(crate) mod monitor;
pub(crate) mod state;
mod stream;
mod taken;

use anyhow::{Context, Result};

use crate::args::files::ConfigArgs;
use crate::context::CommandContext;
use crate::render;
use config::Config;

/// Reads the chosen settings, and prints their warnings.
pub(crate) fn settings(args: &ConfigArgs, here: &CommandContext) -> Result<Config> {
    let (config, warnings) = Config::find(args.config.as_deref(), &here.folder)
        .context("reading the settings of the files")?;
    for warning in warnings {
        render::note(&format!("gaffer: {warning}"));
    }
    Ok(config)
}
