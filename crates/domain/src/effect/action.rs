//! Actions outside, and their names: the same name is the same effect.

use std::fmt;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::TrackerAction;
use super::repo::{RepoAction, of_weave};
use crate::facts::Base;
use crate::ids::{BranchName, CommitSha, JobId, PlanId, PullRef, RepoName, SessionId};
use crate::policy::MergeMethod;

/// An action outside, complete: the dispatcher has nothing left to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum Action {
    /// Create the session of a job's attempt.
    CreateSession {
        /// The job.
        job: JobId,
        /// Which attempt.
        attempt: u32,
    },
    /// Send a message to a session.
    Say {
        /// The session.
        session: SessionId,
        /// The text; never empty.
        text: String,
        /// Its purpose: the same cause is sent once.
        cause: String,
    },
    /// Approve a plan.
    ApprovePlan {
        /// The session.
        session: SessionId,
        /// Which plan.
        plan: PlanId,
    },
    /// Put a session away.
    Archive {
        /// The session.
        session: SessionId,
    },
    /// Merge a pull request at one SHA.
    Merge {
        /// The pull request.
        pull: PullRef,
        /// The judged head; GitHub refuses any other.
        sha: CommitSha,
        /// The judged base, to compare with afterwards.
        base: Base,
        /// How.
        method: MergeMethod,
        /// The first line of its commit; GitHub's own without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// Mark a draft ready for review.
    MarkReady {
        /// The pull request.
        pull: PullRef,
        /// Its GraphQL id.
        node_id: String,
        /// The head it was seen at.
        sha: CommitSha,
    },
    /// Merge the base branch into the head branch.
    UpdateBranch {
        /// The pull request.
        pull: PullRef,
        /// The head it must still have.
        sha: CommitSha,
    },
    /// Comment on a pull request.
    Comment {
        /// The pull request.
        pull: PullRef,
        /// The text.
        text: String,
        /// Its purpose: the same cause is sent once.
        cause: String,
    },
    /// Put a label on a pull request.
    Label {
        /// The pull request.
        pull: PullRef,
        /// The label.
        label: String,
        /// The weave that asks for it: each puts it on once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weave: Option<u32>,
    },
    /// Close a pull request without merging it.
    ClosePull {
        /// The pull request.
        pull: PullRef,
    },
    /// Delete a branch of no more use, if it still has the commit that we know and nothing is based on it.
    DeleteBranch {
        /// The repository of the branch.
        repo: RepoName,
        /// The branch.
        branch: BranchName,
        /// The head that was merged, or that was never proposed.
        sha: CommitSha,
    },
    /// Do something to a repository's files and branches.
    Repo(RepoAction),
    /// Do something to an issue, or to what deploys.
    Tracker(TrackerAction),
}

impl fmt::Display for Action {
    /// Its purpose, without versions: the text whose hash is the effect's id.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateSession { job, attempt } => write!(f, "create:{job}#{attempt}"),
            Self::Say { session, cause, .. } => write!(f, "say:{session}:{cause}"),
            Self::ApprovePlan { session, plan } => write!(f, "approve:{session}:{plan}"),
            Self::Archive { session } => write!(f, "archive:{session}"),
            Self::Merge { pull, sha, .. } => write!(f, "merge:{}@{sha}", key(pull)),
            Self::MarkReady { pull, sha, .. } => write!(f, "ready:{}@{sha}", key(pull)),
            Self::UpdateBranch { pull, sha } => write!(f, "update:{}@{sha}", key(pull)),
            Self::Comment { pull, cause, .. } => write!(f, "comment:{}:{cause}", key(pull)),
            Self::Label { pull, label, weave } => {
                write!(f, "label:{}:{label}{}", key(pull), of_weave(*weave))
            }
            Self::ClosePull { pull } => write!(f, "close:{}", key(pull)),
            Self::DeleteBranch {
                repo, branch, sha, ..
            } => write!(f, "unbranch:{}:{branch}@{sha}", repo.key()),
            Self::Repo(action) => action.fmt(f),
            Self::Tracker(action) => action.fmt(f),
        }
    }
}

