//! What a repository holds: commits, issues, pull requests, what is said about them, and deployments, with the users behind them.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::setup::ChangedFile;

/// A person or a bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) login: String,
    pub(crate) id: u64,
}

/// A commit; its files are its changes against its first parent.
#[derive(Clone, Debug)]
pub(crate) struct Commit {
    pub(crate) sha: String,
    pub(crate) parents: Vec<String>,
    pub(crate) message: String,
    pub(crate) author: User,
    pub(crate) at: Timestamp,
    pub(crate) files: Vec<ChangedFile>,
    /// Those of its files that equal their state at another commit.
    pub(crate) reverts: Option<Reverts>,
    pub(crate) is_by_github: bool,
    /// What only a commit of real git has.
    pub(crate) real: Option<Real>,
}

/// Files that a commit puts back.
#[derive(Clone, Debug)]
pub(crate) struct Reverts {
    pub(crate) paths: Vec<String>,
    /// The commit at which they were so.
    pub(crate) to: String,
}

/// Where git keeps a commit.
#[derive(Clone, Debug)]
pub(crate) struct Real {
    /// The numbers of the repositories whose git has it: those with equal files begin with equal commits.
    pub(crate) homes: BTreeSet<u64>,
    pub(crate) tree: String,
    /// One more than that of its parents: commits of one second have an order too.
    pub(crate) generation: u64,
}

/// What issues and pull requests share.
#[derive(Clone, Debug)]
pub(crate) struct Issue {
    pub(crate) id: u64,
    pub(crate) number: u64,
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) author: User,
    pub(crate) association: String,
    pub(crate) labels: Vec<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) closed_at: Option<Timestamp>,
    pub(crate) closed_by: Option<User>,
    /// GitHub's word for why it was closed, or that it was opened again; none of a pull request.
    pub(crate) state_reason: Option<String>,
}

/// What became of an issue that is not in its repository any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Gone {
    /// It was deleted.
    Deleted,
    /// It was moved to another repository, where it has another number.
    Transferred {
        /// The number of that repository.
        repo: u64,
        /// Its number there.
        number: u64,
    },
}

/// What only pull requests have.
#[derive(Clone, Debug)]
pub(crate) struct Pull {
    pub(crate) id: u64,
    pub(crate) number: u64,
    /// Lower-case full name of the repository the head lives in.
    pub(crate) head_repo: String,
    pub(crate) head_ref: String,
    pub(crate) head_sha: String,
    pub(crate) base_ref: String,
    /// The base's tip when the pull request was opened.
    pub(crate) opened_on: String,
    /// The base's tip when the pull request was closed; unused while it is open.
    pub(crate) closed_base_sha: String,
    pub(crate) draft: bool,
    pub(crate) merged: Option<Merged>,
    /// When head or base last moved, after which `mergeable` is recomputed.
    pub(crate) changed_at: Timestamp,
    pub(crate) forced_conflict: bool,
    pub(crate) stack: Option<Stack>,
    /// Files at the time of the merge, when head and base no longer differ.
    pub(crate) merged_files: Vec<ChangedFile>,
}

/// The place of a pull request in a stack.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    pub(crate) id: u64,
    /// Its number in the repository.
    pub(crate) number: u64,
    pub(crate) size: u64,
    /// 1 is the bottom.
    pub(crate) position: u64,
    /// The branch that the whole stack goes to.
    pub(crate) base_ref: String,
}

/// How a pull request was merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Merged {
    pub(crate) at: Timestamp,
    pub(crate) by: User,
    /// The commit on the base.
    pub(crate) sha: String,
    /// The head that was merged.
    pub(crate) head: String,
}

/// A comment on an issue or a pull request.
#[derive(Clone, Debug)]
pub(crate) struct Comment {
    pub(crate) id: u64,
    pub(crate) number: u64,
    pub(crate) author: User,
    pub(crate) association: String,
    pub(crate) body: String,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

/// A review of a pull request.
#[derive(Clone, Debug)]
pub(crate) struct Review {
    pub(crate) id: u64,
    pub(crate) number: u64,
    pub(crate) author: User,
    pub(crate) association: String,
    /// `APPROVED`, `CHANGES_REQUESTED` or `COMMENTED`.
    pub(crate) state: String,
    pub(crate) body: String,
    pub(crate) commit: String,
    pub(crate) at: Timestamp,
}

#[derive(Clone, Debug)]
pub(crate) struct Deployment {
    pub(crate) id: u64,
    pub(crate) sha: String,
    pub(crate) reference: String,
    pub(crate) environment: String,
    pub(crate) creator: User,
    pub(crate) created_at: Timestamp,
    /// Oldest first.
    pub(crate) statuses: Vec<DeploymentStatus>,
}

#[derive(Clone, Debug)]
pub(crate) struct DeploymentStatus {
    pub(crate) id: u64,
    pub(crate) state: DeploymentState,
    pub(crate) creator: User,
    pub(crate) at: Timestamp,
}

/// How a deployment goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeploymentState {
    /// It waits for its turn.
    Queued,
    /// It waits.
    Pending,
    /// It is being done.
    InProgress,
    /// It is done.
    Success,
    /// It failed.
    Failure,
    /// Something else went wrong.
    Error,
    /// A later one took its place.
    Inactive,
}

impl DeploymentState {
    /// The word of the REST API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Error => "error",
            Self::Inactive => "inactive",
        }
    }
}

impl User {
    /// A user by login; ids of well-known bots are the real ones, others follow from the login.
    pub(crate) fn named(login: &str) -> Self {
        let id = match login {
            "google-labs-jules[bot]" => 161_369_871,
            "github-actions[bot]" => 41_898_282,
            other => u64::from(hash_u32(other)),
        };
        Self {
            login: login.to_owned(),
            id,
        }
    }

    pub(crate) fn with_id(login: &str, id: u64) -> Self {
        let named = Self::named(login);
        Self {
            id: if id == 0 { named.id } else { id },
            ..named
        }
    }

    pub(crate) fn is_bot(&self) -> bool {
        self.login.ends_with("[bot]")
    }
}

impl Commit {
    /// The id of its tree; a commit that is made up has none of its own.
    pub(crate) fn tree(&self) -> &str {
        self.real.as_ref().map_or(&self.sha, |real| &real.tree)
    }
}

fn hash_u32(text: &str) -> u32 {
    let digest = Sha256::digest(text.as_bytes());
    digest
        .iter()
        .take(4)
        .fold(0, |sum, byte| (sum << 8) | u32::from(*byte))
}
