//! A pull request of which GitHub lists no changed file.

use super::{MergeInput, Reason};

/// In place of the files.
const LISTS_NONE: &str = "GitHub lists none";

impl Reason {
    /// GitHub lists no changed file: an empty list could hide a protected path.
    pub(super) fn no_files() -> Self {
        Self::Unknown {
            what: MergeInput::ChangedFiles,
            why: LISTS_NONE.to_owned(),
        }
    }

    /// Whether GitHub lists no changed file.
    pub(crate) fn is_without_files(&self) -> bool {
        *self == Self::no_files()
    }
}
