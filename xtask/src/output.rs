//! The only place of `xtask` that prints.
//!
//! Everything goes to standard output, errors too: a log of two streams loses its order.
//! Only what would spoil a report that a program reads goes beside it.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "xtask is a command line tool and this module is its mouth"
)]

use std::process::ExitCode;

/// Tells an error, if it is one, and how the process ends.
pub(crate) fn ended(outcome: anyhow::Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            line(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Prints one line, or several if the text holds line breaks.
pub(crate) fn line(text: &str) {
    println!("{text}");
}

/// Prints one line beside the report.
pub(crate) fn aside(text: &str) {
    eprintln!("{text}");
}
