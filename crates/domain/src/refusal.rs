//! Why an order cannot be carried out now, whatever it is about.

use crate::advice::Next;

/// The header of the HTTP API that names a request: the same name with the same body is carried out once.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// What is in the way of an order.
///
/// A field has its name of the HTTP API, such as `constraints.require_plan_approval`: only that surface tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// How things are: the same order may be accepted later.
    State,
    /// A field, parameter or header of the order: another value of it may be accepted now.
    Field(&'static str),
    /// A field, parameter or header that names what is not kept any more.
    Gone(&'static str),
}

/// Why a command cannot be carried out now. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct NotNow {
    /// For programs, for example `no_open_plan`.
    pub code: &'static str,
    /// For people: the reason, independent of any surface.
    pub sentence: String,
    /// What is in the way.
    pub about: About,
    /// What to do next; it is accepted as things are.
    pub next: Vec<Next>,
}

impl NotNow {
    /// A refusal because of how things are, which advises nothing.
    pub fn new(code: &'static str, sentence: impl Into<String>) -> Self {
        Self {
            code,
            sentence: sentence.into(),
            about: About::State,
            next: Vec::new(),
        }
    }

    /// The same refusal, because of a field of the order.
    #[must_use]
    pub fn about(self, field: &'static str) -> Self {
        Self {
            about: About::Field(field),
            ..self
        }
    }

    /// The same refusal, because a field of the order names what is not kept any more.
    #[must_use]
    pub fn about_gone(self, field: &'static str) -> Self {
        Self {
            about: About::Gone(field),
            ..self
        }
    }

    /// The same refusal, with advice.
    #[must_use]
    pub fn advising(mut self, next: Next) -> Self {
        self.next.push(next);
        self
    }
}

/// Refuses because of how things are, and advises nothing.
pub(crate) fn not_now<T>(code: &'static str, sentence: impl Into<String>) -> Result<T, NotNow> {
    Err(NotNow::new(code, sentence))
}
