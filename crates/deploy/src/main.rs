//! `cargo xtask deploy`: the command line of a deployment.

use std::process::ExitCode;

fn main() -> ExitCode {
    deploy::command::main()
}
