//! Runs what the command line asks for, on one thread.

use anyhow::{Context, Result};

use crate::command_line::ChaosLine;
use crate::{child, many, play};

/// Plays a seed or several, or is the process that is killed.
pub(crate) fn run(line: ChaosLine) -> Result<()> {
    // Only fails when one is installed already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // With one thread, a child that stops dead does nothing else either.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("starting the runtime")?;
    runtime.block_on(async {
        match line {
            ChaosLine::Seed(args) => play::run(&args).await,
            ChaosLine::Seeds(args) => many::run(&args).await,
            ChaosLine::Child(args) => child::run(args).await,
        }
    })
}
