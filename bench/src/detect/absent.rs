//! GitHub and the agents, which have no part in these simulations: every call is refused.

use async_trait::async_trait;
use domain::delivery::{IssueRef, ProviderReport};
use domain::facts::PullFacts;
use domain::failure::{Failure, FailureClass};
use domain::github_access::{GitHubBudget, GitHubUsage};
use domain::ids::{AgentName, BranchName, CommitSha, PullRef, RepoName, RepositoryIdentity};
use domain::policy::MergeMethod;
use domain::redelivery::{DeliveryAttempt, DeliveryId, HookId, WebhookLog};
use domain::wake::{Notice, Notify};
use engine::ports::{
    AgentsWrite, AwaitedRun, BranchState, CheckLog, CommitDetails, CommitLine, CommitRange,
    Comparison, Delivered, Envelope, FoundPull, GitRead, GitWrite, HooksRead, HooksWrite,
    IssueComment, IssueFacts, IssuesRead, IssuesWrite, NewCommit, NewIssue, NewPull, NewStatus,
    PullGlance, PullsRead, PullsWrite, Reading, RootEntry,
};
use jiff::Timestamp;
use scaffold::tree::Tree;

/// The absent services.
pub(super) struct Absent;

fn absent<T>() -> Result<T, Failure> {
    let message = "this simulation has no GitHub and no agents";
    Err(Failure::new(FailureClass::Invalid, message).never_sent())
}

#[async_trait]
impl PullsRead for Absent {
    async fn facts(&self, _: &PullRef, _: Reading, _: Timestamp) -> Result<PullFacts, Failure> {
        absent()
    }

    async fn glance(&self, _: &PullRef) -> Result<PullGlance, Failure> {
        absent()
    }

    async fn identify(&self, _: &RepoName) -> Result<RepositoryIdentity, Failure> {
        absent()
    }

    async fn default_branch(&self, _: &RepoName) -> Result<BranchName, Failure> {
        absent()
    }

    async fn check_logs(&self, _: &PullFacts) -> Result<Vec<CheckLog>, Failure> {
        absent()
    }

    async fn has_comment(&self, _: &PullRef, _: &str) -> Result<bool, Failure> {
        absent()
    }

    async fn branch(&self, _: &RepoName, _: &BranchName) -> Result<BranchState, Failure> {
        absent()
    }

    async fn changed(&self, _: &RepoName, _: CommitRange<'_>) -> Result<Vec<String>, Failure> {
        absent()
    }

    async fn is_base_merge(
        &self,
        _: &RepoName,
        _: &CommitSha,
        _: CommitRange<'_>,
    ) -> Result<bool, Failure> {
        absent()
    }

    fn budgets(&self) -> Vec<GitHubBudget> {
        Vec::new()
    }

    fn usage(&self) -> GitHubUsage {
        GitHubUsage::default()
    }
}

#[async_trait]
impl PullsWrite for Absent {
    async fn merge(
        &self,
        _: &PullRef,
        _: &CommitSha,
        _: MergeMethod,
        _: Option<&str>,
    ) -> Result<CommitSha, Failure> {
        absent()
    }

    async fn mark_ready(&self, _: &PullRef, _: &str) -> Result<(), Failure> {
        absent()
    }

    async fn update_branch(&self, _: &PullRef, _: &CommitSha) -> Result<(), Failure> {
        absent()
    }

    async fn comment(&self, _: &PullRef, _: &str, _: &str) -> Result<(), Failure> {
        absent()
    }

    async fn label(&self, _: &PullRef, _: &str) -> Result<(), Failure> {
        absent()
    }

    async fn close(&self, _: &PullRef) -> Result<(), Failure> {
        absent()
    }

    async fn delete_branch(&self, _: &RepoName, _: &BranchName) -> Result<(), Failure> {
        absent()
    }
}

#[async_trait]
impl IssuesRead for Absent {
    async fn issues_since(&self, _: &RepoName, _: Timestamp) -> Result<Vec<IssueFacts>, Failure> {
        absent()
    }

    async fn issues_labelled(&self, _: &RepoName, _: &str) -> Result<Vec<IssueFacts>, Failure> {
        absent()
    }

    async fn own_markers(&self, _: &RepoName, _: &str) -> Result<Vec<String>, Failure> {
        absent()
    }

    async fn issue(&self, _: &IssueRef) -> Result<IssueFacts, Failure> {
        absent()
    }

    async fn marked_comment(&self, _: &IssueRef, _: &str) -> Result<Option<IssueComment>, Failure> {
        absent()
    }

    async fn workflow_run(
        &self,
        _: &RepoName,
        _: AwaitedRun<'_>,
    ) -> Result<ProviderReport, Failure> {
        absent()
    }

    async fn deployment(
        &self,
        _: &RepoName,
        _: &CommitSha,
        _: &str,
        _: Option<Timestamp>,
    ) -> Result<ProviderReport, Failure> {
        absent()
    }

