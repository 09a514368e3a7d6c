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
mod run;
mod stage;
mod time;
mod verdict;

use std::process::ExitCode;

use clap::Parser;

use crate::command_line::ChaosLine;

fn main() -> ExitCode {
    output::ended(run::run(ChaosLine::parse()))
}
