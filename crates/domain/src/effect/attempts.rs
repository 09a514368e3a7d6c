//! How often an effect is attempted.

use super::{ATTEMPTS_MAX, ATTEMPTS_WHILE_INVISIBLE_MAX, Action, Effect, JulesAction};
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
            FailureClass::NotFound => match &self.action {
                Action::Jules(action) if action.may_be_invisible() => ATTEMPTS_WHILE_INVISIBLE_MAX,
                Action::Jules(_) | Action::Pull(_) | Action::Repo(_) | Action::Tracker(_) => 1,
            },
            // Creates that must wait are decided by the job, which knows its account's budget.
            FailureClass::Precondition
            | FailureClass::Conflict
            | FailureClass::Invalid
            | FailureClass::Forbidden => 1,
        }
    }

    /// Whether it may be asked for after all its attempts: a message to a session, or an approval, that Jules may take at another time.
    pub(super) fn outlasts(&self, failure: &Failure) -> bool {
        let is_order = matches!(
            self.action,
            Action::Jules(JulesAction::Say { .. } | JulesAction::ApprovePlan { .. })
        );
        is_order && failure.class.may_pass()
    }
}
