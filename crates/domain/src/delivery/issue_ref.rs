//! The name of an issue on GitHub.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::{InvalidId, PullRef, RepoName};

/// One issue: `owner/name#number`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IssueRef {
    /// The repository.
    pub repo: RepoName,
    /// Its number there, from 1. Issues and pull requests share one sequence.
    pub number: u64,
}

impl IssueRef {
    /// The address of its page.
    pub fn url(&self) -> String {
        format!("https://github.com/{}/issues/{}", self.repo, self.number)
    }
}

impl FromStr for IssueRef {
    type Err = InvalidId;

    fn from_str(value: &str) -> Result<Self, InvalidId> {
        let PullRef { repo, number } = value.parse().map_err(|refused| InvalidId {
            kind: "issue",
            ..refused
        })?;
        Ok(Self { repo, number })
    }
}

crate::by_text::by_text!(IssueRef);

impl fmt::Display for IssueRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.repo, self.number)
    }
}
