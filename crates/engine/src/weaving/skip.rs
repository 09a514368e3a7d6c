//! Why a pull request takes no part in a weave, and what to do about it.

use domain::facts::{PullFacts, PullState};

/// A pull request that takes no part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its number.
    pub number: u64,
    /// Why.
    pub skip: Skip,
}

/// Why it takes no part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Skip {
    /// It is closed.
    #[error("it is closed")]
    Closed,
    /// It is merged.
    #[error("it is merged already")]
    Merged,
    /// It is a draft.
    #[error("it is a draft")]
    Draft,
    /// Its head is in another repository, whose owner could change it at any time.
    #[error("its head is in another repository")]
    Fork,
    /// GitHub shows no such pull request.
    #[error("there is no such pull request, or the credential may not see it")]
    NotFound,
    /// It has no commit in common with the branch, so it cannot be said what it changes.
    #[error("it has no commit in common with the branch")]
    Unrelated,
    /// Its head is another one than the one that was woven.
    #[error("its head moved while it was woven")]
    HeadMoved,
    /// It changes nothing.
    #[error("it changes nothing")]
    NoChange,
    /// There is too much of it.
    #[error("it is too large: {0}")]
    TooLarge(String),
    /// It changes what is protected.
    #[error("it changes {0}, which is protected")]
    Protected(String),
}

impl Skip {
    /// What a program calls it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Merged => "merged",
            Self::Draft => "draft",
            Self::Fork => "fork",
            Self::NotFound => "not_found",
            Self::Unrelated => "unrelated",
            Self::HeadMoved => "head_moved",
            Self::NoChange => "no_change",
            Self::TooLarge(_) => "too_large",
            Self::Protected(_) => "protected_path",
        }
    }

    /// What to do.
    pub fn next(&self) -> &'static str {
        match self {
            Self::Closed => "open it again, or leave it out",
            Self::Merged => "leave it out: the branch has it",
            Self::Draft => "mark it ready for review",
            Self::Fork => {
                "push its branch to the repository itself, and open a pull request from there"
            }
            Self::NotFound => "check the number, and that the token may read pull requests",
            Self::Unrelated => "start its branch from the one that it is woven into",
            Self::HeadMoved => "weave again",
            Self::NoChange => "leave it out, or close it",
            Self::TooLarge(_) => "split it, or merge it with git",
            Self::Protected(_) => "merge it by itself, after a person has looked at it",
        }
    }

    /// Why a pull request takes no part, as far as it says so itself.
    pub(super) fn from_facts(facts: &PullFacts, with_drafts: bool) -> Option<Self> {
        match &facts.state {
            PullState::Merged { .. } => Some(Self::Merged),
            PullState::Closed => Some(Self::Closed),
            PullState::Open if !facts.is_from_base_repository() => Some(Self::Fork),
            PullState::Open if facts.draft && !with_drafts => Some(Self::Draft),
            PullState::Open => None,
        }
    }
}
