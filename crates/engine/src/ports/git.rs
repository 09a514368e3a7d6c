//! The ports to a repository's files, commits and branches: one that only reads and one that writes.

use async_trait::async_trait;
use domain::failure::Failure;
use domain::ids::{BranchName, CommitSha, PullRef, RepoName};
use scaffold::scope::FileChange;
use scaffold::tree::{Tree, TreePath};
use weave::tree::{BlobId, Entry, Mode};

pub use scaffold::commits::CommitLine;

/// Two commits that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitRange<'a> {
    /// The one that is compared with.
    pub base: &'a CommitSha,
    /// The one whose changes are meant.
    pub head: &'a CommitSha,
}

/// What a head has that its base lacks, since they parted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// The newest commit that both have.
    pub merge_base: CommitSha,
    /// The commits that only the head has, the oldest first.
    pub commits: Vec<CommitLine>,
    /// The files that they changed, with the modes that the head has.
    pub files: Vec<FileChange>,
}

/// A file or folder at the root of a commit. Two that are equal have the same contents.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RootEntry {
    /// Its name.
    pub name: String,
    /// Octal digits, as git writes them.
    pub mode: String,
    /// The hash of its contents.
    pub oid: String,
}

/// A pull request that was found by its branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPull {
    /// Which one.
    pub pull: PullRef,
    /// Its head.
    pub head: CommitSha,
    /// The branch that it is to change.
    pub base: BranchName,
    /// Whether it is open.
    pub is_open: bool,
}

/// The message and the tree of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitDetails {
    /// Its whole message, untrusted.
    pub message: String,
    /// The id of its tree.
    pub tree: String,
}

/// Reads files, commits and branches.
#[async_trait]
pub trait GitRead: Send + Sync {
    /// The commit of a branch; none if there is no such branch.
    async fn tip(&self, repo: &RepoName, branch: &BranchName)
    -> Result<Option<CommitSha>, Failure>;

    /// The files below some folders at a commit; a folder that is not there has none.
    /// `Garbled` when they are nested too deep, too many, too large in all, or not listed to the end: never a part of them.
    async fn tree(
        &self,
        repo: &RepoName,
        commit: &CommitSha,
        roots: &[&str],
    ) -> Result<Tree, Failure>;

    /// The files and folders at the root of a commit.
    async fn root(&self, repo: &RepoName, commit: &CommitSha) -> Result<Vec<RootEntry>, Failure>;

    /// What a head changed since it left a base. `Garbled` when GitHub does not list it all.
    async fn compare(
        &self,
        repo: &RepoName,
        between: CommitRange<'_>,
    ) -> Result<Comparison, Failure>;

    /// The newest commit that two have in common. `NotFound` where one is missing or they have none.
    async fn merge_base(
        &self,
        repo: &RepoName,
        between: CommitRange<'_>,
    ) -> Result<CommitSha, Failure>;

    /// Every file, link and submodule of a commit, without contents. `Garbled` when they are not listed to the end, or are more
    /// than a weave takes: never a part of them.
    async fn entries(
        &self,
        repo: &RepoName,
        commit: &CommitSha,
    ) -> Result<weave::tree::Tree, Failure>;

    /// The diff from a base to a head that builds on it, without the bytes of binaries; none where it is larger than GitHub
    /// gives one.
    async fn diff(
        &self,
        repo: &RepoName,
        between: CommitRange<'_>,
    ) -> Result<Option<Vec<u8>>, Failure>;

    /// The bytes of a blob.
    async fn blob(&self, repo: &RepoName, id: BlobId) -> Result<Vec<u8>, Failure>;

    /// The message and the tree of a commit.
    async fn commit_details(
        &self,
        repo: &RepoName,
        commit: &CommitSha,
    ) -> Result<CommitDetails, Failure>;

    /// The newest commits up to this one, the newest first, at most `limit`, which is at most 100.
    async fn log(
        &self,
        repo: &RepoName,
        commit: &CommitSha,
        limit: usize,
    ) -> Result<Vec<CommitLine>, Failure>;

