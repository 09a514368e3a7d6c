//! Effects whose outcome is still unknown.

use super::{Action, Effect, EffectState, JulesAction};
use crate::ids::SessionId;

impl Effect {
    /// Whether it may be happening now, or may have happened unheard.
    pub fn may_have_happened(&self) -> bool {
        match self.state {
            EffectState::Started { .. } | EffectState::Unknown { .. } => true,
            EffectState::Intent { .. } | EffectState::Done { .. } | EffectState::Failed { .. } => {
                false
            }
        }
    }

    /// Whether it is a message to this session that is on its way or may have arrived. A message to the session of
    /// another attempt wakes that one.
    pub fn may_have_messaged(&self, whom: &SessionId) -> bool {
        let to = matches!(&self.action, Action::Jules(JulesAction::Say { session, .. }) if session == whom);
        to && self.may_have_happened()
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::*;

    fn words(to: &str) -> Effect {
        let action = Action::Jules(JulesAction::Say {
            session: to.parse().unwrap(),
            text: "Go on".to_owned(),
            cause: "test".to_owned(),
        });
        Effect::new(action, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn words_are_in_doubt_from_their_call_until_they_are_settled() {
        let now = Timestamp::UNIX_EPOCH;
        let later = now + SignedDuration::from_hours(1);
        let session: SessionId = "7".parse().unwrap();
        let started = words("7").start(now).unwrap();
        assert!(!words("7").may_have_messaged(&session));
        assert!(started.may_have_messaged(&session));
        assert!(started.expire(later).may_have_messaged(&session));
        assert!(!words("8").start(now).unwrap().may_have_messaged(&session));
        let approval = Action::Jules(JulesAction::ApprovePlan {
            session: session.clone(),
            plan: "p1".parse().unwrap(),
        });
        let approving = Effect::new(approval, now).start(now).unwrap();
        assert!(approving.may_have_happened() && !approving.may_have_messaged(&session));
    }
}
