//! What is woven: members with what each changed, and what is read of that before the first is tried.

use std::collections::{BTreeMap, BTreeSet};

use crate::apply::apply;
use crate::patch::{self, Action, Fault, FileDiff, Patch};
use crate::path;
use crate::tree::{BlobId, Contents, Entry, Mode, Tree};
use crate::verdict::Clash;

/// The shortest id that git writes by itself.
const SHORT_ID_DIGITS: usize = 7;

/// One pull request, or one patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its number, unique in a weave.
    pub number: u64,
    /// Its place in the weave before, if it was in.
    pub was_in: Option<usize>,
    /// What it changed.
    pub work: Work,
    /// The conflicts that its mail showed, with the head that was refused.
    pub refused: Vec<Clash>,
    /// Paths that the target renamed since its merge base, as far as is known.
    pub target_renamed: BTreeSet<String>,
    /// Whether it began on what was woven before, so that it may not fit the target alone although that has not moved.
    pub begins_on_woven: bool,
}

/// What a member changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Both trees are known.
    Trees {
        /// Each path that differs between its merge base and its head.
        changed: BTreeMap<String, Change>,
        /// The diff between the two, where there is one.
        patch: Option<Vec<u8>>,
    },
    /// Only a patch is known.
    Patch(Vec<u8>),
}

/// What became of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// At the merge base.
    pub before: Option<Entry>,
    /// At the head.
    pub after: Option<Entry>,
}

/// A member whose patch is read.
pub(crate) struct Prepared<'m> {
    pub(crate) member: &'m Member,
    /// What is known of both trees.
    pub(crate) changed: Option<BTreeMap<String, Change>>,
    pub(crate) patch: Option<Patch>,
    /// Contents that its patch makes, where they are not loaded.
    pub(crate) own: Contents,
    /// Why it cannot be woven at all.
    pub(crate) fault: Option<Fault>,
}

impl<'m> Prepared<'m> {
    /// Reads a member's patch. Contents may be none: then less is known of a member that is a patch only.
    pub(crate) fn new(member: &'m Member, base: &Tree, contents: &Contents) -> Self {
        match &member.work {
            Work::Trees { changed, patch } => {
                // A patch that is not about these paths is no patch of this change.
                let patch = patch.as_deref().and_then(|text| patch::parse(text).ok());
                let patch = patch.filter(|patch| {
                    patch
                        .changed()
                        .into_iter()
                        .eq(changed.keys().map(String::as_str))
                });
                Self {
                    member,
                    changed: Some(changed.clone()),
                    patch,
                    own: Contents::new(),
                    fault: changed.keys().find_map(|path| no_path(path)),
                }
            }
            Work::Patch(text) => match patch::parse(text) {
                Ok(patch) => {
                    let (changed, own) = derive(&patch, base, contents).unzip();
                    Self {
                        member,
                        changed,
                        patch: Some(patch),
                        own: own.unwrap_or_default(),
                        fault: None,
                    }
                }
                Err(fault) => Self {
                    member,
                    changed: None,
                    patch: None,
                    own: Contents::new(),
                    fault: Some(fault),
                },
            },
        }
    }

    /// Every path that it changes.
    pub(crate) fn paths(&self) -> BTreeSet<&str> {
        let known = self.changed.iter().flatten().map(|(path, _)| path.as_str());
        let said = self.patch.iter().flat_map(|patch| patch.changed());
        known.chain(said).collect()
    }

    /// The diffs of its patch.
    pub(crate) fn files(&self) -> &[FileDiff] {
        self.patch.as_ref().map_or(&[], |patch| &patch.files)
    }

    /// Paths that it renames: by its patch, or because the same blob comes elsewhere.
    pub(crate) fn renamed(&self) -> BTreeSet<String> {
        self.renamed_to(&|_| true)
    }

    /// Paths that it renames, where the new one is such a path.
    fn renamed_to(&self, is_such: &dyn Fn(&str) -> bool) -> BTreeSet<String> {
        let said = self.files().iter().filter_map(|file| match &file.action {
            Action::Rename { from, to } => is_such(to).then(|| from.clone()),
            Action::Create(_) | Action::Delete(_) | Action::Modify(_) | Action::Copy { .. } => None,
        });
        let moved = self.changed.iter();
        let moved = moved.flat_map(|changed| moved_to(changed, is_such));
        said.chain(moved).collect()
    }

