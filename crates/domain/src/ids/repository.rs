//! Which repository it is: its number, which no other repository ever gets, and the name it bears at the moment.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::InvalidId;

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
pub struct RepositoryIdentity {
    /// Its number.
    pub id: RepoId,
    /// Its present name.
    pub name: RepoName,
}

/// `owner/name` on GitHub, compared without regard to case, as GitHub does.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepoName {
    text: String,
    slash: usize,
}

impl RepoName {
    /// The user or organisation.
    pub fn owner(&self) -> &str {
        &self.text[..self.slash]
    }

    /// The repository without its owner.
    pub fn name(&self) -> &str {
        &self.text[self.slash + 1..]
    }

    /// `owner/name` as given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// `owner/name` in lower case, the same for every spelling.
    pub fn key(&self) -> String {
        self.text.to_ascii_lowercase()
    }
}

fn is_repo_part(part: &str) -> bool {
    !part.is_empty()
        && part.len() <= 100
        && part != "."
        && part != ".."
        && part
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}

impl FromStr for RepoName {
    type Err = InvalidId;

    fn from_str(value: &str) -> Result<Self, InvalidId> {
        match value.split_once('/') {
            Some((owner, name)) if is_repo_part(owner) && is_repo_part(name) => Ok(Self {
                text: value.to_owned(),
                slash: owner.len(),
            }),
            Some(_) | None => Err(InvalidId::new("repository", value, "`owner/name`")),
        }
    }
}

impl TryFrom<String> for RepoName {
    type Error = InvalidId;

    fn try_from(value: String) -> Result<Self, InvalidId> {
        value.parse()
    }
}

impl From<RepoName> for String {
    fn from(repo: RepoName) -> String {
        repo.text
    }
}

impl fmt::Display for RepoName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for RepoName {
    fn eq(&self, other: &Self) -> bool {
        self.text.eq_ignore_ascii_case(&other.text)
    }
}

impl Eq for RepoName {}

impl Hash for RepoName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl PartialOrd for RepoName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RepoName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
