//! Links that a patch would write through: git looks at what the patch itself says of them, before anything is applied.

use std::collections::BTreeSet;

use crate::patch::{Action, FileDiff};
use crate::tree::{Mode, Tree, folders};

/// The links that a patch names with their mode.
pub(super) struct Links<'p> {
    /// Those that it makes.
    made: BTreeSet<&'p str>,
    /// Those that it deletes or renames. One that moves as it is has no mode in the patch, so git takes it for staying.
    gone: BTreeSet<&'p str>,
}

impl<'p> Links<'p> {
    pub(super) fn from_files(files: &'p [FileDiff]) -> Self {
        let is_link = |mode: Option<Mode>| mode == Some(Mode::Symlink);
        let made = files.iter().filter(|file| is_link(file.new_mode));
        let gone = files.iter().filter(|file| is_link(file.old_mode));
        Self {
            made: made.filter_map(|file| file.action.target()).collect(),
            gone: gone.filter_map(|file| leaving(&file.action)).collect(),
        }
    }

    /// Whether a folder of a path is a link.
    pub(super) fn lie_before(&self, path: &str, tree: &Tree) -> bool {
        let is_link = |folder: &str| {
            let is_there = tree.get(folder).is_some_and(|it| it.mode == Mode::Symlink);
            self.made.contains(folder) || (is_there && !self.gone.contains(folder))
        };
        folders(path).any(is_link)
    }
}

/// The path that a diff takes away.
pub(super) fn leaving(action: &Action) -> Option<&str> {
    match action {
        Action::Delete(path) | Action::Rename { from: path, .. } => Some(path),
        Action::Create(_) | Action::Modify(_) | Action::Copy { .. } => None,
    }
}
