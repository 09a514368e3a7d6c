//! The ways to an agent, one after the other.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Wake, WakeState};

/// A way to an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// A signed message to its address.
    #[default]
    Http,
    /// It is fetched by the agent, as `gaffer watch` does.
    Inbox,
}

impl Channel {
    /// Whether it is the usual way, which records leave out.
    pub(super) fn is_http(&self) -> bool {
        *self == Self::Http
    }

    /// The word used in the store and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Inbox => "inbox",
        }
    }
}

impl Wake {
    /// The same wake over these channels, one after the other. Without any it stays unchanged.
    pub fn by(self, ways: &[Channel]) -> Self {
        match ways.split_first() {
            Some((first, then)) => Self {
                channel: *first,
                then: then.to_vec(),
                ..self
            },
            None => self,
        }
    }

    /// The wake on its next channel, available at once, or given up when there is none.
    pub(super) fn next_way(&self, why: &str, now: Timestamp) -> Self {
        let Some((next, then)) = self.then.split_first() else {
            return self.given_up(why, now);
        };
        Self {
            channel: *next,
            then: then.to_vec(),
            state: WakeState::Pending {
                attempt: 1,
                not_before: now,
            },
            ..self.clone()
        }
    }
}
