//! The result of a webhook delivery: a name of something to read again, never a fact.

use domain::ids::{CommitSha, RepoId, RepoName};
use domain::pull::DeliveryHint;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// No wake-up is larger than this when it is written as JSON: it travels in a queue message.
pub const WAKEUP_BYTES_MAX: usize = 4 * 1024;

/// What a payload is about, derived from its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookKind {
    /// A pull request itself: opened, pushed to, closed, labelled and so on.
    PullRequest,
    /// A review, a comment within one, or a thread of one.
    Review,
    /// One check run.
    CheckRun,
    /// All check runs of one App for one commit.
    CheckSuite,
    /// A run of a GitHub Actions workflow.
    WorkflowRun,
    /// A commit status.
    Status,
    /// An issue.
    Issue,
    /// A comment on an issue or on a pull request.
    IssueComment,
    /// A push to a branch, which may be the base of pull requests.
    Push,
}

/// Something to read again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wakeup {
    /// What kind of thing happened.
    pub kind: WebhookKind,
    /// In which repository.
    pub repo: RepoName,
    /// The number of that repository, which says more than its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_id: Option<RepoId>,
    /// The issue or pull request, if the payload names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The commit, if the payload names one; without a number, it is how the pull requests are found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha: Option<CommitSha>,
    /// Whether the issue that it names is a pull request, of which comments and milestones are told as those of an issue.
    #[serde(default)]
    pub is_pull: bool,
    /// When the delivery was received.
    pub received_at: Timestamp,
    /// Its news about checks; only a hint when to read.
    pub news: DeliveryHint,
}
