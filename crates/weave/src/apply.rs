//! A patch applied to a tree by the rules of `git apply`: all hunks of all files, or nothing.
//!
//! Several diffs of one path in one input build on each other, as git does it: a rename or a copy reads the file
//! as it was before the input. Where git would lose an earlier diff by that, a rename is refused.
//! A file that one diff changes and a later one deletes is gone here, where git leaves it.

mod links;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use links::{Links, leaving};

use crate::binary;
use crate::patch::{Action, Block, Body, FileDiff, Patch};
use crate::place::{Misplaced, place};
use crate::tree::{BlobId, Changes, Contents, Entry, Mode, Tree, folders};

/// The largest text that is changed: GitHub shows no larger diff, and no person reads one.
pub const TEXT_BYTES_MAX: usize = 5_000_000;

/// What git takes for the content of a submodule.
const SUBPROJECT: &str = "Subproject commit ";

/// What a patch makes of a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// The paths that it changes.
    pub changes: Changes,
    /// The contents that it makes.
    pub made: Contents,
}

/// Why a patch is not applied, at the first path that refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {refusal}")]
pub struct Refused {
    /// The path.
    pub path: String,
    /// What is wrong there.
    pub refusal: Refusal,
}

/// What is wrong at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such file.
    #[error("there is no such file")]
    Missing,
    /// An earlier diff of the same input renamed or deleted it.
    #[error("an earlier diff of the patch renamed or deleted it")]
    Gone,
    /// An earlier diff of the same input changed what this one renames.
    #[error("an earlier diff of the patch changed it, and this one starts before that")]
    ChangedBefore,
    /// It is to be made and exists.
    #[error("it exists already")]
    Exists,
    /// It is a file where the patch knows a link or a submodule, or the other way round.
    #[error("it is of another type than the patch says")]
    OtherType,
    /// It would lie below a file or a link, or have files below it.
    #[error("another file or link is in its way")]
    InTheWay,
    /// It is to be deleted and the patch leaves something of it.
    #[error("the patch deletes it and leaves something of it")]
    Left,
    /// A hunk has no place.
    #[error("{0}")]
    Hunk(#[from] Misplaced),
    /// A binary without full ids in the index line, or without its bytes.
    #[error("the patch does not hold the whole binary")]
    NoBinary,
    /// A binary that is not what the patch starts from.
    #[error("the binary is not the one that the patch starts from")]
    OtherBinary,
    /// A binary block that does not make what the index line says.
    #[error("the binary block is broken")]
    BrokenBinary,
    /// Its content is not loaded.
    #[error("its content is not loaded")]
    NotLoaded,
    /// Its text is larger than we change.
    #[error("it has over {TEXT_BYTES_MAX} bytes")]
    TooLarge,
}

/// Where contents are found.
pub type Read<'a> = dyn Fn(BlobId) -> Option<&'a [u8]> + 'a;

/// Applies a patch to a tree. `read` gives contents by id.
pub fn apply<'a>(patch: &Patch, tree: &Tree, read: &Read<'a>) -> Result<Applied, Refused> {
    apply_files(&patch.files, &|_| true, tree, read)
}

/// Applies some diffs of a patch to a tree.
pub(crate) fn apply_files<'a>(
    files: &[FileDiff],
    is_applied: &dyn Fn(&FileDiff) -> bool,
    tree: &Tree,
    read: &Read<'a>,
) -> Result<Applied, Refused> {
    let leaving = files.iter().filter_map(|file| leaving(&file.action));
    let mut work = Applier {
        tree,
        read,
        leaving: leaving.collect(),
        links: Links::from_files(files),
        states: BTreeMap::new(),
        made: Contents::new(),
    };
    for file in files.iter().filter(|file| is_applied(file)) {
        let refused = |refusal| Refused {
            path: named(&file.action).to_owned(),
            refusal,
        };
        work.apply(file).map_err(refused)?;
    }
    work.finish()
}

fn named(action: &Action) -> &str {
    action.source().or(action.target()).unwrap_or_default()
}

/// What the diffs so far made of a path.
#[derive(Clone, Copy)]
enum State {
    /// It is there; `fresh` if it was made or moved there and not changed in its place.
    There {
        entry: Entry,
        fresh: bool,
    },
    Gone,
}

struct Applier<'t, 'a> {
    tree: &'t Tree,
    read: &'t Read<'a>,
    /// Paths that some diff of the input deletes or renames: others may be made there.
    leaving: BTreeSet<&'t str>,
    links: Links<'t>,
    states: BTreeMap<String, State>,
    made: Contents,
}

