//! Refusals, as RFC 9457 writes them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One reason, under its name in the documents.
pub use domain::reasoned::Reasoned as Reason;

/// The media type of a [`Problem`].
pub const PROBLEM_JSON: &str = "application/problem+json";

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// Always `about:blank`: `code` identifies the kind.
    #[serde(rename = "type", default = "about_blank")]
    pub kind: String,
    /// The status in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// For people: what is the case, and what to do.
    pub detail: String,
    /// For programs, for example `no_open_plan`.
    pub code: String,
    /// The field, parameter or header that is wrong, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// All reasons, where there is more than one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// Advice: orders that would be accepted now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<Next>,
    /// What the caller may do with the delivery now, where it does not take an order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legal: Option<Vec<String>>,
    /// The id of what is there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub existing: Option<String>,
}

/// An advised order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Next {
    /// What, in one word: `say`, `approve`, `merge`, `retry`, `cancel` and so on.
    pub advice: String,
    /// The job, repository, account, agent or scope that it is about, or the command that begins a run again; empty
    /// where there is nothing to name.
    pub about: String,
    /// For people, in the words of this API.
    pub sentence: String,
    /// The method and path that do it; none for what only the operator of Gaffer can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
}

fn about_blank() -> String {
    "about:blank".to_owned()
}

impl Problem {
    /// A problem without field and reasons.
    pub fn new(
        status: u16,
        title: impl Into<String>,
        code: &str,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            kind: about_blank(),
            title: title.into(),
            status,
            detail: detail.into(),
            code: code.to_owned(),
            field: None,
            reasons: Vec::new(),
            next: Vec::new(),
            legal: None,
            existing: None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}
