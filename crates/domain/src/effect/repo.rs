//! Actions on a repository's files, branches and labels.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ids::{BranchName, CommitSha, JobId, RepoName};
use crate::pipeline::Recipe;
use crate::pull::OwnOutcome;

/// An action on a repository's files and branches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "repo_action")]
pub enum RepoAction {
    /// Open a pull request of Gaffer's own, with one commit.
    Propose {
        /// The job that it belongs to.
        job: JobId,
        /// The repository.
        repo: RepoName,
        /// The branch to change.
        base: BranchName,
        /// What it changes.
        recipe: Recipe,
    },
    /// Show the result of a check of our own on the commit that it is about.
    Status {
        /// The repository.
        repo: RepoName,
        /// The commit.
        sha: CommitSha,
        /// The name of the check.
        context: String,
        /// How it ended.
        outcome: OwnOutcome,
        /// What it found, in a line.
        description: String,
        /// What it depended on apart from the commit: the same check may end otherwise on another base.
        rules: String,
    },
}

impl fmt::Display for RepoAction {
    /// Its purpose: the text whose hash is the effect's id.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Propose { job, .. } => write!(f, "propose:{job}"),
            Self::Status {
                sha,
                context,
                outcome,
                rules,
                ..
            } => write!(f, "status:{sha}:{context}:{}:{rules}", outcome.word()),
        }
    }
}

impl RepoAction {
    /// A description for people.
    pub fn does(&self) -> String {
        match self {
            Self::Propose { repo, base, .. } => {
                format!("open a pull request for the branch `{base}` of {repo}")
            }
            Self::Status { sha, context, .. } => {
                format!("show the check {context} on commit {sha}")
            }
        }
    }
}
