//! The `jlo` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::jlo()
}
