//! The only place of `xtask` that prints.
//!
//! Everything goes to standard output, errors too: a log of two streams loses its order.
#![expect(
    clippy::print_stdout,
    reason = "xtask is a command line tool and this module is its mouth"
)]

/// Prints one line, or several if the text holds line breaks.
pub(crate) fn line(text: &str) {
    println!("{text}");
}
