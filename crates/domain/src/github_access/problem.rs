//! Obstacles to work on GitHub: a code for programs and a sentence that says what to do.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{RenamedRepository, RepositoryAccess};
use crate::advice::{Advice, Next};
use crate::ids::{RepoId, RepoName};

/// An obstacle and its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessProblem {
    /// What.
    #[serde(flatten)]
    pub obstacle: AccessProblemKind,
    /// Since when.
    pub since: Timestamp,
    /// What GitHub said, fit to be shown; empty where it said nothing.
    pub said: String,
    /// Whether it was announced.
    pub told: bool,
}

/// The kind of obstacle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "obstacle")]
pub enum AccessProblemKind {
    /// GitHub does not take the credential.
    SignIn,
    /// GitHub knows the credential and does not let it work in this repository.
    Blocked,
    /// GitHub shows no such repository.
    Missing,
    /// Another repository bears the name now.
    Replaced {
        /// The number of the one that bears it.
        by: RepoId,
        /// The number of the one that is meant.
        was: RepoId,
    },
    /// It was renamed before its first reading, so it is unknown whether it is the expected one.
    Moved {
        /// Its present name.
        to: RepoName,
    },
}

impl AccessProblemKind {
    /// For programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::SignIn => "github_sign_in",
            Self::Blocked => "github_blocked",
            Self::Missing => "github_missing",
            Self::Replaced { .. } => "github_replaced",
            Self::Moved { .. } => "github_moved",
        }
    }

    /// Whether this was to be expected after another one: who hides a repository answers 403 and 404 in turn.
    pub(super) fn is_no_news_after(&self, known: &Self) -> bool {
        match self {
            Self::Blocked | Self::Missing => true,
            Self::SignIn | Self::Replaced { .. } | Self::Moved { .. } => self == known,
        }
    }
}

impl AccessProblem {
    /// For people; `repo` is the one that it is about.
    pub fn sentence(&self, repo: Option<&RepoName>) -> String {
        let (since, said) = (self.since, &self.said);
        let repo = repo.map_or("the repository", RepoName::as_str);
        match &self.obstacle {
            AccessProblemKind::SignIn => format!(
                "GitHub does not take the credential since {since} ({said}): store a working one as the secret `github` (GITHUB_TOKEN, or GITHUB_APP_ID and GITHUB_APP_KEY); until then no pull request is read or merged."
            ),
            AccessProblemKind::Blocked => {
                format!("GitHub does not let the credential work in {repo} since {since}: {said}.")
            }
            AccessProblemKind::Missing => format!(
                "GitHub shows no repository {repo} since {since} ({said}): it was deleted or made private, or the credential may not see it any more; give the credential access, or pause the source."
            ),
            AccessProblemKind::Replaced { by, was } => format!(
                "{repo} is another repository since {since}: its number is {by}, and {was} is the one that was registered; nothing is done there. If the new one is meant, its source has to be given that number."
            ),
            AccessProblemKind::Moved { to } => format!(
                "{repo} leads on to {to} since {since}, and it was never read under its old name; nothing is done there. If that is the one that is meant, add it as a source."
            ),
        }
    }
}

/// For people: what to do about a new name.
pub(super) fn renamed(repo: &RepoName, renamed: &RenamedRepository) -> String {
    let RenamedRepository { to, since } = renamed;
    format!(
        "{repo} is called {to} since {since}; it is the same repository, so its pull requests go on. For new work add it as a source under its new name."
    )
}

/// For people: a missing pull request.
pub(super) fn lost(repo: &RepoName, number: u64) -> String {
    format!(
        "GitHub shows no pull request {repo}#{number} any more, although the repository is there; it is looked for again now and then."
    )
}

impl RepositoryAccess {
    /// What to do about it.
    pub fn next(&self) -> Vec<Next> {
        let obstacle = self.trouble.as_ref().map(|it| &it.obstacle);
        let trouble = match obstacle {
            Some(AccessProblemKind::Missing) => Some(Advice::PauseSource.about(&self.repo)),
            Some(AccessProblemKind::Replaced { .. }) => {
                Some(Advice::RenumberSource.about(&self.repo))
            }
            Some(AccessProblemKind::Moved { to }) => Some(Advice::AddSource.about(to)),
            Some(AccessProblemKind::SignIn | AccessProblemKind::Blocked) | None => None,
        };
        let name = self.renamed.as_ref();
        let name = name.map(|it| Advice::AddSource.about(&it.to));
        trouble.into_iter().chain(name).collect()
    }

    /// Everything that is worth saying about a repository, as codes and sentences.
    pub fn reasons(&self) -> Vec<(&'static str, String)> {
        let trouble = self.trouble.as_ref();
        let trouble = trouble.map(|it| (it.obstacle.code(), it.sentence(Some(&self.repo))));
        let name = self.renamed.as_ref();
        let name = name.map(|it| ("github_renamed", renamed(&self.repo, it)));
        let gone = self
            .lost
            .keys()
            .map(|number| ("github_pull_lost", lost(&self.repo, *number)));
        trouble.into_iter().chain(name).chain(gone).collect()
    }
}
