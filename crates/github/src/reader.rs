//! Reads GitHub: facts, branches, issues, comments, deployments, files and the logs of failed checks.

pub(crate) mod branch;
mod compare;
mod deployments;
pub(crate) mod git;
mod issues;
mod logs;

use std::sync::Arc;

use async_trait::async_trait;
use domain::facts::PullFacts;
use domain::failure::{Failure, FailureClass};
use domain::github_access::{GitHubBudget, GitHubUsage};
use domain::ids::{BranchName, CommitSha, PullRef, RepoId, RepoName, RepositoryIdentity};
use engine::ports::{BranchState, CheckLog, CommitRange, PullGlance, PullsRead, Reading, Share};
use jiff::Timestamp;

use crate::client::{Client, failure};
use crate::{facts, wire};
use git::kept::KeptObjects;

/// 5,000 comments; beyond that it is unknown whether ours is among them.
const COMMENT_PAGES_MAX: usize = 50;

/// Reads GitHub and can change nothing. Clones share what they keep.
#[derive(Debug, Clone)]
pub struct Reader {
    client: Client,
    kept: Arc<KeptObjects>,
}

impl Reader {
    /// A reader over a client.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            kept: Arc::default(),
        }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    fn kept(&self) -> &KeptObjects {
        &self.kept
    }
}

async fn default_branch(client: &Client, repo: &RepoName) -> Result<BranchName, Failure> {
    let doing = format!("reading {repo}");
    let found: wire::Repository = client.get(repo, &format!("/repos/{repo}"), &doing).await?;
    found
        .default_branch
        .parse()
        .map_err(|error| failure(FailureClass::Garbled, &format!("{doing}: {error}")))
}

/// The hidden end of a comment of ours.
pub(crate) fn hidden(marker: &str) -> String {
    format!("<!-- gaffer:{marker} -->")
}

/// The marker at the hidden end of a text.
pub(crate) fn revealed(text: &str) -> Option<&str> {
    let (_, end) = text.trim_end().rsplit_once("<!-- gaffer:")?;
    end.strip_suffix(" -->")
}

#[async_trait]
impl PullsRead for Reader {
    async fn facts(
        &self,
        pull: &PullRef,
        reading: Reading,
        now: Timestamp,
    ) -> Result<PullFacts, Failure> {
        let client = self.client.with_share(reading.share);
        facts::read(&client, pull, reading.depth, now).await
    }

    async fn glance(&self, pull: &PullRef) -> Result<PullGlance, Failure> {
        facts::glance(&self.client, pull).await
    }

    async fn identify(&self, repo: &RepoName) -> Result<RepositoryIdentity, Failure> {
        let doing = format!("asking which repository {repo} is");
        let found: wire::Named = self
            .client
            .with_share(Share::Kept)
            .get(repo, &format!("/repos/{repo}"), &doing)
            .await?;
        let name = found
            .full_name
            .parse()
            .map_err(|error| failure(FailureClass::Garbled, &format!("{doing}: {error}")))?;
        let id = RepoId(found.id);
        self.client.note_identity(repo, id);
        Ok(RepositoryIdentity { id, name })
    }

    async fn default_branch(&self, repo: &RepoName) -> Result<BranchName, Failure> {
        default_branch(&self.client, repo).await
    }

    async fn check_logs(&self, facts: &PullFacts) -> Result<Vec<CheckLog>, Failure> {
        logs::read(&self.client, facts).await
    }

    async fn has_comment(&self, pull: &PullRef, marker: &str) -> Result<bool, Failure> {
        let doing = format!("looking for our comment on {pull}");
        let path = format!("/repos/{}/issues/{}/comments", pull.repo, pull.number);
        let end = hidden(marker);
        let comments = self
            .client
            .list::<Vec<wire::Comment>>(&pull.repo, &path, COMMENT_PAGES_MAX, &doing)
            .await?;
        // Only at the very end: a person who quotes our comment has it elsewhere.
        Ok(comments
            .iter()
            .filter_map(|comment| comment.body.as_deref())
            .any(|body| body.trim_end().ends_with(&end)))
    }

    async fn branch(&self, repo: &RepoName, branch: &BranchName) -> Result<BranchState, Failure> {
        branch::read(&self.client, repo, branch).await
    }

    async fn changed(
        &self,
        repo: &RepoName,
        between: CommitRange<'_>,
    ) -> Result<Vec<String>, Failure> {
        compare::changed(&self.client, repo, between).await
    }

    async fn is_base_merge(
        &self,
        repo: &RepoName,
        target: &CommitSha,
        between: CommitRange<'_>,
    ) -> Result<bool, Failure> {
        compare::is_base_merge(&self.client, repo, target, between).await
    }

    fn budgets(&self) -> Vec<GitHubBudget> {
        self.client.budgets()
    }

    fn usage(&self) -> GitHubUsage {
        self.client.usage()
    }
}
