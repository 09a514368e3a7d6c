//! Counters of an account's polls: a handful of numbers, however long it runs.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::Poll;
use crate::failure::FailureClass;

/// Counters over all polls so far, stored in the account's row, which polls write anyway.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollCounters {
    /// When the last one ended.
    pub last: Option<Timestamp>,
    /// Polls.
    pub polls: u64,
    /// Polls that failed, by the class of the failure.
    pub failed: Vec<(FailureClass, u64)>,
    /// Seconds that were waited because of failures, in place of the tick.
    pub backoff_secs: u64,
    /// Time of the last list of sessions beyond the watched ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed: Option<Timestamp>,
    /// Time of the last search for pull requests that no job follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linked: Option<Timestamp>,
}

impl PollCounters {
    /// The counters after one more poll, which is followed by this gap.
    pub(super) fn after(
        &self,
        poll: &Poll,
        gap: SignedDuration,
        tick: SignedDuration,
        now: Timestamp,
    ) -> Self {
        let mut next = self.clone();
        next.last = Some(now);
        next.polls = next.polls.saturating_add(1);
        if let Poll::Failed(failure) = poll {
            next.count(failure.class);
            let longer = (gap - tick).as_secs();
            let longer = u64::try_from(longer).unwrap_or(0);
            next.backoff_secs = next.backoff_secs.saturating_add(longer);
        }
        next
    }

    /// The one of two counters of the same account that has counted for longer.
    pub fn or_longer(self, other: Self) -> Self {
        if other.polls > self.polls {
            other
        } else {
            self
        }
    }

    fn count(&mut self, class: FailureClass) {
        match self.failed.iter_mut().find(|(known, _)| *known == class) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => self.failed.push((class, 1)),
        }
    }
}
