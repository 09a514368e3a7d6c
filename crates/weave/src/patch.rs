//! A patch as git writes it, read whole or refused.
//!
//! `diffy` reads headers, names, modes and hunks. Where hunks end, and the `index` line, are read here:
//! a hunk that follows something else would be lost otherwise.

mod section;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use diffy::binary::{BinaryBlock, BinaryBlockKind, BinaryPatch};
use diffy::patch_set::{FileMode, FileOperation, FilePatch, ParseOptions, PatchKind, PatchSet};

use crate::path;
use crate::place::{Hunk, Line};
use crate::tree::Mode;
use section::{Header, Section};

pub use section::Index;

/// The longest patch that is read: twenty times what GitHub gives.
pub const PATCH_BYTES_MAX: usize = 20_000_000;

/// Why a text is no patch, or none that may be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It is longer than a patch may be.
    #[error("the patch has over {PATCH_BYTES_MAX} bytes: split the change")]
    TooLong,
    /// There is no diff in it.
    #[error("there is no diff in it: give what `git diff` or `git format-patch` writes")]
    NoDiff,
    /// It breaks off, or is not what git writes.
    #[error("it cannot be read as a patch: {0}")]
    Malformed(String),
    /// Its header says one thing and its names another.
    #[error("the header of {0} contradicts its names")]
    Contradiction(String),
    /// A name has no `a/` or `b/` before it.
    #[error("the name {0} has no `a/` or `b/` before it")]
    NoPrefix(String),
    /// A path that may be in no tree.
    #[error("the path {0}: {1}")]
    Path(String, path::InvalidPath),
    /// It changes nothing of a file.
    #[error("the diff of {0} changes nothing")]
    Empty(String),
}

/// All diffs of one input, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// One for each file, as a rule.
    pub files: Vec<FileDiff>,
}

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// What becomes of which path.
    pub action: Action,
    /// The mode before, where the patch says it.
    pub old_mode: Option<Mode>,
    /// The mode afterwards, where the patch sets it.
    pub new_mode: Option<Mode>,
    /// The blobs before and afterwards.
    pub index: Option<Index>,
    /// What becomes of the content.
    pub body: Body,
}

/// What becomes of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// A file comes.
    Create(String),
    /// A file goes.
    Delete(String),
    /// A file stays where it is.
    Modify(String),
    /// A file moves.
    Rename {
        /// Where it was.
        from: String,
        /// Where it is.
        to: String,
    },
    /// A file comes that is like another.
    Copy {
        /// The other.
        from: String,
        /// Where it is.
        to: String,
    },
}

/// What becomes of a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Lines change; none do where only the name or the mode changes.
    Text(Vec<Hunk>),
    /// Bytes change.
    Binary {
        /// The way from the old to the new ones.
        forward: Block,
        /// The way back, which is only read: git takes no patch where it is broken.
        backward: Block,
    },
    /// Bytes change, and the patch does not say how.
    Untold,
}

/// The bytes of a binary as the patch holds them: deflated, in base 85.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Whether they say how to make the content of the one before, or are the content.
    pub is_delta: bool,
    /// How many bytes there are once they are inflated.
    pub size: u64,
    /// The lines.
    pub data: Vec<u8>,
}

impl Action {
    /// Whether the file goes.
    pub fn deletes(&self) -> bool {
        matches!(self, Self::Delete(_))
    }

    /// The path that is read, if there is one.
    pub fn source(&self) -> Option<&str> {
        match self {
            Self::Create(_) => None,
            Self::Delete(path) | Self::Modify(path) => Some(path),
            Self::Rename { from, .. } | Self::Copy { from, .. } => Some(from),
        }
    }

    /// The path that is written, if there is one.
    pub fn target(&self) -> Option<&str> {
        match self {
            Self::Delete(_) => None,
            Self::Create(path) | Self::Modify(path) => Some(path),
            Self::Rename { to, .. } | Self::Copy { to, .. } => Some(to),
        }
    }

    /// The paths that are other afterwards.
    pub fn changed(&self) -> impl Iterator<Item = &str> {
        let (first, second) = match self {
            Self::Create(path) | Self::Delete(path) | Self::Modify(path) => (path, None),
            Self::Rename { from, to } => (from, Some(to)),
            Self::Copy { to, .. } => (to, None),
        };
        std::iter::once(first).chain(second).map(String::as_str)
    }
}

