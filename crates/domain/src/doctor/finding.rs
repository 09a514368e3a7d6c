//! One line of the doctor's report.

use serde::Serialize;

use super::code::{Code, Severity};
use crate::redact::presentable;

/// Longest text from outside in a finding, in characters: enough for the first sentence of a refusal.
const OUTSIDE_CHARS_MAX: usize = 200;

/// The area that was checked; also the code of findings that are fine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// The data folder, its disk and its secrets.
    Data,
    /// The machine's clock.
    Clock,
    /// A Jules account.
    Jules,
    /// The credential for GitHub.
    Github,
    /// A source: its repository, its rules, its checks.
    Source,
    /// Webhooks of a source.
    Webhook,
    /// An agent.
    Agent,
    /// Waiting or abandoned work.
    Work,
}

impl Area {
    /// The word that people and programs read.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Clock => "clock",
            Self::Jules => "jules",
            Self::Github => "github",
            Self::Source => "source",
            Self::Webhook => "webhook",
            Self::Agent => "agent",
            Self::Work => "work",
        }
    }
}

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// For programs: a [`Code`], or the [`Area`] of what is fine.
    pub code: &'static str,
    /// Its subject: a folder, an account, a repository.
    pub about: String,
    /// What is the case.
    pub what: String,
    /// Why that matters; `None` when it is fine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<&'static str>,
    /// The command or click that fixes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

impl Finding {
    /// A problem with `about`.
    pub fn new(code: Code, about: impl ToString, what: impl Into<String>) -> Self {
        let row = code.row();
        Self {
            severity: row.severity,
            code: row.code,
            about: about.to_string(),
            what: what.into(),
            cause: Some(row.cause),
            mend: Some(row.mend.to_owned()),
        }
    }

    /// Everything about `about` is as it should be.
    pub fn ok(area: Area, about: impl ToString, what: impl Into<String>) -> Self {
        Self {
            severity: Severity::Ok,
            code: area.as_str(),
            about: about.to_string(),
            what: what.into(),
            cause: None,
            mend: None,
        }
    }

    /// Fills a name in where the remedy has a word in capitals.
    #[must_use]
    pub fn with(mut self, word: &str, name: impl ToString) -> Self {
        self.mend = self.mend.map(|mend| mend.replace(word, &name.to_string()));
        self
    }
}

/// Sanitises a text from outside for a finding.
pub(super) fn outside(text: &str) -> String {
    presentable(text, OUTSIDE_CHARS_MAX)
}

/// Names from outside in one line; of many only the first.
pub(super) fn names<T: AsRef<str>>(names: &[T]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{}`", presentable(name.as_ref(), 80)))
        .collect();
    let more = names.len().saturating_sub(SHOWN);
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
