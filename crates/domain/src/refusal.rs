//! Why an order cannot be carried out now, whatever it is about.

use crate::advice::Next;

/// Why a command cannot be carried out now. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct NotNow {
    /// For programs, for example `no_open_plan`.
    pub code: &'static str,
    /// For people: the reason, independent of any surface.
    pub sentence: String,
    /// What to do next; it is accepted as things are.
    pub next: Vec<Next>,
}

impl NotNow {
    /// A refusal that advises nothing.
    pub fn new(code: &'static str, sentence: impl Into<String>) -> Self {
        Self {
            code,
            sentence: sentence.into(),
            next: Vec::new(),
        }
    }

    /// The same refusal, with advice.
    #[must_use]
    pub fn advising(mut self, next: Next) -> Self {
        self.next.push(next);
        self
    }
}

/// Refuses, and advises nothing.
pub(crate) fn not_now<T>(code: &'static str, sentence: impl Into<String>) -> Result<T, NotNow> {
    Err(NotNow::new(code, sentence))
}
