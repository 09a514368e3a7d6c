//! What keeps files from being read that a run or a sprint needs. They are read again later, and until then nothing is decided as if
//! there were none.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Failure, FailureClass};
use crate::redact::storable;
use crate::when::plus;

/// How long odd answers are not believed.
const DOUBTED: SignedDuration = SignedDuration::from_mins(10);

/// How much of an answer is kept, in bytes as JSON: it is a part of the record of a sprint, which may have many members.
const WHY_BYTES_MAX: usize = 300;

/// Why files are not read now: they are read again a minute later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hindrance {
    /// What was answered last.
    pub why: String,
    /// Since when answers are odd.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub odd_since: Option<Timestamp>,
}

impl Hindrance {
    /// What the failure of a read means, after what kept the files from being read before; none if it is no use to read them again.
    ///
    /// A credential that does not work is told for the whole installation, and another one makes it pass. One odd answer is no proof: GitHub
    /// shows a new commit late, an answer may be cut off, and a missing permission may be given. But what is gone, too large or forbidden for
    /// that long stays so.
    pub fn of(failure: &Failure, before: Option<&Self>, now: Timestamp) -> Option<Self> {
        let before = before.and_then(|it| it.odd_since);
        let odd_since = match failure.class {
            FailureClass::Unauthorized
            | FailureClass::Throttled
            | FailureClass::Unavailable
            | FailureClass::Network => before,
            FailureClass::Forbidden | FailureClass::NotFound | FailureClass::Garbled => {
                let since = before.unwrap_or(now);
                if now >= plus(since, DOUBTED) {
                    return None;
                }
                Some(since)
            }
            FailureClass::Precondition | FailureClass::Conflict | FailureClass::Invalid => {
                return None;
            }
        };
        Some(Self {
            why: storable(&failure.message, WHY_BYTES_MAX),
            odd_since,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::fixture::at;

    /// What a failure of this class means at this second.
    fn found(class: FailureClass, before: Option<&Hindrance>, second: i64) -> Option<Hindrance> {
        let failure = Failure::new(class, "GitHub answered so");
        Hindrance::of(&failure, before, at(second))
    }

    #[test]
    fn what_passes_is_waited_for_and_what_never_can_pass_is_not() {
        let odd = found(FailureClass::NotFound, None, 0).unwrap();
        for class in [
            FailureClass::Unauthorized,
            FailureClass::Throttled,
            FailureClass::Unavailable,
            FailureClass::Network,
        ] {
            let alone = found(class, None, 9_999).unwrap();
            assert_eq!(alone.why, "GitHub answered so");
            assert_eq!(alone.odd_since, None, "{class:?}");
            let after_odd = found(class, Some(&odd), 9_999).unwrap();
            assert_eq!(after_odd.odd_since, Some(at(0)), "{class:?}");
        }
        for class in [
            FailureClass::Precondition,
            FailureClass::Conflict,
            FailureClass::Invalid,
        ] {
            assert_eq!(found(class, None, 0), None, "{class:?}");
        }
    }

    #[test]
    fn an_odd_answer_is_believed_once_no_other_came_for_a_while() {
        for class in [
            FailureClass::Forbidden,
            FailureClass::NotFound,
            FailureClass::Garbled,
        ] {
            let mut doubts = found(class, None, 100).unwrap();
            for (class, second) in [
                (FailureClass::Garbled, 160),
                (FailureClass::Unavailable, 220),
                (FailureClass::NotFound, 280),
                (class, 699),
            ] {
                doubts = found(class, Some(&doubts), second).unwrap();
                assert_eq!(doubts.odd_since, Some(at(100)), "{class:?}");
            }
            assert_eq!(found(class, Some(&doubts), 700), None, "{class:?}");
        }
    }
}
