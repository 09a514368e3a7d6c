//! The Jules ports: one that only reads and one that writes.

use async_trait::async_trait;
use domain::failure::Failure;
use domain::ids::{AccountName, BranchName, RepoName, SessionId};
use domain::marker::Marker;
use domain::policy::Automation;
use domain::session::{Activity, SessionView};
use jiff::Timestamp;

/// One page of the session list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPage {
    /// The sessions, in the order of the service.
    pub sessions: Vec<SessionView>,
    /// Where to go on; none on the last page.
    pub next: Option<String>,
    /// How many bytes the page weighed: pages can carry whole patches.
    pub bytes: u64,
}

/// What is needed to create a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// The task.
    pub prompt: String,
    /// The title with our marker.
    pub title: String,
    /// The repository.
    pub repo: RepoName,
    /// The branch to start from, which becomes the pull request's base.
    pub branch: BranchName,
    /// Whether plans wait for approval.
    pub require_plan_approval: bool,
    /// What it does with its work at the end.
    pub automation: Automation,
}

/// A repository as Jules knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceView {
    /// The repository.
    pub repo: RepoName,
    /// Its default branch, if Jules returns it.
    pub default_branch: Option<BranchName>,
}

/// What a session has produced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Artifacts {
    /// Web addresses of its pull requests.
    pub pull_urls: Vec<String>,
    /// The newest whole patch, as a unified diff, cut at `PATCH_BYTES_MAX` of the adapter.
    pub patch: Option<String>,
    /// Whether the patch was cut.
    pub patch_cut: bool,
    /// The commit the patch applies to, as given.
    pub base_commit: Option<String>,
    /// The commit message Jules suggests.
    pub suggested_message: Option<String>,
}

/// Reads Jules.
#[async_trait]
pub trait SessionsRead: Send + Sync {
    /// One page of the account's sessions, `page_size` 1 to 100.
    async fn list(
        &self,
        account: &AccountName,
        page_size: u32,
        token: Option<&str>,
    ) -> Result<SessionPage, Failure>;

    /// One session.
    async fn get(&self, account: &AccountName, session: &SessionId)
    -> Result<SessionView, Failure>;

    /// All activities after a time (all of them without one), to the last page, in order of (time, id).
    async fn activities(
        &self,
        account: &AccountName,
        session: &SessionId,
        after: Option<Timestamp>,
    ) -> Result<Vec<Activity>, Failure>;

    /// Sessions whose title carries a marker, among those created at or after a time; reads as many list pages as needed.
    async fn find(
        &self,
        account: &AccountName,
        marker: &Marker,
        since: Timestamp,
    ) -> Result<Vec<SessionView>, Failure>;

    /// What a session has produced so far.
    async fn artifacts(
        &self,
        account: &AccountName,
        session: &SessionId,
    ) -> Result<Artifacts, Failure>;

    /// The repositories connected to the account, all pages.
    async fn sources(&self, account: &AccountName) -> Result<Vec<SourceView>, Failure>;
}

/// Writes to Jules. Only the dispatcher holds one.
#[async_trait]
pub trait SessionsWrite: Send + Sync {
    /// Creates a session. Not safe to repeat: search for the marker before another attempt.
    async fn create(
        &self,
        account: &AccountName,
        session: &NewSession,
    ) -> Result<SessionView, Failure>;

    /// Sends a message; an empty one is refused because Jules would accept and ignore it.
    async fn send(
        &self,
        account: &AccountName,
        session: &SessionId,
        text: &str,
    ) -> Result<(), Failure>;

    /// Approves the waiting plan. Safe to repeat.
    async fn approve(&self, account: &AccountName, session: &SessionId) -> Result<(), Failure>;

    /// Puts a session away. Safe to repeat.
    async fn archive(&self, account: &AccountName, session: &SessionId) -> Result<(), Failure>;

    /// Takes a session out again. Safe to repeat.
    async fn unarchive(&self, account: &AccountName, session: &SessionId) -> Result<(), Failure>;

    /// Deletes a session; a missing one counts as deleted.
    async fn delete(&self, account: &AccountName, session: &SessionId) -> Result<(), Failure>;
}
