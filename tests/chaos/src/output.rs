//! The only place that prints: results on stdout, and what went wrong on stderr.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;

/// Tells an error, if it is one, and how the process ends.
pub(crate) fn ended(outcome: Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note(&format!("chaos: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Prints a line, or several.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}")?;
    stdout.flush()
}

/// Prints one value as JSON on a line of its own.
pub(crate) fn json_line(value: &impl Serialize) -> Result<()> {
    Ok(line(&serde_json::to_string(value)?)?)
}

/// Prints a note beside the results.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