    /// Paths that it and others took away, and that one of them renamed and the other not to the same name.
    ///
    /// A file without content is never taken for renamed, as in a merge of git.
    pub(crate) fn moved_apart(&self, woven: &Tree, others: &BTreeSet<String>) -> BTreeSet<&str> {
        let Some(changed) = &self.changed else {
            return BTreeSet::new();
        };
        let others_came_to = |path: &str| {
            let change = changed.get(path);
            change.is_some_and(|it| woven.get(path) != it.before)
        };
        let (own, alike) = (self.renamed(), self.renamed_to(&others_came_to));
        let is_renamed = |path: &str| {
            let mut all = [&own, others, &self.member.target_renamed].into_iter();
            all.any(|renamed| renamed.contains(path))
        };
        let both_took = changed.iter().filter(|(path, it)| {
            let had_content = it.before.is_some_and(|before| before.id != BlobId::EMPTY);
            had_content && it.after.is_none() && woven.get(path).is_none()
        });
        let paths = both_took.map(|(path, _)| path.as_str());
        paths
            .filter(|path| is_renamed(path) && !alike.contains(*path))
            .collect()
    }
}

/// Paths that a change renames: the same blob comes elsewhere.
pub fn moved(changed: &BTreeMap<String, Change>) -> BTreeSet<String> {
    moved_to(changed, &|_| true)
}

/// Paths whose blobs come to such a path.
fn moved_to(
    changed: &BTreeMap<String, Change>,
    is_such: &dyn Fn(&str) -> bool,
) -> BTreeSet<String> {
    let come: BTreeSet<BlobId> = changed
        .iter()
        .filter(|(path, it)| it.before.is_none() && is_such(path))
        .filter_map(|(_, it)| Some(it.after?.id))
        .collect();
    let moved = changed.iter().filter(|(_, it)| {
        it.after.is_none() && it.before.is_some_and(|before| come.contains(&before.id))
    });
    moved.map(|(path, _)| path.clone()).collect()
}

/// Why a path may be in no tree, if it may not.
fn no_path(path: &str) -> Option<Fault> {
    let fault = path::check(path).err()?;
    Some(Fault::Path(path.chars().take(200).collect(), fault))
}

/// What a patch changes and the contents that it makes, seen from the blobs that its index lines name.
///
/// None where one of these blobs is not loaded, or where diffs build on each other.
fn derive(
    patch: &Patch,
    base: &Tree,
    contents: &Contents,
) -> Option<(BTreeMap<String, Change>, Contents)> {
    let mut before = Tree::default();
    for file in &patch.files {
        let Some(path) = file.action.source() else {
            continue;
        };
        let entry = earlier(file, base.get(path))?;
        if before.get(path).is_some_and(|known| known != entry) {
            return None;
        }
        before.set(path, Some(entry));
    }
    let read = |id: BlobId| contents.get(&id).map(Vec::as_slice);
    let applied = apply(patch, &before, &read).ok()?;
    let change = |(path, after): (String, Option<Entry>)| {
        let before = before.get(&path);
        (path, Change { before, after })
    };
    Some((
        applied.changes.into_iter().map(change).collect(),
        applied.made,
    ))
}

/// The entry that a diff starts from: named in full, or the base's if it begins like that.
fn earlier(file: &FileDiff, base: Option<Entry>) -> Option<Entry> {
    let mode = file
        .old_mode
        .or(base.map(|entry| entry.mode))
        .unwrap_or(Mode::File);
    let Some(index) = &file.index else {
        return base.filter(|_| file.body.hunks().is_empty());
    };
    let is_short = index.old.len() >= SHORT_ID_DIGITS;
    let same = base.filter(|entry| is_short && entry.id.to_string().starts_with(&index.old));
    let id = index.old.parse().ok().or(same.map(|entry| entry.id))?;
    Some(Entry { mode, id })
}
