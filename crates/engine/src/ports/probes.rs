//! The readers of `gaffer doctor`: adapters that show how a service sees us, and that can change nothing.

use async_trait::async_trait;
use domain::doctor::{CredentialIdentity, Hook, Reachability, RepositoryFacts};
use domain::facts::Fact;
use domain::failure::Failure;
use domain::ids::{AccountName, BranchName, RepoName};
use jiff::SignedDuration;
use url::Url;

/// Reads of Jules beyond [`SessionsRead`](super::SessionsRead).
#[async_trait]
pub trait JulesProbe: Send + Sync {
    /// The branches that Jules sees in a connected repository; `None` when it does not return them.
    async fn branches(
        &self,
        account: &AccountName,
        repo: &RepoName,
    ) -> Result<Option<Vec<BranchName>>, Failure>;

    /// How far Jules's clock was ahead of ours at its last answer; none before the first.
    fn ahead(&self) -> Option<SignedDuration>;
}

/// Reads of GitHub about the credential itself and about what it can see.
#[async_trait]
pub trait GithubProbe: Send + Sync {
    /// Who GitHub says that the credential is.
    async fn identity(&self) -> CredentialIdentity;

    /// The App's own webhook; `None` when there is no App or it has none.
    async fn app_hook(&self) -> Fact<Option<Hook>>;

    /// What GitHub shows of a repository and, there, of a base branch.
    async fn repository(&self, repo: &RepoName, base: &BranchName) -> RepositoryFacts;

    /// How far GitHub's clock was ahead of ours at its last answer; none before the first.
    fn ahead(&self) -> Option<SignedDuration>;
}

/// Checks whether an agent is reachable, without sending it anything.
#[async_trait]
pub trait AgentsProbe: Send + Sync {
    /// Whether the address filter lets us there, and a connection comes about.
    async fn reach(&self, url: &Url) -> Reachability;
}
