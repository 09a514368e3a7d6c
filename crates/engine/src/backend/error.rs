//! What can go wrong with an operation.

use domain::advice::NO_NEWEST;

use crate::ports::{CommitError, QueueError, RecordsError};

/// Why an operation failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The store could not be read.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// The store could not be written.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The queue could not be used. Saved messages are published later.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The order cannot be carried out now.
    #[error(transparent)]
    NotNow(#[from] domain::refusal::NotNow),
    /// A delivery does not take the command now.
    #[error(transparent)]
    Transition(#[from] domain::delivery::TransitionError),
    /// There is no such thing.
    #[error("{}", no_such(.what, .name))]
    NoSuch {
        /// What kind of thing.
        what: &'static str,
        /// Which.
        name: String,
    },
    /// Jules or GitHub failed.
    #[error(transparent)]
    Outside(#[from] domain::failure::Failure),
}

impl Error {
    /// Whether another writer changed the basis of the decision, so that it has to be made again.
    pub fn is_conflict(&self) -> bool {
        match self {
            Self::Commit(CommitError::Conflict { .. } | CommitError::Unknown(_)) => true,
            Self::Commit(CommitError::TooLarge { .. } | CommitError::Unavailable(_))
            | Self::Records(_)
            | Self::Queue(_)
            | Self::NotNow(_)
            | Self::Transition(_)
            | Self::NoSuch { .. }
            | Self::Outside(_) => false,
        }
    }
}

/// That something is not there; of a name that stands for the newest, that there is none yet.
fn no_such(what: &str, name: &str) -> String {
    match name.strip_prefix(NO_NEWEST) {
        Some(repo) => format!("{repo} has no {what} yet"),
        None => format!("there is no {what} `{name}`"),
    }
}
