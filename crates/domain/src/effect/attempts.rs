//! How often an effect is attempted.

use super::{ATTEMPTS_MAX, ATTEMPTS_WHILE_INVISIBLE_MAX, Action, Effect};
use crate::failure::{Failure, FailureClass};

impl Effect {
    /// How often the call may be tried when it certainly failed like this: once, if nothing can change on our side.
    pub(super) fn attempts_max(&self, failure: &Failure) -> u32 {
        match failure.class {
            FailureClass::Throttled
            | FailureClass::Unavailable
            | FailureClass::Network
            | FailureClass::Garbled
            | FailureClass::Unauthorized => ATTEMPTS_MAX,
            // A fresh session answers 404 for a while, and `:sendMessage` does so while the session is queued.
            FailureClass::NotFound => match self.action {
                Action::Say { .. } | Action::ApprovePlan { .. } => ATTEMPTS_WHILE_INVISIBLE_MAX,
                Action::CreateSession { .. }
                | Action::Archive { .. }
                | Action::Merge { .. }
                | Action::MarkReady { .. }
                | Action::UpdateBranch { .. }
                | Action::Comment { .. }
                | Action::Label { .. }
                | Action::ClosePull { .. }
                | Action::DeleteBranch { .. }
                | Action::Repo(_)
                | Action::Tracker(_) => 1,
            },
            // Creates that must wait are decided by the job, which knows its account's budget.
            FailureClass::Precondition
            | FailureClass::Conflict
            | FailureClass::Invalid
            | FailureClass::Forbidden => 1,
        }
    }
}