impl Applier<'_, '_> {
    fn apply(&mut self, file: &FileDiff) -> Result<(), Refusal> {
        let before = self.before(&file.action)?;
        check_type(file, before)?;
        self.check_target(&file.action)?;
        let mode = file
            .new_mode
            .or(before.map(|entry| entry.mode))
            .unwrap_or(Mode::File);
        let id = self.after(file, before, mode)?;
        self.settle(&file.action, Entry { mode, id });
        Ok(())
    }

    /// The entry that a diff starts from.
    fn before(&self, action: &Action) -> Result<Option<Entry>, Refusal> {
        let in_tree = |path: &str| self.tree.get(path).map(Some).ok_or(Refusal::Missing);
        match action {
            Action::Create(_) => Ok(None),
            Action::Delete(path) | Action::Modify(path) => match self.states.get(path) {
                Some(State::There { entry, .. }) => Ok(Some(*entry)),
                Some(State::Gone) => Err(Refusal::Gone),
                None => in_tree(path),
            },
            // What git shows as copied was so before the diff, whatever the diff does to it.
            Action::Copy { from, .. } => in_tree(from),
            Action::Rename { from, .. } => match self.states.get(from) {
                Some(State::There { fresh: false, .. }) => Err(Refusal::ChangedBefore),
                Some(State::There { fresh: true, .. } | State::Gone) | None => in_tree(from),
            },
        }
    }

    /// Nothing is where a file is to be made, unless the input takes it away, and no link leads there.
    fn check_target(&self, action: &Action) -> Result<(), Refusal> {
        let (Action::Create(path)
        | Action::Rename { to: path, .. }
        | Action::Copy { to: path, .. }) = action
        else {
            return Ok(());
        };
        let is_there = match self.states.get(path) {
            Some(State::There { .. }) => true,
            Some(State::Gone) => false,
            None => self.tree.get(path).is_some() && !self.leaving.contains(path.as_str()),
        };
        if is_there {
            Err(Refusal::Exists)
        } else if self.links.lie_before(path, self.tree) {
            Err(Refusal::InTheWay)
        } else {
            Ok(())
        }
    }

    /// The blob that a diff makes.
    fn after(
        &mut self,
        file: &FileDiff,
        before: Option<Entry>,
        mode: Mode,
    ) -> Result<BlobId, Refusal> {
        let content = match (&file.body, before) {
            (Body::Text(hunks), Some(entry)) if hunks.is_empty() => return stays(file, entry),
            (Body::Text(hunks), before) => {
                let content = before.map(|entry| self.content(entry)).transpose()?;
                place(&content.unwrap_or_default(), hunks)?
            }
            // Also of a binary that goes, whose blocks are not needed.
            (Body::Binary { forward, backward }, _)
                if ![forward, backward].into_iter().all(binary::is_whole) =>
            {
                return Err(Refusal::BrokenBinary);
            }
            (Body::Binary { forward, .. }, before) => self.binary(file, before, forward)?,
            (Body::Untold, _) => return Err(Refusal::NoBinary),
        };
        if !file.action.deletes() {
            self.keep(content, mode)
        } else if content.is_empty() {
            Ok(BlobId::EMPTY)
        } else {
            Err(Refusal::Left)
        }
    }

    /// The text of an entry, as git shows it in a diff.
    fn content(&self, entry: Entry) -> Result<Vec<u8>, Refusal> {
        if entry.mode == Mode::Submodule {
            return Ok(format!("{SUBPROJECT}{}\n", entry.id).into_bytes());
        }
        let content = self.find(entry.id)?;
        if content.len() > TEXT_BYTES_MAX {
            Err(Refusal::TooLarge)
        } else {
            Ok(content.to_owned())
        }
    }

    fn find(&self, id: BlobId) -> Result<&[u8], Refusal> {
        let made = self.made.get(&id).map(Vec::as_slice);
        let empty = (id == BlobId::EMPTY).then_some(&[][..]);
        made.or_else(|| (self.read)(id))
            .or(empty)
            .ok_or(Refusal::NotLoaded)
    }

