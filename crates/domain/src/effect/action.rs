//! Actions outside, by what they are done to, and their names: the same name is the same effect.

use std::fmt;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::jules::JulesAction;
use super::pull::PullAction;
use super::repo::RepoAction;
use super::tracker::TrackerAction;

/// An action outside, complete: the dispatcher has nothing left to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum Action {
    /// Do something to a session.
    Jules(JulesAction),
    /// Do something to a pull request, or to its branch.
    Pull(PullAction),
    /// Do something to a repository's files and branches.
    Repo(RepoAction),
    /// Do something to an issue, or to what deploys.
    Tracker(TrackerAction),
}

impl fmt::Display for Action {
    /// Its purpose, without versions: the text whose hash is the effect's id.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jules(action) => action.fmt(f),
            Self::Pull(action) => action.fmt(f),
            Self::Repo(action) => action.fmt(f),
            Self::Tracker(action) => action.fmt(f),
        }
    }
}

impl Action {
    /// Delay of the first attempt.
    pub(super) fn initial_delay(&self) -> SignedDuration {
        match self {
            Self::Pull(action) => action.initial_delay(),
            Self::Jules(_) | Self::Repo(_) | Self::Tracker(_) => SignedDuration::ZERO,
        }
    }

    /// Its name in lists of effects and in answers.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Jules(action) => action.word(),
            Self::Pull(action) => action.word(),
            Self::Repo(action) => action.word(),
            Self::Tracker(action) => action.word(),
        }
    }

    /// A description for people.
    pub fn does(&self) -> String {
        match self {
            Self::Jules(action) => action.does(),
            Self::Pull(action) => action.does(),
            Self::Repo(action) => action.does(),
            Self::Tracker(action) => action.does(),
        }
    }

    /// Whether it is done on GitHub; else it is done on Jules.
    pub fn is_on_github(&self) -> bool {
        match self {
            Self::Jules(_) => false,
            Self::Pull(_) | Self::Repo(_) | Self::Tracker(_) => true,
        }
    }

    /// Whether it names what it changes only by a number or a name, which another repository that took the name of the first may have,
    /// too. The others name a commit or GitHub's own id, and GitHub refuses them there.
    pub fn names_by_number(&self) -> bool {
        match self {
            Self::Jules(_) => false,
            Self::Pull(action) => action.names_by_number(),
            Self::Repo(action) => action.names_by_number(),
            Self::Tracker(_) => true,
        }
    }

    /// Whether only a decision of its aggregate begins another attempt, never the effect itself: creates and merges, which their
    /// aggregates count.
    pub fn is_retried_by_decision(&self) -> bool {
        match self {
            Self::Jules(action) => action.is_retried_by_decision(),
            Self::Pull(action) => action.is_retried_by_decision(),
            Self::Repo(_) | Self::Tracker(_) => false,
        }
    }

    /// Whether a repeated attempt would double the effect. The other actions name their head or set an absolute
    /// value.
    pub fn may_double(&self) -> bool {
        match self {
            Self::Jules(action) => action.may_double(),
            Self::Pull(action) => action.may_double(),
            // A pull request of ours is found by its branch before it is opened.
            Self::Repo(_) => false,
            Self::Tracker(action) => action.may_double(),
        }
    }

    /// How long to wait before a read settles an unknown outcome.
    pub fn settle_after(&self) -> SignedDuration {
        match self {
            Self::Jules(action) => action.settle_after(),
            Self::Pull(_) | Self::Repo(_) | Self::Tracker(_) => SignedDuration::from_secs(10),
        }
    }
}
