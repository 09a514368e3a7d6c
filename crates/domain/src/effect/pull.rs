//! Actions on pull requests and their branches.

use std::fmt;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::repo::of_weave;
use crate::facts::Base;
use crate::ids::{BranchName, CommitSha, PullRef, RepoName};
use crate::policy::MergeMethod;

/// An action on a pull request, or on its branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "pull_action")]
pub enum PullAction {
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
}

impl fmt::Display for PullAction {
    /// Its purpose: the text whose hash is the effect's id.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Merge { pull, sha, .. } => write!(f, "merge:{}@{sha}", key(pull)),
            Self::MarkReady { pull, sha, .. } => write!(f, "ready:{}@{sha}", key(pull)),
            Self::UpdateBranch { pull, sha } => write!(f, "update:{}@{sha}", key(pull)),
            Self::Comment { pull, cause, .. } => write!(f, "comment:{}:{cause}", key(pull)),
            Self::Label { pull, label, weave } => {
                write!(f, "label:{}:{label}{}", key(pull), of_weave(*weave))
            }
            Self::ClosePull { pull } => write!(f, "close:{}", key(pull)),
            Self::DeleteBranch { repo, branch, sha } => {
                write!(f, "unbranch:{}:{branch}@{sha}", repo.key())
            }
        }
    }
}

fn key(pull: &PullRef) -> String {
    format!("{}#{}", pull.repo.key(), pull.number)
}

/// GitHub wants a second between writes, and a branch is deleted right after a merge: reading it before that would be in vain.
const AFTER_MERGE: SignedDuration = SignedDuration::from_secs(2);

impl PullAction {
    /// Delay of the first attempt.
    pub(super) fn initial_delay(&self) -> SignedDuration {
        match self {
            Self::DeleteBranch { .. } => AFTER_MERGE,
            Self::Merge { .. }
            | Self::MarkReady { .. }
            | Self::UpdateBranch { .. }
            | Self::Comment { .. }
            | Self::Label { .. }
            | Self::ClosePull { .. } => SignedDuration::ZERO,
        }
    }

    /// Whether a repeated attempt would double the effect.
    pub(super) fn may_double(&self) -> bool {
        match self {
            Self::Comment { .. } => true,
            Self::Merge { .. }
            | Self::MarkReady { .. }
            | Self::UpdateBranch { .. }
            | Self::Label { .. }
            | Self::ClosePull { .. }
            | Self::DeleteBranch { .. } => false,
        }
    }

    /// Whether only a decision of its aggregate begins another attempt.
    pub(super) fn is_retried_by_decision(&self) -> bool {
        match self {
            Self::Merge { .. } => true,
            Self::MarkReady { .. }
            | Self::UpdateBranch { .. }
            | Self::Comment { .. }
            | Self::Label { .. }
            | Self::ClosePull { .. }
            | Self::DeleteBranch { .. } => false,
        }
    }

    /// Whether it names its pull request by its number alone.
    pub(super) fn names_by_number(&self) -> bool {
        match self {
            Self::Comment { .. } | Self::Label { .. } | Self::ClosePull { .. } => true,
            Self::Merge { .. }
            | Self::MarkReady { .. }
            | Self::UpdateBranch { .. }
            | Self::DeleteBranch { .. } => false,
        }
    }

    /// Its name in lists of effects and in answers.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Merge { .. } => "merge",
            Self::MarkReady { .. } => "mark_ready",
            Self::UpdateBranch { .. } => "update_branch",
            Self::Comment { .. } => "comment",
            Self::Label { .. } => "label",
            Self::ClosePull { .. } => "close_pull",
            Self::DeleteBranch { .. } => "delete_branch",
        }
    }

    /// A description for people.
    pub fn does(&self) -> String {
        match self {
            Self::Merge { pull, .. } => format!("merge {pull}"),
            Self::MarkReady { pull, .. } => format!("mark {pull} ready for review"),
            Self::UpdateBranch { pull, .. } => format!("update the branch of {pull}"),
            Self::Comment { pull, .. } => format!("comment on {pull}"),
            Self::Label { pull, label, .. } => format!("put the label `{label}` on {pull}"),
            Self::ClosePull { pull } => format!("close {pull}"),
            Self::DeleteBranch { repo, branch, .. } => {
                format!("delete the branch `{branch}` of {repo}")
            }
        }
    }
}
