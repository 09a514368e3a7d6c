//! Who has to know of an event.

use serde::{Deserialize, Serialize};

/// Who has to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// The job's agent.
    Agent,
    /// A person.
    Human,
    /// No one: it is only recorded.
    Nobody,
}

impl Audience {
    /// Who gets an event that is decided for these: without an agent that takes wakes, a person gets what is for the agent.
    #[must_use]
    pub fn given(self, has_agent: bool) -> Self {
        match self {
            Self::Agent if !has_agent => Self::Human,
            Self::Agent | Self::Human | Self::Nobody => self,
        }
    }
}