fn key(pull: &PullRef) -> String {
    format!("{}#{}", pull.repo.key(), pull.number)
}

/// GitHub wants a second between writes, and a branch is deleted right after a merge: reading it before that would be in vain.
const AFTER_MERGE: SignedDuration = SignedDuration::from_secs(2);

impl Action {
    /// Delay of the first attempt.
    pub(super) fn initial_delay(&self) -> SignedDuration {
        match self {
            Self::DeleteBranch { .. } => AFTER_MERGE,
            Self::CreateSession { .. }
            | Self::Say { .. }
            | Self::ApprovePlan { .. }
            | Self::Archive { .. }
            | Self::Merge { .. }
            | Self::MarkReady { .. }
            | Self::UpdateBranch { .. }
            | Self::Comment { .. }
            | Self::Label { .. }
            | Self::ClosePull { .. }
            | Self::Repo(_)
            | Self::Tracker(_) => SignedDuration::ZERO,
        }
    }

    /// Its name in lists of effects and in answers.
    pub fn word(&self) -> &'static str {
        match self {
            Self::CreateSession { .. } => "create_session",
            Self::Say { .. } => "say",
            Self::ApprovePlan { .. } => "approve_plan",
            Self::Archive { .. } => "archive",
            Self::Merge { .. } => "merge",
            Self::MarkReady { .. } => "mark_ready",
            Self::UpdateBranch { .. } => "update_branch",
            Self::Comment { .. } => "comment",
            Self::Label { .. } => "label",
            Self::ClosePull { .. } => "close_pull",
            Self::DeleteBranch { .. } => "delete_branch",
            Self::Repo(action) => action.word(),
            Self::Tracker(action) => action.word(),
        }
    }

    /// A description for people.
    pub fn does(&self) -> String {
        match self {
            Self::CreateSession { .. } => "create a session".to_owned(),
            Self::Say { .. } => "send the session a message".to_owned(),
            Self::ApprovePlan { .. } => "approve the plan".to_owned(),
            Self::Archive { .. } => "archive the session".to_owned(),
            Self::Merge { pull, .. } => format!("merge {pull}"),
            Self::MarkReady { pull, .. } => format!("mark {pull} ready for review"),
            Self::UpdateBranch { pull, .. } => format!("update the branch of {pull}"),
            Self::Comment { pull, .. } => format!("comment on {pull}"),
            Self::Label { pull, label, .. } => format!("put the label `{label}` on {pull}"),
            Self::ClosePull { pull } => format!("close {pull}"),
            Self::DeleteBranch { repo, branch, .. } => {
                format!("delete the branch `{branch}` of {repo}")
            }
            Self::Repo(action) => action.does(),
            Self::Tracker(action) => action.does(),
        }
    }

    /// Whether it is done on GitHub; else it is done on Jules.
    pub fn is_on_github(&self) -> bool {
        match self {
            Self::CreateSession { .. }
            | Self::Say { .. }
            | Self::ApprovePlan { .. }
            | Self::Archive { .. } => false,
            Self::Merge { .. }
            | Self::MarkReady { .. }
            | Self::UpdateBranch { .. }
            | Self::Comment { .. }
            | Self::Label { .. }
            | Self::ClosePull { .. }
            | Self::DeleteBranch { .. }
            | Self::Repo(_)
            | Self::Tracker(_) => true,
        }
    }

    /// How long to wait before a read settles an unknown outcome: Jules's lists lag behind creates, and activities
    /// behind messages.
    pub fn settle_after(&self) -> SignedDuration {
        match self {
            Self::CreateSession { .. } => SignedDuration::from_secs(180),
            Self::Say { .. } | Self::ApprovePlan { .. } => SignedDuration::from_secs(60),
            Self::Archive { .. }
            | Self::Merge { .. }
            | Self::MarkReady { .. }
            | Self::UpdateBranch { .. }
            | Self::Comment { .. }
            | Self::Label { .. }
            | Self::ClosePull { .. }
            | Self::DeleteBranch { .. }
            | Self::Repo(_)
            | Self::Tracker(_) => SignedDuration::from_secs(10),
        }
    }
}
