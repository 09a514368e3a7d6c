//! What every surface tells beside the reasons why something does not move: what will be done, and how old the reading is.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::job::WaitParty;
use crate::reasoned::shown;
use crate::when::ago;

/// A planned action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedStep {
    /// When; absent if that depends on others.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Moment>"))]
    pub at: Option<Timestamp>,
    /// What, as a sentence.
    pub sentence: String,
}

/// Age of what is shown of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AsRead {
    /// When it was read on GitHub.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Moment"))]
    pub at: Timestamp,
    /// How long ago that is, as a sentence.
    pub sentence: String,
}

impl PlannedStep {
    /// A planned action whose sentence may hold any text from outside.
    pub fn new(at: Option<Timestamp>, sentence: &str) -> Self {
        Self {
            at,
            sentence: shown(sentence),
        }
    }

    /// The next reading as what will be done; none where a person has to act, since a reading alone moves nothing there.
    pub fn read_again(who: Option<WaitParty>, at: Option<Timestamp>) -> Option<Self> {
        let moves = who != Some(WaitParty::Person);
        at.filter(|_| moves)
            .map(|at| Self::new(Some(at), "Gaffer reads it again."))
    }
}

impl AsRead {
    /// The age of what was read at a time.
    pub fn new(at: Timestamp, now: Timestamp) -> Self {
        Self {
            at,
            sentence: format!("As read on GitHub {}.", ago(at, now)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_will_be_done_is_fit_to_be_shown() {
        let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let planned = format!("At 2026-03-01T12:00:00.123Z {secret} is tried again.");
        let told = PlannedStep::new(None, &planned).sentence;
        assert_eq!(told, "At 2026-03-01T12:00:00Z [secret] is tried again.");
    }
}
