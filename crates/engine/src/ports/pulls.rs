//! The GitHub ports: one that only reads and one that writes.

use async_trait::async_trait;
use domain::facts::{PullFacts, ReadDepth};
use domain::failure::Failure;
use domain::github_access::{GitHubBudget, GitHubUsage};
use domain::ids::{BranchName, CommitSha, PullRef, RepoName, RepositoryIdentity};
use domain::policy::MergeMethod;
use domain::web_page::WebPage;
use jiff::Timestamp;

use super::git::CommitRange;

/// Whether a branch may be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchState {
    /// Its commit; `None` when the branch does not exist.
    pub sha: Option<CommitSha>,
    /// Open pull requests that want to change it.
    pub based_on_it: u64,
}

/// The end of a failed check's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckLog {
    /// The check's name.
    pub name: String,
    /// The last lines of its log or of its summary, at most 4,000 characters.
    pub tail: String,
    /// Its page.
    pub page: Option<WebPage>,
}

/// Just enough of a pull request to find its possible job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullGlance {
    /// Its body, untrusted.
    pub body: String,
    /// Its head branch.
    pub branch: BranchName,
    /// Whether its head lives in the repository it wants to change.
    pub same_repo: bool,
    /// Which repository answered.
    pub repo: RepositoryIdentity,
    /// When it was opened, if GitHub returns it.
    pub opened_at: Option<Timestamp>,
}

/// Who may go on reading while GitHub's budget runs short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// What can wait: it stops while there is still enough for merges.
    Common,
    /// What is kept for pull requests that are about to be merged.
    Kept,
}

/// How a pull request is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Out of which share of the budget.
    pub share: Share,
    /// How much of it.
    pub depth: ReadDepth,
}

/// Reads GitHub.
#[async_trait]
pub trait PullsRead: Send + Sync {
    /// Reads a pull request as of `now` or later, with all pages of each part.
    async fn facts(
        &self,
        pull: &PullRef,
        reading: Reading,
        now: Timestamp,
    ) -> Result<PullFacts, Failure>;

    /// One cheap read: enough for other people's pull requests.
    async fn glance(&self, pull: &PullRef) -> Result<PullGlance, Failure>;

    /// Which repository answers to a name now: a renamed one still answers to its old name.
    async fn identify(&self, repo: &RepoName) -> Result<RepositoryIdentity, Failure>;

    /// The repository's default branch.
    async fn default_branch(&self, repo: &RepoName) -> Result<BranchName, Failure>;

    /// What failed checks said; a log that cannot be had is left out.
    async fn check_logs(&self, facts: &PullFacts) -> Result<Vec<CheckLog>, Failure>;

    /// Whether the pull request has a comment with this hidden marker.
    async fn has_comment(&self, pull: &PullRef, marker: &str) -> Result<bool, Failure>;

    /// A branch, and how many open pull requests are based on it.
    async fn branch(&self, repo: &RepoName, branch: &BranchName) -> Result<BranchState, Failure>;

    /// The paths that changed on the way to the head since it parted from the base. `Garbled` when GitHub does not list them all.
    async fn changed(
        &self,
        repo: &RepoName,
        between: CommitRange<'_>,
    ) -> Result<Vec<String>, Failure>;

    /// Whether the head is GitHub's own merge of a target, given by its newest commit, into the base, and nothing else.
    async fn is_base_merge(
        &self,
        repo: &RepoName,
        target: &CommitSha,
        between: CommitRange<'_>,
    ) -> Result<bool, Failure>;

    /// The remaining budgets, as GitHub last reported; empty before the first answer.
    fn budgets(&self) -> Vec<GitHubBudget>;

    /// The number of requests so far.
    fn usage(&self) -> GitHubUsage;
}

/// Writes to GitHub. Only the dispatcher holds one.
#[async_trait]
pub trait PullsWrite: Send + Sync {
    /// Merges at exactly this head, by a method and with a commit title or GitHub's own; returns the merge commit.
    /// `Conflict` when the head moved or it is not mergeable.
    async fn merge(
        &self,
        pull: &PullRef,
        sha: &CommitSha,
        method: MergeMethod,
        title: Option<&str>,
    ) -> Result<CommitSha, Failure>;

    /// Marks a draft ready for review.
    async fn mark_ready(&self, pull: &PullRef, node_id: &str) -> Result<(), Failure>;

    /// Merges the base into the head, if the head is still this one.
    async fn update_branch(&self, pull: &PullRef, sha: &CommitSha) -> Result<(), Failure>;

    /// Writes a comment that ends with a hidden marker.
    async fn comment(&self, pull: &PullRef, text: &str, marker: &str) -> Result<(), Failure>;

    /// Puts a label on it.
    async fn label(&self, pull: &PullRef, label: &str) -> Result<(), Failure>;

    /// Closes it without merging; one that is closed already stays so.
    async fn close(&self, pull: &PullRef) -> Result<(), Failure>;

    /// Deletes a branch; a missing one counts as deleted.
    async fn delete_branch(&self, repo: &RepoName, branch: &BranchName) -> Result<(), Failure>;
}
