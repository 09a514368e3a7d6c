//! What GitHub answers about issues and their comments.

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// `GET /repos/{owner}/{repo}/issues/{number}`, or an item of the list of issues.
#[derive(Debug, Deserialize)]
pub(crate) struct Issue {
    pub(crate) number: u64,
    pub(crate) title: String,
    pub(crate) body: Option<String>,
    pub(crate) state: String,
    pub(crate) labels: Vec<IssueLabel>,
    /// Who opened it.
    #[serde(default)]
    pub(crate) user: Option<Author>,
    #[serde(default)]
    pub(crate) closed_by: Option<Closer>,
    /// Only a pull request has it.
    #[serde(default)]
    pub(crate) pull_request: Option<IgnoredAny>,
    pub(crate) updated_at: Timestamp,
}

/// A label of an issue, which GitHub documents as a name or an object.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum IssueLabel {
    /// Its name alone.
    Name(String),
    /// Itself.
    Label { name: Option<String> },
}

impl IssueLabel {
    /// Its name, if it has one.
    pub(crate) fn into_name(self) -> Option<String> {
        match self {
            Self::Name(name) => Some(name),
            Self::Label { name } => name,
        }
    }
}

/// The user who closed an issue.
#[derive(Debug, Deserialize)]
pub(crate) struct Closer {
    pub(crate) login: String,
}

/// One comment with its author.
#[derive(Debug, Deserialize)]
pub(crate) struct IssueComment {
    pub(crate) id: u64,
    #[serde(default)]
    pub(crate) body: Option<String>,
    #[serde(default)]
    pub(crate) user: Option<Author>,
}

/// The author of a comment; GitHub shows none for a deleted account.
#[derive(Debug, Deserialize)]
pub(crate) struct Author {
    pub(crate) id: u64,
}

/// Whose a credential is, as GraphQL answers it.
#[derive(Debug, Deserialize)]
pub(crate) struct ViewerAnswer {
    pub(crate) viewer: Viewer,
}

/// The account of a credential.
#[derive(Debug, Deserialize)]
pub(crate) struct Viewer {
    #[serde(rename = "databaseId")]
    pub(crate) id: u64,
}
