//! The writers of a mortal process: each writing call is an act that the process may not survive.

use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use domain::delivery::IssueRef;
use domain::failure::{Failure, FailureClass};
use domain::ids::{AccountName, AgentName, BranchName, CommitSha, PullRef, RepoName, SessionId};
use domain::policy::MergeMethod;
use domain::redelivery::{DeliveryId, HookId, WebhookLog};
use domain::session::SessionView;
use domain::wake::{Notice, Notify};
use engine::dispatcher::Writers;
use engine::ports::{
    AgentsWrite, Delivered, Envelope, GitWrite, HooksWrite, IssuesWrite, NewCommit, NewIssue,
    NewPull, NewSession, NewStatus, PullsWrite, SessionsWrite,
};
use jiff::Timestamp;

use super::fate::{Acted, Fate};

/// Wraps all writing adapters.
pub(super) struct Mortal<T: ?Sized> {
    real: Arc<T>,
    fate: Fate,
}

/// The same writers, held by a process that may die.
pub(super) fn mortal(writers: Writers, fate: &Fate) -> Writers {
    Writers {
        sessions: Arc::new(Mortal {
            real: writers.sessions,
            fate: fate.clone(),
        }),
        pulls: Arc::new(Mortal {
            real: writers.pulls,
            fate: fate.clone(),
        }),
        issues: Arc::new(Mortal {
            real: writers.issues,
            fate: fate.clone(),
        }),
        git: Arc::new(Mortal {
            real: writers.git,
            fate: fate.clone(),
        }),
        hooks: Arc::new(Mortal {
            real: writers.hooks,
            fate: fate.clone(),
        }),
        agents: Arc::new(Mortal {
            real: writers.agents,
            fate: fate.clone(),
        }),
    }
}

impl<T: ?Sized> Mortal<T> {
    async fn act<A>(
        &self,
        name: &str,
        call: impl Future<Output = Result<A, Failure>>,
    ) -> Result<A, Failure> {
        let dead = || Failure::new(FailureClass::Network, "the process is dead");
        match self.fate.act(name, call).await {
            Acted::Answered(answer) => answer,
            Acted::Never => Err(dead().never_sent()),
            Acted::Unheard => Err(dead()),
        }
    }
}

#[async_trait]
impl GitWrite for Mortal<dyn GitWrite> {
    async fn commit(&self, repo: &RepoName, commit: &NewCommit) -> Result<CommitSha, Failure> {
        self.act("commit", self.real.commit(repo, commit)).await
    }

    async fn create_branch(
        &self,
        repo: &RepoName,
        branch: &BranchName,
        commit: &CommitSha,
    ) -> Result<(), Failure> {
        let call = self.real.create_branch(repo, branch, commit);
        self.act("create_branch", call).await
    }

    async fn move_branch(
        &self,
        repo: &RepoName,
        branch: &BranchName,
        commit: &CommitSha,
    ) -> Result<(), Failure> {
        let call = self.real.move_branch(repo, branch, commit);
        self.act("move_branch", call).await
    }

    async fn edit_pull(&self, pull: &PullRef, title: &str, body: &str) -> Result<(), Failure> {
        self.act("edit_pull", self.real.edit_pull(pull, title, body))
            .await
    }

    async fn unlabel(&self, pull: &PullRef, label: &str) -> Result<(), Failure> {
        self.act("unlabel", self.real.unlabel(pull, label)).await
    }

    async fn open_pull(&self, repo: &RepoName, pull: &NewPull) -> Result<PullRef, Failure> {
        self.act("open_pull", self.real.open_pull(repo, pull)).await
    }

    async fn set_status(
        &self,
        repo: &RepoName,
        commit: &CommitSha,
        status: &NewStatus,
    ) -> Result<(), Failure> {
        let call = self.real.set_status(repo, commit, status);
        self.act("set_status", call).await
    }

    async fn open_issue(&self, repo: &RepoName, issue: &NewIssue) -> Result<u64, Failure> {
        let call = self.real.open_issue(repo, issue);
        self.act("open_issue", call).await
    }

    async fn put_label(
        &self,
        repo: &RepoName,
        name: &str,
        colour: &str,
        description: &str,
    ) -> Result<(), Failure> {
        let call = self.real.put_label(repo, name, colour, description);
        self.act("put_label", call).await
    }
}

