//! The `gaffer` command: reads the command line and the environment, runs one command and ends with its exit code.

use std::process::ExitCode;

mod account;
mod agent;
mod args;
#[cfg(feature = "aws")]
mod cloud;
mod context;
mod cost;
mod dashboard;
mod delivery;
mod demo;
mod dlq;
mod doctor;
mod error;
mod github_setup;
mod init;
mod job;
mod logs;
mod mcp;
mod recovery;
mod render;
mod run;
mod sandbox_command;
mod secret;
mod settings;
mod site;
mod source;
mod stdin;
mod switch;
mod up;
mod upstreams;
mod watch;
mod why;

fn main() -> ExitCode {
    run::main(settings::Environment::from_env())
}
