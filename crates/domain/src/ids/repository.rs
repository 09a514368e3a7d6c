//! Which repository it is: its number, which no other repository ever gets, and the name it bears at the moment.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::RepoName;

/// GitHub's number of a repository. It stays when the repository is renamed or transferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RepoId(pub u64);

impl fmt::Display for RepoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A repository as GitHub shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its number.
    pub id: RepoId,
    /// What it is called now.
    pub name: RepoName,
}
