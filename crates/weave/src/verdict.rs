//! What became of each member: how it came in, or what it conflicts with and where.

use std::fmt;

use crate::apply::Refusal;
use crate::patch::Fault;
use crate::tree::BlobId;

/// How a member came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// Its blobs as they are: no one else changed any of its paths.
    Taken,
    /// Its patch, by the rules of `git apply`.
    Applied,
    /// Texts merged against the merge base.
    ThreeWay,
    /// It answered the places that it was shown.
    Answered,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Taken => "taken",
            Self::Applied => "applied",
            Self::ThreeWay => "three_way",
            Self::Answered => "answered",
        })
    }
}

/// What became of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is in, whole.
    In {
        /// How.
        way: Way,
        /// How many paths it changes.
        files: usize,
    },
    /// Nothing of it is in.
    Out(Conflict),
    /// It is no patch that can be read.
    Unreadable(Fault),
}

/// Why a member is out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Where, one for each path.
    pub clashes: Vec<Clash>,
    /// Against what.
    pub against: Against,
}

/// What a member conflicts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Against {
    /// It applies alone: these members changed the same lines.
    Members(Vec<u64>),
    /// It does not apply alone either: the target has moved.
    StaleBase,
}

/// A path where a member does not fit. Its ids are what has to be loaded to see later whether it was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clash {
    /// The path.
    pub path: String,
    /// What kind it is.
    pub kind: ClashKind,
    /// The blob at the member's merge base.
    pub base: Option<BlobId>,
    /// The blob that is woven so far.
    pub ours: Option<BlobId>,
    /// The blob at the member's head.
    pub theirs: Option<BlobId>,
    /// Which lines of what is woven so far.
    pub lines: Vec<Lines>,
}

/// A run of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// The first, from one.
    pub first: usize,
    /// How many; none where ours were deleted.
    pub count: usize,
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            0 | 1 => write!(f, "line {}", self.first),
            count => write!(f, "lines {}–{}", self.first, self.first + count - 1),
        }
    }
}

/// What kind of conflict a path has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClashKind {
    /// Both changed the same lines.
    #[error("both changed the same lines")]
    Lines,
    /// Both changed a binary.
    #[error("both changed a binary")]
    Binary,
    /// One changed what the other deleted.
    #[error("one changed what the other deleted")]
    EditDeleted,
    /// One changed what the other renamed.
    #[error("one changed what the other renamed")]
    RenameChanged,
    /// One renamed what the other deleted, or both renamed it to different names.
    #[error("one renamed what the other deleted or renamed to another name")]
    MovedApart,
    /// Both changed the mode, or a link or submodule, or one is of another type.
    #[error("both changed what it is or where it points")]
    Kind,
    /// A file lies where the other needs a folder.
    #[error("a file lies where the other needs a folder")]
    InTheWay,
    /// A text is too large to be merged, or has lines like the markers of a conflict.
    #[error("it cannot be merged as text")]
    Unmergeable,
    /// A content that a merge needs is not loaded.
    #[error("its content is not loaded")]
    NotLoaded,
    /// The patch does not apply, and nothing else is known of the change.
    #[error("the patch does not apply: {0}")]
    Patch(Refusal),
}
