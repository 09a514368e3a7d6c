//! Measures Gaffer and prints the figures beside their targets: `cargo xtask bench`. Nothing here fails because a figure is bad.

mod added;
mod cost;
mod detect;
mod figure;
mod files;
mod functions;
mod github_requests;
mod machine;
mod mail;
mod options;
mod output;
mod polls;
mod report;
mod spread;
mod weaving;
mod webhook;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let options = options::Options::parse();
    let done = match options.cost_play {
        Some(play) => cost::alone(play),
        None => report::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::aside(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
