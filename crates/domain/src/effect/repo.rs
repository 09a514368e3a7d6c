//! Actions on a repository's files, branches and labels.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ids::{BranchName, CommitSha, JobId, PullRef, RepoName, SprintNumber};
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
        /// The pull request.
        pull: PullRef,
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
    /// Open an issue, once.
    OpenIssue {
        /// The job that removes what it is made of, once it is open.
        job: JobId,
        /// The repository.
        repo: RepoName,
        /// Its title.
        title: String,
        /// Its text.
        body: String,
        /// Its label.
        label: String,
        /// By what it is found again.
        marker: String,
    },
    /// Make a label of the repository, or give it this colour and description.
    PutLabel {
        /// The job whose run makes the labels.
        job: JobId,
        /// The repository.
        repo: RepoName,
        /// Its name.
        name: String,
        /// Its colour, as six hex digits.
        colour: String,
        /// What it means.
        description: String,
    },
    /// Weave what the members of a sprint made, and push it.
    Weave {
        /// The job of the one pull request.
        job: JobId,
        /// The repository.
        repo: RepoName,
        /// The sprint.
        sprint: SprintNumber,
        /// Which of its weaves.
        weave: u32,
    },
    /// Take a label off a pull request.
    Unlabel {
        /// The pull request.
        pull: PullRef,
        /// The label.
        label: String,
        /// The weave that put it on: it is taken off once for each.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weave: Option<u32>,
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
            Self::OpenIssue { marker, .. } => write!(f, "issue:{marker}"),
            Self::PutLabel { job, name, .. } => write!(f, "put-label:{job}:{name}"),
            Self::Weave { job, weave, .. } => write!(f, "weave:{job}:{weave}"),
            Self::Unlabel { pull, label, weave } => {
                let (repo, number) = (pull.repo.key(), pull.number);
                write!(f, "unlabel:{repo}#{number}:{label}{}", of_weave(*weave))
            }
        }
    }
}

/// What tells the labels of one weave from those of others.
pub(super) fn of_weave(weave: Option<u32>) -> String {
    weave.map_or_else(String::new, |weave| format!("@{weave}"))
}

impl RepoAction {
    /// Whether it names neither a commit nor anything else that only one repository has.
    pub(super) fn names_by_number(&self) -> bool {
        match self {
            Self::OpenIssue { .. } | Self::PutLabel { .. } | Self::Unlabel { .. } => true,
            Self::Propose { .. } | Self::Status { .. } | Self::Weave { .. } => false,
        }
    }

    /// Its name in lists of effects and in answers.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Propose { .. } => "open_pull",
            Self::Status { .. } => "set_status",
            Self::OpenIssue { .. } => "open_issue",
            Self::PutLabel { .. } => "put_label",
            Self::Weave { .. } => "weave",
            Self::Unlabel { .. } => "unlabel",
        }
    }

    /// A description for people.
    pub fn does(&self) -> String {
        match self {
            Self::Propose { repo, base, .. } => {
                format!("open a pull request for the branch `{base}` of {repo}")
            }
            Self::Status { sha, context, .. } => {
                format!("show the check {context} on commit {sha}")
            }
            Self::OpenIssue { repo, title, .. } => format!("open the issue `{title}` in {repo}"),
            Self::PutLabel { repo, name, .. } => format!("make the label `{name}` of {repo}"),
            Self::Weave { repo, sprint, .. } => format!("weave sprint {sprint} of {repo}"),
            Self::Unlabel { pull, label, .. } => format!("take the label `{label}` off {pull}"),
        }
    }
}
