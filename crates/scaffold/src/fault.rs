//! What is wrong in one line of one file, as it is told to a person.

use domain::fence::clip;

/// How much of a text from a file is repeated in a sentence, in characters.
const SHOWN_CHARS_MAX: usize = 80;

/// Why a file cannot be used, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct Fault {
    /// The file's path as the caller named it.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there and what to do about it.
    pub what: String,
}

impl Fault {
    /// A fault in a line of a file.
    pub fn new(file: &str, line: usize, what: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line: line.max(1),
            what: what.into(),
        }
    }
}

/// The line of a byte, counted from 1.
pub(crate) fn line_at(text: &str, byte: usize) -> usize {
    let before = text.as_bytes().iter().take(byte);
    before.filter(|&&b| b == b'\n').count() + 1
}

/// A text from a file, short enough for a sentence and without characters that would break it.
pub(crate) fn shown(text: &str) -> String {
    clip(text, SHOWN_CHARS_MAX)
}