    async fn commit_checks(
        &self,
        _: &RepoName,
        _: &CommitSha,
        _: Option<Timestamp>,
    ) -> Result<ProviderReport, Failure> {
        absent()
    }
}

#[async_trait]
impl IssuesWrite for Absent {
    async fn comment(&self, _: &IssueRef, _: &str, _: &str) -> Result<(), Failure> {
        absent()
    }

    async fn edit_comment(&self, _: &RepoName, _: u64, _: &str, _: &str) -> Result<(), Failure> {
        absent()
    }

    async fn close_issue(&self, _: &IssueRef) -> Result<(), Failure> {
        absent()
    }

    async fn dispatch_workflow(
        &self,
        _: &RepoName,
        _: &str,
        _: &BranchName,
    ) -> Result<(), Failure> {
        absent()
    }
}

#[async_trait]
impl HooksRead for Absent {
    /// There is no webhook, so there are no logs.
    async fn logs(&self, _: &[RepoName]) -> Result<Vec<WebhookLog>, Failure> {
        Ok(Vec::new())
    }

    async fn attempts(
        &self,
        _: &WebhookLog,
        _: Timestamp,
    ) -> Result<Option<Vec<DeliveryAttempt>>, Failure> {
        absent()
    }
}

#[async_trait]
impl HooksWrite for Absent {
    async fn redeliver(
        &self,
        _: &WebhookLog,
        _: Option<HookId>,
        _: DeliveryId,
    ) -> Result<(), Failure> {
        absent()
    }
}

#[async_trait]
impl AgentsWrite for Absent {
    async fn deliver(&self, _: &Envelope) -> Result<Delivered, Failure> {
        absent()
    }

    async fn notify(
        &self,
        _: &AgentName,
        _: Notify,
        _: &Notice,
        _: Timestamp,
    ) -> Result<Delivered, Failure> {
        absent()
    }
}

#[async_trait]
impl GitRead for Absent {
    async fn tip(&self, _: &RepoName, _: &BranchName) -> Result<Option<CommitSha>, Failure> {
        absent()
    }

    async fn root(&self, _: &RepoName, _: &CommitSha) -> Result<Vec<RootEntry>, Failure> {
        absent()
    }

    async fn tree(&self, _: &RepoName, _: &CommitSha, _: &[&str]) -> Result<Tree, Failure> {
        absent()
    }

    async fn compare(&self, _: &RepoName, _: CommitRange<'_>) -> Result<Comparison, Failure> {
        absent()
    }

    async fn merge_base(&self, _: &RepoName, _: CommitRange<'_>) -> Result<CommitSha, Failure> {
        absent()
    }

    async fn entries(&self, _: &RepoName, _: &CommitSha) -> Result<weave::tree::Tree, Failure> {
        absent()
    }

    async fn diff(&self, _: &RepoName, _: CommitRange<'_>) -> Result<Option<Vec<u8>>, Failure> {
        absent()
    }

    async fn blob(&self, _: &RepoName, _: weave::tree::BlobId) -> Result<Vec<u8>, Failure> {
        absent()
    }

    async fn commit_details(&self, _: &RepoName, _: &CommitSha) -> Result<CommitDetails, Failure> {
        absent()
    }

    async fn log(&self, _: &RepoName, _: &CommitSha, _: usize) -> Result<Vec<CommitLine>, Failure> {
        absent()
    }

    async fn pull_of(&self, _: &RepoName, _: &BranchName) -> Result<Option<FoundPull>, Failure> {
        absent()
    }
}

#[async_trait]
impl GitWrite for Absent {
    async fn commit(&self, _: &RepoName, _: &NewCommit) -> Result<CommitSha, Failure> {
        absent()
    }

    async fn create_branch(
        &self,
        _: &RepoName,
        _: &BranchName,
        _: &CommitSha,
    ) -> Result<(), Failure> {
        absent()
    }

    async fn move_branch(
        &self,
        _: &RepoName,
        _: &BranchName,
        _: &CommitSha,
    ) -> Result<(), Failure> {
        absent()
    }

    async fn edit_pull(&self, _: &PullRef, _: &str, _: &str) -> Result<(), Failure> {
        absent()
    }

    async fn unlabel(&self, _: &PullRef, _: &str) -> Result<(), Failure> {
        absent()
    }

    async fn open_pull(&self, _: &RepoName, _: &NewPull) -> Result<PullRef, Failure> {
        absent()
    }

    async fn set_status(&self, _: &RepoName, _: &CommitSha, _: &NewStatus) -> Result<(), Failure> {
        absent()
    }

    async fn open_issue(&self, _: &RepoName, _: &NewIssue) -> Result<u64, Failure> {
        absent()
    }

    async fn put_label(&self, _: &RepoName, _: &str, _: &str, _: &str) -> Result<(), Failure> {
        absent()
    }
}
