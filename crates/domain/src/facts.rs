//! What GitHub shows of a pull request, with "we could not know" kept apart from "there is none".

#[cfg(test)]
pub(crate) mod fixture;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ids::{BranchName, CommitSha, PullRef, RepoId, RepoName, RepositoryIdentity};
use crate::web_page::WebPage;

/// A fact from outside that a merge depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact<T> {
    /// Read to its last page.
    Known(T),
    /// The credential may not read it.
    Forbidden {
        /// The missing permission, in GitHub's words, for example `Checks: read`.
        permission: String,
    },
    /// Missing, cut short, null or not answered.
    Unknown {
        /// The error, for people.
        why: String,
    },
}

impl<T> Fact<T> {
    /// The value, if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Forbidden { .. } | Self::Unknown { .. } => None,
        }
    }
}

/// Everything a merge is judged by, read within a few seconds for one head SHA.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullFacts {
    /// Which pull request.
    pub pull: PullRef,
    /// Which repository answered.
    pub repo: RepositoryIdentity,
    /// When the first of these reads began: the facts are as old as their oldest part.
    pub read_at: Timestamp,
    /// Open, closed or merged.
    pub state: PullState,
    /// Login of the account that merged it, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_by: Option<String>,
    /// The head to merge.
    pub head: Head,
    /// The base to merge into.
    pub base: Base,
    /// Whether it is a draft.
    pub draft: bool,
    /// Its position in a stack of pull requests, where 1 is the bottom; `None` when it is in no stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<u64>,
    /// GitHub's own word on conflicts; `Unknown` while it is null.
    pub mergeable: Fact<bool>,
    /// GraphQL node id, needed to mark it ready for review.
    pub node_id: String,
    /// Who opened it.
    pub author: Author,
    /// Title, untrusted.
    pub title: String,
    /// Body, untrusted; linking reads it.
    pub body: String,
    /// Names of its labels.
    pub labels: Vec<String>,
    /// Check runs and commit statuses of the head SHA, all pages of both.
    pub checks: Fact<Vec<Check>>,
    /// Reviews, all pages, oldest first.
    pub reviews: Fact<Vec<Review>>,
    /// Changed paths, all pages.
    pub files: Fact<Vec<String>>,
    /// What the base branch demands.
    pub demands: Fact<Demands>,
    /// Why checks may be missing; read only when there are none.
    pub ci: Option<CiClues>,
    /// How much of it was read; not part of the stored evidence.
    #[serde(skip)]
    pub depth: ReadDepth,
}

/// How much of a pull request is read. A merge is judged by no less than all of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadDepth {
    /// The pull request itself, and nothing of its checks, reviews, files and demands.
    Outline,
    /// Everything that a merge is judged by.
    #[default]
    Whole,
    /// That, and why checks are missing if there are none.
    WithClues,
}

impl PullFacts {
    /// Whether its head is in the repository it wants to change, by name and by number: a fork may get any name.
    pub fn is_from_base_repository(&self) -> bool {
        let same_name = self.head.repo.as_ref() == Some(&self.pull.repo);
        same_name && self.head.repo_id == Some(self.repo.id)
    }
}

/// State of the pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullState {
    /// Open.
    Open,
    /// Closed without a merge.
    Closed,
    /// Merged.
    Merged {
        /// The commit on the base branch, if GitHub returns it.
        commit: Option<CommitSha>,
    },
}

/// The branch that a pull request offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Its commit.
    pub sha: CommitSha,
    /// Its name.
    pub branch: BranchName,
    /// The repository it lives in; `None` once a fork is deleted.
    pub repo: Option<RepoName>,
    /// The number of that repository.
    pub repo_id: Option<RepoId>,
}

/// The branch that a pull request wants to change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// Its name.
    pub branch: BranchName,
    /// Its commit when the pull request was read.
    pub sha: CommitSha,
}

/// Who opened a pull request. The login proves nothing: it is shown, not trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// Login, for people.
    pub login: String,
    /// GitHub's numeric id.
    pub id: u64,
}

/// GitHub's numeric user id of `github-actions[bot]`: pull requests opened by the Actions token start no workflows.
pub const ACTIONS_BOT_ID: u64 = 41_898_282;

/// One check run or one commit status of the head SHA.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Its name, or the status's context.
    pub name: String,
    /// The App that reported it; `None` for a commit status.
    pub app: Option<u64>,
    /// How far it is.
    pub outcome: CheckOutcome,
    /// GitHub's id of the check run, for its log; `None` for a commit status.
    pub id: Option<u64>,
}

impl Check {
    /// Its page; a commit status has none of its own.
    pub fn page(&self, repo: &RepoName) -> Option<WebPage> {
        let address = |id| format!("https://github.com/{repo}/runs/{id}");
        self.id.and_then(|id| WebPage::from_service(&address(id)))
    }
}

/// How far a check is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// Queued, waiting, pending or running.
    Pending,
    /// Succeeded, neutral or skipped.
    Passed(Pass),
    /// Ended in any other way, also in one this version does not know.
    Failed,
    /// Waits for a person to approve the workflow run.
    ActionRequired,
}

impl CheckOutcome {
    /// In one word, as it travels.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Passed(Pass::Success) => "passed",
            Self::Passed(Pass::Neutral) => "neutral",
            Self::Passed(Pass::Skipped) => "skipped",
            Self::Failed => "failed",
            Self::ActionRequired => "action_required",
        }
    }
}

/// The three ways to pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// It ran and succeeded.
    Success,
    /// It ran and has no opinion.
    Neutral,
    /// It did not run, by its own conditions.
    Skipped,
}

/// One review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// GitHub's numeric id of the reviewer.
    pub reviewer: u64,
    /// Login of a person of the repository, for people; none for anyone else and for bots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// The reviewed commit, where GitHub names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitSha>,
    /// The verdict.
    pub verdict: ReviewVerdict,
}

/// What a review says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewVerdict {
    /// Approved.
    Approved,
    /// Changes requested.
    ChangesRequested,
    /// An earlier verdict was dismissed.
    Dismissed,
    /// A comment, pending, or a kind this version does not know.
    Comment,
}

/// What the rules of the base branch demand before a merge.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Demands {
    /// Checks that must have passed.
    pub checks: Vec<RequiredCheck>,
    /// How many approvals.
    pub approvals: u32,
    /// Whether the head must contain the newest base.
    pub up_to_date: bool,
    /// Whether the branch merges through a merge queue.
    pub merge_queue: bool,
    /// How many commits of the base the head lacks; `None` when that was not requested.
    pub behind_by: Option<u64>,
    /// Why these may not be all: classic protection that could not be read.
    pub unread: Option<UnreadReason>,
}

/// Why a fact could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnreadReason {
    /// The credential may not read it.
    Forbidden {
        /// The missing permission, in GitHub's words.
        permission: String,
    },
    /// It did not come whole.
    Unknown {
        /// The error, for people.
        why: String,
    },
}

/// One check that must have passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequiredCheck {
    /// Its name.
    pub name: String,
    /// The only App whose report counts, if the rule names one.
    pub app: Option<u64>,
}

/// Why no check has appeared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CiClues {
    /// Whether a workflow run waits for a person's approval.
    pub approval_pending: bool,
    /// How many workflows the repository has; `None` when it could not be read.
    pub workflows: Option<u64>,
}
