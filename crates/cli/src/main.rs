//! The `gaffer` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::gaffer()
}
