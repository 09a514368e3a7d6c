//! The `jules-mail` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::jules_mail()
}