impl Patch {
    /// Every path that is other afterwards.
    pub fn changed(&self) -> BTreeSet<&str> {
        self.files
            .iter()
            .flat_map(|file| file.action.changed())
            .collect()
    }
}

/// Reads a patch; all of it, or why not.
pub fn parse(input: &[u8]) -> Result<Patch, Fault> {
    if input.len() > PATCH_BYTES_MAX {
        return Err(Fault::TooLong);
    }
    let files: Vec<_> = section::split(input)?
        .into_iter()
        .map(read)
        .collect::<Result<_, _>>()?;
    Ok(Patch {
        files: files.into_iter().flatten().collect(),
    })
}

/// The diffs of one section: one of git's, or all of a text without git's headers.
fn read(section: Section<'_>) -> Result<Vec<FileDiff>, Fault> {
    let options = if section.header.is_some() {
        ParseOptions::gitdiff()
    } else {
        ParseOptions::unidiff()
    };
    let parsed = PatchSet::parse_bytes(section.text, options).collect::<Result<Vec<_>, _>>();
    let parsed = parsed.map_err(|fault| Fault::Malformed(fault.to_string()))?;
    let header = section.header.unwrap_or_default();
    let files: Vec<_> = parsed
        .into_iter()
        .map(|file| file_diff(file, &header, section.header_is_git))
        .collect::<Result<_, _>>()?;
    let hunks: usize = files.iter().map(|file| file.body.hunks().len()).sum();
    if hunks != section.hunks {
        return Err(Fault::Malformed("a hunk belongs to no file".to_owned()));
    }
    if header.creates || header.deletes {
        files
            .iter()
            .try_for_each(|file| check_head(section.text, file))?;
    }
    Ok(files)
}

/// What comes or goes has the name of the first line, whatever `---` and `+++` say.
fn check_head(text: &[u8], file: &FileDiff) -> Result<(), Fault> {
    let head: Vec<&[u8]> = section::head(text).collect();
    let head = head.concat();
    let parsed = PatchSet::parse_bytes(&head, ParseOptions::gitdiff()).next();
    let named = parsed.and_then(|it| action(it.ok()?.operation()).ok());
    if named.as_ref() == Some(&file.action) {
        Ok(())
    } else {
        Err(Fault::Contradiction(main_path(&file.action)))
    }
}

impl Body {
    /// The hunks of a text.
    pub fn hunks(&self) -> &[Hunk] {
        match self {
            Self::Text(hunks) => hunks,
            Self::Binary { .. } | Self::Untold => &[],
        }
    }
}

fn file_diff(file: FilePatch<'_, [u8]>, header: &Header, is_git: bool) -> Result<FileDiff, Fault> {
    let action = action(file.operation())?;
    check_names(&action, &file, header, is_git)?;
    let old_mode = file.old_mode().copied().map(mode);
    let new_mode = file.new_mode().copied().map(mode);
    let body = match file.into_patch() {
        PatchKind::Text(patch) => Body::Text(patch.hunks().iter().map(hunk).collect()),
        PatchKind::Binary(BinaryPatch::Full { forward, reverse }) => Body::Binary {
            forward: block(&forward),
            backward: block(&reverse),
        },
        PatchKind::Binary(BinaryPatch::Marker) => Body::Untold,
    };
    let index = header.index.clone();
    let indexed = index.as_ref().and_then(|index| index.mode);
    if old_mode.zip(indexed).is_some_and(|(old, also)| old != also) {
        return Err(Fault::Contradiction(main_path(&action)));
    }
    let old_mode = old_mode.or(indexed);
    let diff = FileDiff {
        action,
        old_mode,
        new_mode,
        index,
        body,
    };
    check_effect(&diff)?;
    Ok(diff)
}

fn action(operation: &FileOperation<'_, [u8]>) -> Result<Action, Fault> {
    Ok(match operation {
        FileOperation::Create(path) => Action::Create(stripped(path)?),
        FileOperation::Delete(path) => Action::Delete(stripped(path)?),
        FileOperation::Modify { original, modified } => {
            let (old, new) = (stripped(original)?, stripped(modified)?);
            if old != new {
                return Err(Fault::Contradiction(new));
            }
            Action::Modify(new)
        }
        FileOperation::Rename { from, to } => Action::Rename {
            from: checked(from)?,
            to: checked(to)?,
        },
        FileOperation::Copy { from, to } => Action::Copy {
            from: checked(from)?,
            to: checked(to)?,
        },
    })
}