#[async_trait]
impl SessionsWrite for Mortal<dyn SessionsWrite> {
    async fn create(
        &self,
        account: &AccountName,
        session: &NewSession,
    ) -> Result<SessionView, Failure> {
        self.act("create", self.real.create(account, session)).await
    }

    async fn send(
        &self,
        account: &AccountName,
        session: &SessionId,
        text: &str,
    ) -> Result<(), Failure> {
        self.act("say", self.real.send(account, session, text))
            .await
    }

    async fn approve(&self, account: &AccountName, session: &SessionId) -> Result<(), Failure> {
        self.act("approve", self.real.approve(account, session))
            .await
    }

    async fn archive(&self, account: &AccountName, session: &SessionId) -> Result<(), Failure> {
        self.act("archive", self.real.archive(account, session))
            .await
    }

    async fn unarchive(&self, account: &AccountName, session: &SessionId) -> Result<(), Failure> {
        self.act("unarchive", self.real.unarchive(account, session))
            .await
    }

    async fn delete(&self, account: &AccountName, session: &SessionId) -> Result<(), Failure> {
        self.act("delete", self.real.delete(account, session)).await
    }
}

#[async_trait]
impl PullsWrite for Mortal<dyn PullsWrite> {
    async fn merge(
        &self,
        pull: &PullRef,
        sha: &CommitSha,
        method: MergeMethod,
        title: Option<&str>,
    ) -> Result<CommitSha, Failure> {
        let call = self.real.merge(pull, sha, method, title);
        self.act("merge", call).await
    }

    async fn mark_ready(&self, pull: &PullRef, node_id: &str) -> Result<(), Failure> {
        self.act("ready", self.real.mark_ready(pull, node_id)).await
    }

    async fn update_branch(&self, pull: &PullRef, sha: &CommitSha) -> Result<(), Failure> {
        self.act("update", self.real.update_branch(pull, sha)).await
    }

    async fn comment(&self, pull: &PullRef, text: &str, marker: &str) -> Result<(), Failure> {
        self.act("comment", self.real.comment(pull, text, marker))
            .await
    }

    async fn label(&self, pull: &PullRef, label: &str) -> Result<(), Failure> {
        self.act("label", self.real.label(pull, label)).await
    }

    async fn close(&self, pull: &PullRef) -> Result<(), Failure> {
        self.act("close", self.real.close(pull)).await
    }

    async fn delete_branch(&self, repo: &RepoName, branch: &BranchName) -> Result<(), Failure> {
        self.act("unbranch", self.real.delete_branch(repo, branch))
            .await
    }
}

#[async_trait]
impl IssuesWrite for Mortal<dyn IssuesWrite> {
    async fn comment(&self, issue: &IssueRef, text: &str, marker: &str) -> Result<(), Failure> {
        self.act("tell", self.real.comment(issue, text, marker))
            .await
    }

    async fn edit_comment(
        &self,
        repo: &RepoName,
        comment: u64,
        text: &str,
        marker: &str,
    ) -> Result<(), Failure> {
        let call = self.real.edit_comment(repo, comment, text, marker);
        self.act("tell again", call).await
    }

    async fn close_issue(&self, issue: &IssueRef) -> Result<(), Failure> {
        self.act("close issue", self.real.close_issue(issue)).await
    }

    async fn dispatch_workflow(
        &self,
        repo: &RepoName,
        file: &str,
        branch: &BranchName,
    ) -> Result<(), Failure> {
        self.act("dispatch", self.real.dispatch_workflow(repo, file, branch))
            .await
    }
}

#[async_trait]
impl HooksWrite for Mortal<dyn HooksWrite> {
    async fn redeliver(
        &self,
        log: &WebhookLog,
        hook: Option<HookId>,
        id: DeliveryId,
    ) -> Result<(), Failure> {
        self.act("redeliver", self.real.redeliver(log, hook, id))
            .await
    }
}

#[async_trait]
impl AgentsWrite for Mortal<dyn AgentsWrite> {
    async fn deliver(&self, envelope: &Envelope) -> Result<Delivered, Failure> {
        self.act("deliver", self.real.deliver(envelope)).await
    }

    async fn notify(
        &self,
        name: &AgentName,
        notify: Notify,
        notice: &Notice,
        at: Timestamp,
    ) -> Result<Delivered, Failure> {
        let call = self.real.notify(name, notify, notice, at);
        self.act("notify", call).await
    }
}
