//! The mark by which a file that a trial run made up is found again: its first line.

use domain::pipeline::MockTag;

use crate::tree::{Tree, TreePath};

/// What the first line of a file that is made up begins with. Only this line makes it part of a trial run: others may name one.
const MARK: &str = "# Gaffer made this file up for the trial run ";

/// How that line ends.
const MARK_END: &str = ".";

/// The trial run that made a file up, by its first line; none for what is real.
pub fn trial_of(tree: &Tree, path: &TreePath) -> Option<MockTag> {
    let line = tree.text(path.as_str())?.lines().next()?;
    let tag = line.strip_prefix(MARK)?.strip_suffix(MARK_END)?;
    tag.parse().ok()
}

/// A text below the line that names the trial run which made it up.
pub(crate) fn marked(text: &str, tag: &MockTag) -> String {
    format!("{MARK}{tag}{MARK_END}\n{text}")
}
