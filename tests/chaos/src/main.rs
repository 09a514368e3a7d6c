//! `chaos`: jobs with every fault on, and Gaffer a process of its own that is killed and started again.
//!
//! The seed chooses what goes wrong and where the process dies; two processes and real sockets keep an order of their own.

mod child;
mod command_line;
mod duplicate;
mod faults;
mod flow;
mod job_agents;
mod keeper;
mod kill_points;
mod many;
mod moment;
mod outage;
mod output;
mod person;
mod plan;
mod play;
mod queue;
mod report;
mod stage;
mod time;
mod verdict;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;

use crate::command_line::ChaosLine;

fn main() -> ExitCode {
    output::ended(run(ChaosLine::parse()))
}

fn run(line: ChaosLine) -> Result<()> {
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
