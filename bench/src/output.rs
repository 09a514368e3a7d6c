//! The only place that prints: figures go to standard output, everything else beside it, so that `--json` stays one object.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "bench is a command line tool and this module is its mouth"
)]

/// Prints a part of the report.
pub(crate) fn line(text: &str) {
    println!("{text}");
}

/// Prints what is no part of the report.
pub(crate) fn aside(text: &str) {
    eprintln!("{text}");
}