    /// The newest pull request that was opened from a branch of the repository itself, whatever became of it.
    async fn pull_of(
        &self,
        repo: &RepoName,
        branch: &BranchName,
    ) -> Result<Option<FoundPull>, Failure>;
}

/// One file that a commit makes other than it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// It is a regular file with this text.
    Write(TreePath, String),
    /// It has these bytes.
    Put(TreePath, Mode, Vec<u8>),
    /// It is what the repository has already: a blob, or a submodule's commit.
    Place(TreePath, Entry),
    /// It is gone.
    Remove(TreePath),
    /// The folder is that of another commit, with all that is in it.
    TakeFolder(TreePath, CommitSha),
}

/// Names the tree of a commit at the end of its message.
pub const TREE_TRAILER: &str = "Gaffer-Tree: ";

/// A commit to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCommit {
    /// Its parents. The edits are made to the files of the one in `files_of`.
    pub parents: Vec<CommitSha>,
    /// The commit whose files it begins with.
    pub files_of: CommitSha,
    /// What is other than there.
    pub edits: Vec<Edit>,
    /// Contents that no file of it has, and that the repository is to have all the same.
    pub kept: Vec<Vec<u8>>,
    /// Its message.
    pub message: String,
    /// Whether a last line of the message names its tree, after [`TREE_TRAILER`].
    pub names_tree: bool,
}

/// A pull request to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPull {
    /// The branch that has the change.
    pub head: BranchName,
    /// The branch to change.
    pub base: BranchName,
    /// Its title.
    pub title: String,
    /// Its body.
    pub body: String,
}

/// An issue to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIssue {
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
    /// Its label.
    pub label: String,
    /// By what it is found again.
    pub marker: String,
}

/// What a status of ours says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusState {
    /// It is being worked out.
    Pending,
    /// All is well.
    Success,
    /// Something is wrong.
    Failure,
}

/// A status to put on a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewStatus {
    /// Its name.
    pub context: String,
    /// What it says.
    pub state: StatusState,
    /// The same in words, at most 140 characters.
    pub description: String,
}

/// Writes files, commits and branches. Only the dispatcher holds one, and the command that weaves at a person's word.
#[async_trait]
pub trait GitWrite: Send + Sync {
    /// Makes a commit, which no branch has yet.
    async fn commit(&self, repo: &RepoName, commit: &NewCommit) -> Result<CommitSha, Failure>;

    /// Makes a branch at a commit. `Conflict` when it is there already, at another commit.
    async fn create_branch(
        &self,
        repo: &RepoName,
        branch: &BranchName,
        commit: &CommitSha,
    ) -> Result<(), Failure>;

    /// Moves a branch to a commit that builds on its own. `Conflict` when the commit does not, or the branch is not there.
    async fn move_branch(
        &self,
        repo: &RepoName,
        branch: &BranchName,
        commit: &CommitSha,
    ) -> Result<(), Failure>;

    /// Opens a pull request. `Conflict` when there is one, or nothing to merge.
    async fn open_pull(&self, repo: &RepoName, pull: &NewPull) -> Result<PullRef, Failure>;

    /// Gives a pull request another title and body.
    async fn edit_pull(&self, pull: &PullRef, title: &str, body: &str) -> Result<(), Failure>;

    /// Takes a label off a pull request; one that is not on it counts as taken off.
    async fn unlabel(&self, pull: &PullRef, label: &str) -> Result<(), Failure>;

    /// Puts a status on a commit; a later one of the same name replaces it.
    async fn set_status(
        &self,
        repo: &RepoName,
        commit: &CommitSha,
        status: &NewStatus,
    ) -> Result<(), Failure>;

    /// Opens an issue whose text ends with a hidden marker, and returns its number.
    async fn open_issue(&self, repo: &RepoName, issue: &NewIssue) -> Result<u64, Failure>;

    /// Makes a label of the repository, or gives it this colour (six hex digits) and description.
    async fn put_label(
        &self,
        repo: &RepoName,
        name: &str,
        colour: &str,
        description: &str,
    ) -> Result<(), Failure>;
}
