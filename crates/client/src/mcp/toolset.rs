//! Sets of tools that are listed on request: every listed tool costs a model room in every session.

use std::fmt;
use std::str::FromStr;

use domain::nearest::meant;
use domain::redact::presentable;

/// How much of a wrong name is shown, in characters.
const SHOWN_MAX: usize = 80;

/// A set of further tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Toolset {
    /// The present state, explanations, and a job's events.
    Insight,
    /// Taking wakes out of an agent's inbox, and giving them back.
    Inbox,
    /// From an issue to a closed delivery.
    Deliveries,
    /// Mail between the personas of a repository.
    Mail,
    /// Sprints of a repository.
    Sprint,
}

/// A name that no toolset has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no toolset `{0}`{near}; there are {list}", near = Toolset::meant(.0), list = Toolset::names())]
pub struct UnknownToolset(String);

impl Toolset {
    /// All of them, in the order of the list.
    pub const ALL: [Self; 5] = [
        Self::Insight,
        Self::Inbox,
        Self::Deliveries,
        Self::Mail,
        Self::Sprint,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Insight => "insight",
            Self::Inbox => "inbox",
            Self::Deliveries => "deliveries",
            Self::Mail => "mail",
            Self::Sprint => "sprint",
        }
    }

    fn meant(name: &str) -> String {
        meant(name, Self::ALL.map(Self::name))
    }

    /// All names in one text.
    fn names() -> String {
        Self::ALL.map(|set| format!("`{}`", set.name())).join(", ")
    }
}

impl fmt::Display for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Toolset {
    type Err = UnknownToolset;

    fn from_str(name: &str) -> Result<Self, UnknownToolset> {
        let found = Self::ALL.into_iter().find(|set| set.name() == name.trim());
        found.ok_or_else(|| UnknownToolset(presentable(name, SHOWN_MAX)))
    }
}
