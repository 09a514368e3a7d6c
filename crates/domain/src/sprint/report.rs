//! What came of a weave, as a sprint keeps it: names and numbers, and no content.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fence::encoded_len;
use crate::ids::{CommitSha, PullRef};
use crate::redact::storable;

/// Longest reason that a sprint keeps, in bytes as JSON: each member may have one.
pub(super) const REASON_BYTES_MAX: usize = 200;

/// How much of the conflicts of one weave its report keeps, in bytes.
pub const CLASHES_BYTES_MAX: usize = 28_000;

/// How many of those that a pull request conflicts with are named.
const AGAINST_MAX: usize = 10;

/// What a place takes apart from its path and its lines, in bytes.
const CLASH_BYTES: usize = 220;

/// How a member came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Its files as they are: no other member changed any of them.
    Taken,
    /// Its patch, by the rules of `git apply`.
    Applied,
    /// Its texts, merged against the merge base.
    ThreeWay,
    /// It answered the places that it was shown.
    Answered,
    /// By its own pull request.
    Merged,
}

impl Way {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::Applied => "applied",
            Self::ThreeWay => "three_way",
            Self::Answered => "answered",
            Self::Merged => "merged",
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What a weave pushed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Woven {
    /// Which weave.
    pub weave: u32,
    /// The tip of the target that it began at.
    pub base: CommitSha,
    /// The commit that it made.
    pub commit: CommitSha,
    /// The one pull request.
    pub pull: PullRef,
}

/// What came of a weave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Which weave.
    pub weave: u32,
    /// What it pushed; none if no member is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub woven: Option<Woven>,
    /// What became of each pull request, in the order in which they were tried.
    pub verdicts: Vec<(u64, WeaveVerdict)>,
    /// The pull requests of conflicts left to the weaver whose changes the woven tree holds, by their lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<u64>,
}

/// What became of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum WeaveVerdict {
    /// It is in.
    In {
        /// Its head.
        head: CommitSha,
        /// How it came in.
        way: Way,
        /// How many files it changes.
        files: u32,
    },
    /// It conflicts.
    Out {
        /// Its head.
        head: CommitSha,
        /// With what.
        against: Against,
        /// Where.
        clashes: Vec<Clash>,
        /// How many other places there are.
        others: u32,
    },
    /// Its head moved while it was woven: it takes part in the next one.
    Moved,
    /// It changes nothing.
    Nothing,
    /// It takes no part.
    Skipped {
        /// Why.
        reason: String,
    },
}

/// What a pull request conflicts with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// These members changed the same lines.
    Members(Vec<u64>),
    /// The target has moved.
    StaleBase,
}

/// A place of a conflict. Its blobs say later whether it was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clash {
    /// The file.
    pub path: String,
    /// What kind it is, and which lines, for people.
    pub words: String,
    /// Whether it is about lines, so that it can be answered.
    pub is_lines: bool,
    /// The blob at the merge base of the pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<CommitSha>,
    /// The blob that was woven so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ours: Option<CommitSha>,
    /// The blob at the head of the pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theirs: Option<CommitSha>,
}

impl WeaveVerdict {
    /// One word for lists.
    pub fn word(&self) -> &'static str {
        match self {
            Self::In { .. } => "in",
            Self::Out { .. } => "out",
            Self::Moved => "moved",
            Self::Nothing => "nothing",
            Self::Skipped { .. } => "skipped",
        }
    }
}

impl Clash {
    fn bytes(&self) -> usize {
        encoded_len(&self.path) + encoded_len(&self.words) + CLASH_BYTES
    }
}

impl Against {
    /// Names a few of very many.
    pub(super) fn fit(&mut self) {
        match self {
            Self::Members(numbers) => numbers.truncate(AGAINST_MAX),
            Self::StaleBase => {}
        }
    }
}

/// Keeps the places that there is room for, and counts the others.
pub(super) fn fit(clashes: &mut Vec<Clash>, others: &mut u32, left: &mut usize) {
    let count = clashes.len();
    clashes.retain(|clash| match left.checked_sub(clash.bytes()) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    });
    let dropped = u32::try_from(count - clashes.len()).unwrap_or(u32::MAX);
    *others = others.saturating_add(dropped);
}

impl Report {
    /// Keeps the record small: of very many conflicts the last places of each pull request are only counted, and reasons are cut.
    pub fn fit(&mut self) {
        let mut left = CLASHES_BYTES_MAX;
        for (_, verdict) in &mut self.verdicts {
            match verdict {
                WeaveVerdict::Out {
                    clashes,
                    others,
                    against,
                    ..
                } => {
                    against.fit();
                    fit(clashes, others, &mut left);
                }
                WeaveVerdict::Skipped { reason } => *reason = storable(reason, REASON_BYTES_MAX),
                WeaveVerdict::In { .. } | WeaveVerdict::Moved | WeaveVerdict::Nothing => {}
            }
        }
    }
}