/// A name without its `a/` or `b/`.
fn stripped(name: &[u8]) -> Result<String, Fault> {
    let at = name.iter().position(|byte| *byte == b'/');
    let rest = at.filter(|at| *at > 0).and_then(|at| name.get(at + 1..));
    checked(rest.ok_or_else(|| Fault::NoPrefix(shown(name)))?)
}

fn checked(path: &[u8]) -> Result<String, Fault> {
    let fault = |fault| Fault::Path(shown(path), fault);
    let text = std::str::from_utf8(path).map_err(|_| fault(path::InvalidPath::Encoding))?;
    path::check(text).map_err(fault)?;
    Ok(text.to_owned())
}

fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).chars().take(200).collect()
}

/// The header and the names say the same.
fn check_names(
    action: &Action,
    file: &FilePatch<'_, [u8]>,
    header: &Header,
    is_git: bool,
) -> Result<(), Fault> {
    let says = match action {
        Action::Create(_) => (true, false, false),
        Action::Delete(_) => (false, true, false),
        Action::Modify(_) => (false, false, false),
        Action::Rename { .. } | Action::Copy { .. } => (false, false, true),
    };
    let agrees = !is_git || says == (header.creates, header.deletes, header.moves);
    let text = file.patch().as_text();
    let same = |name: Option<&[u8]>, path: Option<&str>| match (name, path) {
        (Some(b"/dev/null"), path) => path.is_none(),
        (Some(name), Some(path)) => stripped(name).is_ok_and(|name| name == path),
        (Some(_), None) => false,
        (None, _) => true,
    };
    let both = text.is_none_or(|it| {
        it.hunks().is_empty() || (it.original().is_some() && it.modified().is_some())
    });
    let names = both
        && same(text.and_then(|it| it.original()), action.source())
        && same(text.and_then(|it| it.modified()), action.target());
    if agrees && names {
        Ok(())
    } else {
        Err(Fault::Contradiction(main_path(action)))
    }
}

/// A diff changes lines, bytes, the mode or the name; and so does each hunk.
fn check_effect(diff: &FileDiff) -> Result<(), Fault> {
    let is_context = |line: &Line| matches!(line, Line::Context(_));
    let idle = diff
        .body
        .hunks()
        .iter()
        .any(|hunk| hunk.lines.iter().all(is_context));
    let stays = matches!(&diff.action, Action::Modify(_))
        && matches!(&diff.body, Body::Text(hunks) if hunks.is_empty())
        && (diff.old_mode.is_none() || diff.new_mode.is_none() || diff.new_mode == diff.old_mode);
    if idle || stays {
        Err(Fault::Empty(main_path(&diff.action)))
    } else {
        Ok(())
    }
}

fn main_path(action: &Action) -> String {
    action
        .target()
        .or(action.source())
        .unwrap_or_default()
        .to_owned()
}

fn mode(mode: FileMode) -> Mode {
    match mode {
        FileMode::Regular => Mode::File,
        FileMode::Executable => Mode::Executable,
        FileMode::Symlink => Mode::Symlink,
        FileMode::Gitlink => Mode::Submodule,
    }
}

fn hunk(hunk: &diffy::Hunk<'_, [u8]>) -> Hunk {
    let line = |line: &diffy::Line<'_, [u8]>| match *line {
        diffy::Line::Context(text) => Line::Context(text.to_vec()),
        diffy::Line::Delete(text) => Line::Removed(text.to_vec()),
        diffy::Line::Insert(text) => Line::Added(text.to_vec()),
    };
    Hunk {
        old_start: hunk.old_range().start(),
        new_start: hunk.new_range().start(),
        lines: hunk.lines().iter().map(line).collect(),
    }
}

fn block(block: &BinaryBlock<'_>) -> Block {
    let is_delta = match block.kind {
        BinaryBlockKind::Delta => true,
        BinaryBlockKind::Literal => false,
    };
    Block {
        is_delta,
        size: block.data.size,
        data: block.data.data.to_vec(),
    }
}
