//! Actions on issues, and on what deploys.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::delivery::IssueRef;
use crate::ids::{BranchName, CommitSha, RepoName};

/// An action on an issue, or on what deploys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "tracker")]
pub enum TrackerAction {
    /// Say on an issue how far its delivery is: in the one comment of ours, which is edited.
    Tell {
        /// The issue.
        issue: IssueRef,
        /// The whole text of the comment.
        text: String,
        /// Which one of all that the issue is told: each is written once.
        cause: String,
    },
    /// Close an issue as completed.
    CloseIssue {
        /// The issue.
        issue: IssueRef,
    },
    /// Start a workflow.
    DispatchWorkflow {
        /// The repository.
        repo: RepoName,
        /// The file of the workflow.
        file: String,
        /// The branch on which it runs.
        branch: BranchName,
        /// What for: the same cause is dispatched once.
        cause: String,
        /// Since when its run is awaited. What began before is another run.
        since: Timestamp,
        /// The merge that its run has to hold, where its commit is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        merge: Option<CommitSha>,
    },
}

impl fmt::Display for TrackerAction {
    /// Its purpose: the text whose hash is the effect's id.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tell { issue, cause, .. } => write!(f, "tell:{}:{cause}", key(issue)),
            Self::CloseIssue { issue } => write!(f, "close-issue:{}", key(issue)),
            Self::DispatchWorkflow {
                repo, file, cause, ..
            } => write!(f, "dispatch:{}:{file}:{cause}", repo.key()),
        }
    }
}

fn key(issue: &IssueRef) -> String {
    format!("{}#{}", issue.repo.key(), issue.number)
}

impl TrackerAction {
    /// Whether a repeated attempt would double the effect.
    pub(super) fn may_double(&self) -> bool {
        match self {
            // The comment is found by its marker before it is written.
            Self::Tell { .. } | Self::CloseIssue { .. } => false,
            Self::DispatchWorkflow { .. } => true,
        }
    }

    /// Its name in lists of effects and in answers.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Tell { .. } => "tell_issue",
            Self::CloseIssue { .. } => "close_issue",
            Self::DispatchWorkflow { .. } => "dispatch_workflow",
        }
    }

    /// A description for people.
    pub fn does(&self) -> String {
        match self {
            Self::Tell { issue, .. } => format!("say on {issue} how far it is"),
            Self::CloseIssue { issue } => format!("close {issue}"),
            Self::DispatchWorkflow { repo, file, .. } => {
                format!("start the workflow `{file}` of {repo}")
            }
        }
    }
}
