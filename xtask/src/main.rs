//! `cargo xtask`: the project's automation, in Rust so that it needs nothing but cargo to start.

mod bench;
mod browser;
mod cargo;
mod chaos;
mod commands;
mod deploy;
mod deployed;
mod ending;
mod guards;
mod localstack;
mod ministack;
mod mutants;
mod output;
mod peers;
mod stages;
mod test;
mod tools;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    if let Some(code) = guards::compile_without() {
        return code;
    }
    output::ended(commands::Xtask::parse().run())
}
