//! Who did something to a delivery.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fence::clip;

/// Longest name of an actor, in characters.
const NAME_CHARS_MAX: usize = 80;

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// Gaffer, by its rules.
    System,
    /// An agent.
    Agent(String),
    /// A person.
    Person(String),
}

impl Actor {
    /// A person by name.
    pub fn person(name: &str) -> Self {
        Self::Person(clip(name, NAME_CHARS_MAX))
    }

    /// An agent by name.
    pub fn agent(name: &str) -> Self {
        Self::Agent(clip(name, NAME_CHARS_MAX))
    }

    /// Who closed an issue or a pull request: `person on GitHub` where GitHub does not say who.
    pub(super) fn on_github(by: Option<&str>) -> Self {
        by.map_or_else(|| Self::person("on GitHub"), Self::person)
    }

    /// Whether it is a person.
    pub fn is_person(&self) -> bool {
        match self {
            Self::Person(_) => true,
            Self::System | Self::Agent(_) => false,
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => f.write_str("system"),
            Self::Agent(name) => write!(f, "agent {name}"),
            Self::Person(name) => write!(f, "person {name}"),
        }
    }
}
