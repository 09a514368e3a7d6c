//! What GitHub answers about commits, trees and comparisons.

use jiff::Timestamp;
use serde::Deserialize;

use super::{Named, Object};

/// `GET /repos/{owner}/{repo}/git/ref/heads/{branch}`. Older APIs list what begins with the name where no branch has exactly this one.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum References {
    /// The branch.
    One(Reference),
    /// Branches whose names begin with it.
    Several(Vec<Reference>),
}

#[derive(Debug, Deserialize)]
pub(crate) struct Reference {
    #[serde(rename = "ref")]
    pub(crate) name: String,
    pub(crate) object: Object,
}

/// An item of `GET /repos/{owner}/{repo}/commits`, or of a comparison.
#[derive(Debug, Deserialize)]
pub(crate) struct Commit {
    pub(crate) sha: String,
    pub(crate) commit: CommitBody,
}

/// What git itself keeps of a commit.
#[derive(Debug, Deserialize)]
pub(crate) struct CommitBody {
    pub(crate) message: String,
    pub(crate) committer: Committer,
}

/// When it was committed.
#[derive(Debug, Deserialize)]
pub(crate) struct Committer {
    pub(crate) date: Timestamp,
}

/// A page of `GET /repos/{owner}/{repo}/compare/{base}...{head}`; only the first has files.
#[derive(Debug, Deserialize)]
pub(crate) struct Compared {
    pub(crate) merge_base_commit: Object,
    pub(crate) total_commits: usize,
    pub(crate) commits: Vec<Commit>,
    #[serde(default)]
    pub(crate) files: Option<Vec<ComparedFile>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ComparedFile {
    pub(crate) filename: String,
    pub(crate) status: String,
    #[serde(default)]
    pub(crate) previous_filename: Option<String>,
}

/// A comparison, as far as it says where two commits parted.
#[derive(Debug, Deserialize)]
pub(crate) struct Parted {
    /// Null where they have nothing in common.
    #[serde(default)]
    pub(crate) merge_base_commit: Option<Object>,
}

/// `GET /repos/{owner}/{repo}/git/commits/{sha}`, as far as it says what its author wrote and what it holds.
#[derive(Debug, Deserialize)]
pub(crate) struct CommitDetails {
    pub(crate) message: String,
    pub(crate) tree: Object,
}

/// The answer to a new blob.
#[derive(Debug, Deserialize)]
pub(crate) struct Blob {
    pub(crate) sha: String,
}

/// `GET /repos/{owner}/{repo}/git/trees/{sha}`, or the answer to a new one.
#[derive(Debug, Deserialize)]
pub(crate) struct RestTree {
    pub(crate) sha: String,
    #[serde(default)]
    pub(crate) tree: Vec<RestEntry>,
    #[serde(default)]
    pub(crate) truncated: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RestEntry {
    pub(crate) path: String,
    /// Octal digits, as git writes them.
    pub(crate) mode: String,
    pub(crate) sha: String,
}

/// `GET /repos/{owner}/{repo}/git/commits/{sha}`, or the answer to a new one.
#[derive(Debug, Deserialize)]
pub(crate) struct GitCommit {
    pub(crate) sha: String,
    pub(crate) tree: Object,
}

/// The same commit, as far as it says where it comes from.
#[derive(Debug, Deserialize)]
pub(crate) struct CommitOrigin {
    pub(crate) parents: Vec<Object>,
    pub(crate) committer: CommitterName,
    pub(crate) verification: Verification,
}

/// Who made a commit, by what the commit says.
#[derive(Debug, Deserialize)]
pub(crate) struct CommitterName {
    pub(crate) name: String,
    pub(crate) email: String,
}

/// Whether its signature is that of its committer.
#[derive(Debug, Deserialize)]
pub(crate) struct Verification {
    pub(crate) verified: bool,
}

/// An item of `GET /repos/{owner}/{repo}/pulls`, as far as it says which branch it is from.
#[derive(Debug, Deserialize)]
pub(crate) struct PullOfBranch {
    pub(crate) number: u64,
    pub(crate) state: String,
    pub(crate) head: PullEnd,
    pub(crate) base: PullEnd,
}

/// One end of it. A fork that was deleted has no repository.
#[derive(Debug, Deserialize)]
pub(crate) struct PullEnd {
    #[serde(rename = "ref")]
    pub(crate) branch: String,
    pub(crate) sha: String,
    pub(crate) repo: Option<Named>,
}

/// What was opened: a pull request or an issue.
#[derive(Debug, Deserialize)]
pub(crate) struct Opened {
    pub(crate) number: u64,
}

/// Whether GraphQL finds a commit, and what it finds at a path.
#[derive(Debug, Deserialize)]
pub(crate) struct Folder<T> {
    pub(crate) repository: FolderRepository<T>,
}

/// The repository it was asked of.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FolderRepository<T> {
    pub(crate) database_id: u64,
    /// Null for an unknown commit.
    pub(crate) commit: Option<GraphObject>,
    /// Null where nothing is at the path.
    pub(crate) root: Option<T>,
}

/// Anything that git keeps.
#[derive(Debug, Deserialize)]
pub(crate) struct GraphObject {
    #[serde(rename = "__typename")]
    pub(crate) kind: String,
    pub(crate) oid: String,
}

impl GraphObject {
    /// Whether it is a folder.
    pub(crate) fn is_tree(&self) -> bool {
        self.kind == "Tree"
    }
}

/// A folder with all that is in it. What is no folder has no entries.
#[derive(Debug, Deserialize)]
pub(crate) struct GraphTree {
    #[serde(default)]
    pub(crate) entries: Option<Vec<GraphEntry>>,
}

/// One entry of a folder.
#[derive(Debug, Deserialize)]
pub(crate) struct GraphEntry {
    pub(crate) name: String,
    /// The number that git writes in octal digits.
    pub(crate) mode: u32,
    /// Missing for another repository.
    #[serde(default)]
    pub(crate) object: Option<GraphContent>,
}

/// The file or folder of an entry.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GraphContent {
    #[serde(default)]
    pub(crate) oid: Option<String>,
    #[serde(default)]
    pub(crate) byte_size: usize,
    #[serde(default)]
    pub(crate) is_binary: Option<bool>,
    #[serde(default)]
    pub(crate) is_truncated: bool,
    #[serde(default)]
    pub(crate) text: Option<String>,
    /// The entries of a folder; none below the deepest that was asked for.
    #[serde(default)]
    pub(crate) entries: Option<Vec<GraphEntry>>,
}
