//! What keeps files from being read that a sprint needs: who its personas are, and mail in what members made. They are read again
//! later, and until then nothing is decided as if there were none.

use jiff::{SignedDuration, Timestamp};

use super::Sprint;
use super::sight::{Sights, Work};
use crate::failure::FailureClass;
use crate::ids::JobId;
use crate::when::plus;

/// How long odd answers are not believed.
const DOUBTED: SignedDuration = SignedDuration::from_mins(10);

/// Why files are read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadAgain {
    /// It passes, at the latest when the credential works again.
    Passing,
    /// The answer is odd. GitHub shows a new commit late, and one answer may be cut off, but what is gone or too large stays so.
    Odd,
}

impl Sprint {
    /// What the failure of such a read means; none if it is no use to try again.
    pub fn hindrance(&self, class: FailureClass, now: Timestamp) -> Option<ReadAgain> {
        match class {
            FailureClass::Unauthorized
            | FailureClass::Forbidden
            | FailureClass::Throttled
            | FailureClass::Unavailable
            | FailureClass::Network => Some(ReadAgain::Passing),
            FailureClass::NotFound | FailureClass::Garbled => {
                let since = self.odd_since.unwrap_or(now);
                (now < plus(since, DOUBTED)).then_some(ReadAgain::Odd)
            }
            FailureClass::Precondition | FailureClass::Conflict | FailureClass::Invalid => None,
        }
    }

    /// Keeps since when answers are odd, until all files were read.
    pub(super) fn note(&mut self, hindrance: Option<ReadAgain>, now: Timestamp) {
        match hindrance {
            None => self.odd_since = None,
            Some(ReadAgain::Passing) => {}
            Some(ReadAgain::Odd) => {
                self.odd_since.get_or_insert(now);
            }
        }
    }
}

impl Sights {
    /// Sees a member whose mail cannot be read as one at work: it may take back what looks ready.
    pub fn hold_back(&mut self, job: &JobId, hindrance: ReadAgain) {
        self.hindrance = self.hindrance.max(Some(hindrance));
        let mut members = self.members.iter_mut();
        if let Some((_, sight)) = members.find(|(it, _)| it == job)
            && matches!(sight.work, Work::Ready(_))
        {
            sight.work = Work::Working;
        }
    }
}
