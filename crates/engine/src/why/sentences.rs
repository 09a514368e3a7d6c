//! What is told of why nothing moves, sentence by sentence: reasons, planned actions, and the age of what was read.

use domain::job::WaitParty;
use domain::when::ago;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::settings::TrackedPull;

/// How old facts about a pull request are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AsRead {
    /// When they were read.
    pub at: Timestamp,
    /// How long ago that is, as a sentence.
    pub sentence: String,
}

impl AsRead {
    /// For a pull request that is judged and not over; nothing else that is shown of one changes on GitHub.
    pub fn from_tracked(tracked: &TrackedPull, now: Timestamp) -> Option<Self> {
        let pull = &tracked.pull;
        let at = tracked
            .read_at
            .filter(|_| pull.verdict.is_some() && !pull.is_settled())?;
        let sentence = format!("As read on GitHub {}.", ago(at, now));
        Some(Self { at, sentence })
    }
}

/// A planned action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// When; `None` if that depends on others.
    pub at: Option<Timestamp>,
    /// What, as a sentence.
    pub sentence: String,
}

/// The next reading as what will be done; none where a person has to act, since a reading alone moves nothing there.
pub fn read_again(who: Option<WaitParty>, at: Option<Timestamp>) -> Option<Planned> {
    let moves = who != Some(WaitParty::Person);
    at.filter(|_| moves).map(|at| Planned {
        at: Some(at),
        sentence: "Gaffer reads it again.".to_owned(),
    })
}
