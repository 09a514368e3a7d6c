//! Checks of our own: what they found of one head.

use serde::{Deserialize, Serialize};

use crate::facts::{CheckOutcome, Pass};
use crate::ids::CommitSha;

/// Results of our own checks of one head on one base, under the rules of then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnChecks {
    /// The head.
    pub head: CommitSha,
    /// The base.
    pub base: CommitSha,
    /// What else they depend on: the user's files, the protected paths, the day and the version of Gaffer.
    pub rules: String,
    /// The results.
    pub results: Vec<OwnCheck>,
}

impl OwnChecks {
    /// What a result depends on apart from the head, as one word.
    pub fn basis(&self) -> String {
        format!("{}:{}", self.base, self.rules)
    }

    /// Whether this is the result of a check of that head on that basis.
    pub fn shows(&self, head: &CommitSha, basis: &str, name: &str, outcome: OwnOutcome) -> bool {
        let is_it = |result: &OwnCheck| result.name == name && result.outcome == outcome;
        self.head == *head && self.basis() == basis && self.results.iter().any(is_it)
    }
}

/// The result of a check of our own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnCheck {
    /// Its name.
    pub name: String,
    /// How it ended.
    pub outcome: OwnOutcome,
    /// What it found, for the session.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

/// How a check of our own ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnOutcome {
    /// All is well.
    Passed,
    /// All is well, and that counts for no check that a source asks for.
    Neutral,
    /// Something is wrong.
    Failed,
}

impl OwnOutcome {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Neutral => "neutral",
            Self::Failed => "failed",
        }
    }

    /// The same as an outcome of a check on GitHub.
    pub fn of_check(self) -> CheckOutcome {
        match self {
            Self::Passed => CheckOutcome::Passed(Pass::Success),
            Self::Neutral => CheckOutcome::Passed(Pass::Neutral),
            Self::Failed => CheckOutcome::Failed,
        }
    }
}