    /// Bytes are made only of exactly the bytes that the patch starts from, and only what it says.
    fn binary(
        &self,
        file: &FileDiff,
        before: Option<Entry>,
        block: &Block,
    ) -> Result<Vec<u8>, Refusal> {
        let (old, new) = file
            .index
            .as_ref()
            .and_then(|index| index.full())
            .ok_or(Refusal::NoBinary)?;
        if before.is_some_and(|entry| entry.id != old) {
            return Err(Refusal::OtherBinary);
        }
        if new == BlobId::ZERO {
            return Ok(Vec::new());
        }
        let earlier = match before {
            Some(entry) if block.is_delta => self.find(entry.id)?,
            Some(_) | None => &[],
        };
        let content = binary::produce(block, earlier).ok_or(Refusal::BrokenBinary)?;
        if BlobId::from_content(&content) == Some(new) {
            Ok(content)
        } else {
            Err(Refusal::BrokenBinary)
        }
    }

    /// Keeps a content that was made, and gives its id.
    fn keep(&mut self, content: Vec<u8>, mode: Mode) -> Result<BlobId, Refusal> {
        if mode == Mode::Submodule {
            let text = std::str::from_utf8(&content)
                .ok()
                .and_then(|text| text.strip_prefix(SUBPROJECT));
            let id = text.and_then(|text| text.trim_end_matches('\n').parse().ok());
            return id.ok_or(Refusal::OtherType);
        }
        let id = BlobId::from_content(&content).ok_or(Refusal::BrokenBinary)?;
        self.made.insert(id, content);
        Ok(id)
    }

    fn settle(&mut self, action: &Action, entry: Entry) {
        match action {
            Action::Delete(path) => {
                self.states.insert(path.clone(), State::Gone);
            }
            Action::Modify(path) => {
                self.states.insert(
                    path.clone(),
                    State::There {
                        entry,
                        fresh: false,
                    },
                );
            }
            Action::Create(to) | Action::Copy { to, .. } => {
                self.states
                    .insert(to.clone(), State::There { entry, fresh: true });
            }
            Action::Rename { from, to } => {
                // What was moved to the old name in the meantime stays there.
                let moved_in = matches!(self.states.get(from), Some(State::There { .. }));
                if !moved_in {
                    self.states.insert(from.clone(), State::Gone);
                }
                self.states
                    .insert(to.clone(), State::There { entry, fresh: true });
            }
        }
    }

    /// The changes, if they make a tree: no path lies below a file or a link.
    fn finish(self) -> Result<Applied, Refused> {
        let changes: Changes = self
            .states
            .iter()
            .map(|(path, state)| match state {
                State::There { entry, .. } => (path.clone(), Some(*entry)),
                State::Gone => (path.clone(), None),
            })
            .collect();
        if let Some(path) = misfit(self.tree, &changes) {
            return Err(Refused {
                path: path.to_owned(),
                refusal: Refusal::InTheWay,
            });
        }
        let used: BTreeSet<BlobId> = changes.values().flatten().map(|entry| entry.id).collect();
        let made = self
            .made
            .into_iter()
            .filter(|(id, _)| used.contains(id))
            .collect();
        Ok(Applied { changes, made })
    }
}

/// The content of a diff without hunks: as it was, and nothing where the diff deletes it.
fn stays(file: &FileDiff, entry: Entry) -> Result<BlobId, Refusal> {
    if file.action.deletes() && entry.id != BlobId::EMPTY {
        return Err(Refusal::Left);
    }
    Ok(entry.id)
}

fn check_type(file: &FileDiff, before: Option<Entry>) -> Result<(), Refusal> {
    let Some(before) = before else {
        return Ok(());
    };
    let said = file.old_mode.is_none_or(|mode| mode.same_type(before.mode));
    let stays = file.new_mode.is_none_or(|mode| mode.same_type(before.mode));
    if said && stays {
        Ok(())
    } else {
        Err(Refusal::OtherType)
    }
}

/// A path of a change that would lie where another entry is in its way.
pub(crate) fn misfit<'c>(tree: &Tree, changes: &'c Changes) -> Option<&'c str> {
    let is_there = |path: &str| {
        changes
            .get(path)
            .map_or_else(|| tree.get(path).is_some(), Option::is_some)
    };
    let set = changes.iter().filter(|(_, entry)| entry.is_some());
    set.map(|(path, _)| path.as_str()).find(|path| {
        let above = folders(path).any(is_there);
        above || has_below(tree, changes, path)
    })
}

fn has_below(tree: &Tree, changes: &Changes, path: &str) -> bool {
    let folder = format!("{path}/");
    let new = changes
        .range(folder.clone()..)
        .take_while(|(below, _)| below.starts_with(&folder));
    let stays = |below: &str| !changes.contains_key(below);
    new.into_iter().any(|(_, entry)| entry.is_some()) || tree.all_below(&folder).any(stays)
}
