//! Events about no job, no delivery and no error: each kind has here all that others read of it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ids::{MessageId, PersonaName, RepoName, SprintNumber};

/// Every kind, for the test of the page for agents.
#[cfg(test)]
pub(super) const KINDS: [&str; 3] = ["mail", "sprint", "test"];

/// An occurrence about no job and no delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum News {
    /// A persona wrote to the people of an installation.
    Mail {
        /// Whose mail it is in.
        repo: RepoName,
        /// Who wrote.
        from: PersonaName,
        /// The number of the message.
        message: MessageId,
        /// What it says, untrusted: subject, and the beginning of the body.
        words: String,
    },
    /// A sprint is over.
    Sprint {
        /// The repository.
        repo: RepoName,
        /// Which.
        sprint: SprintNumber,
        /// How it ended.
        words: String,
    },
    /// No occurrence: a test of whether an agent can be woken.
    Test,
}

impl News {
    /// The event's name in the seed, and its kind.
    pub(super) fn names(&self) -> (&'static str, &'static str) {
        match self {
            Self::Mail { .. } => ("question", "mail"),
            Self::Sprint { .. } => ("completed", "sprint"),
            Self::Test => ("test", "test"),
        }
    }

    /// The repository that it is about.
    pub fn repo(&self) -> Option<&RepoName> {
        match self {
            Self::Mail { repo, .. } | Self::Sprint { repo, .. } => Some(repo),
            Self::Test => None,
        }
    }

    /// The words that it stores.
    pub(super) fn words(&self) -> Option<&str> {
        match self {
            Self::Mail { words, .. } | Self::Sprint { words, .. } => Some(words),
            Self::Test => None,
        }
    }

    /// The title of its notice to a person, without the words of others.
    pub(crate) fn title(&self) -> String {
        match self {
            Self::Mail { from, .. } => format!("{from} wrote"),
            Self::Sprint { sprint, .. } => format!("sprint {sprint} is over"),
            Self::Test => "a test message".to_owned(),
        }
    }

    /// The text and the payload of its message to an agent.
    pub(crate) fn content(&self) -> (String, Option<Value>) {
        match self {
            Self::Mail {
                from,
                message,
                words,
                ..
            } => {
                let payload = json!({ "message_id": message, "from_persona": from });
                let text = format!("{from} wrote message {message} to human: {words}");
                (text, Some(payload))
            }
            Self::Sprint { sprint, words, .. } => {
                (words.clone(), Some(json!({ "sprint": sprint })))
            }
            Self::Test => {
                let text = "A test: nothing happened, and nothing has to be done.";
                (text.to_owned(), None)
            }
        }
    }
}
