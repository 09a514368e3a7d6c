//! The ports to GitHub's issues, and to what deploys: one that only reads and one that writes.

use async_trait::async_trait;
use domain::delivery::{IssueRef, ProviderReport};
use domain::failure::Failure;
use domain::ids::{BranchName, CommitSha, RepoName};
use jiff::Timestamp;

/// An issue as it was read. All of its text is untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueFacts {
    /// Its number.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Its body, if it has one.
    pub body: Option<String>,
    /// The names of its labels.
    pub labels: Vec<String>,
    /// Whether it is open.
    pub is_open: bool,
    /// Who closed it, if it is closed and GitHub says who.
    pub closed_by: Option<String>,
    /// Whether it is a pull request: GitHub lists those as issues, too.
    pub is_pull: bool,
    /// When anything of it last changed.
    pub updated_at: Timestamp,
}

/// A comment on an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueComment {
    /// Its id.
    pub id: u64,
    /// Its text.
    pub body: String,
}

/// A run of a workflow that was dispatched and is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AwaitedRun<'a> {
    /// The file of the workflow.
    pub file: &'a str,
    /// The branch that it was dispatched on.
    pub branch: &'a BranchName,
    /// A time of ours at or after which it was dispatched.
    pub since: Timestamp,
    /// The merge that its commit holds, where one is named.
    pub merge: Option<&'a CommitSha>,
}

/// Reads issues, and what deploys.
#[async_trait]
pub trait IssuesRead: Send + Sync {
    /// All issues and pull requests that changed since a time, to the last page, each once, the longest unchanged first.
    /// GitHub tells whole seconds, so what was read last is read again.
    async fn issues_since(
        &self,
        repo: &RepoName,
        since: Timestamp,
    ) -> Result<Vec<IssueFacts>, Failure>;

    /// All open issues with this label, to the last page.
    async fn issues_labelled(
        &self,
        repo: &RepoName,
        label: &str,
    ) -> Result<Vec<IssueFacts>, Failure>;

    /// The hidden markers of all issues with this label, open or closed, that the credential's own account opened.
    async fn own_markers(&self, repo: &RepoName, label: &str) -> Result<Vec<String>, Failure>;

    /// One issue. `NotFound` when it was deleted, or moved to another repository.
    async fn issue(&self, issue: &IssueRef) -> Result<IssueFacts, Failure>;

    /// The first comment on an issue that has this hidden marker and was written by the credential's own account.
    async fn marked_comment(
        &self,
        issue: &IssueRef,
        marker: &str,
    ) -> Result<Option<IssueComment>, Failure>;

    /// How the runs go that may be the awaited one: `Good` once one succeeded; else `Running` while one runs; else how the newest
    /// ended.
    async fn workflow_run(
        &self,
        repo: &RepoName,
        awaited: AwaitedRun<'_>,
    ) -> Result<ProviderReport, Failure>;

    /// How the newest deployment of a commit to an environment goes: `Nothing` if it had failed by a time of ours at which
    /// that was seen before.
    async fn deployment(
        &self,
        repo: &RepoName,
        sha: &CommitSha,
        environment: &str,
        failed_at: Option<Timestamp>,
    ) -> Result<ProviderReport, Failure>;

    /// Whether checks of a commit have failed: `Bad` with their names, `Running` while some run, else `Good`. Those that
    /// are known to have ended before a time of ours do not count, if one is given.
    async fn commit_checks(
        &self,
        repo: &RepoName,
        sha: &CommitSha,
        since: Option<Timestamp>,
    ) -> Result<ProviderReport, Failure>;
}

/// Writes to issues, and starts deployments. Only the dispatcher holds one.
#[async_trait]
pub trait IssuesWrite: Send + Sync {
    /// Writes a comment that ends with a hidden marker.
    async fn comment(&self, issue: &IssueRef, text: &str, marker: &str) -> Result<(), Failure>;

    /// Replaces the text of a comment, keeping the marker.
    async fn edit_comment(
        &self,
        repo: &RepoName,
        comment: u64,
        text: &str,
        marker: &str,
    ) -> Result<(), Failure>;

    /// Closes an issue as completed; one that is closed already stays so.
    async fn close_issue(&self, issue: &IssueRef) -> Result<(), Failure>;

    /// Dispatches a workflow on a branch.
    async fn dispatch_workflow(
        &self,
        repo: &RepoName,
        file: &str,
        branch: &BranchName,
    ) -> Result<(), Failure>;
}
