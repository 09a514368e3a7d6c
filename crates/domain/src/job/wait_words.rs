//! What is waited for, in words, and what a pause makes of it.

use jiff::Timestamp;

use super::waits::{WaitParty, WaitReason, WaitsFor};

impl WaitReason {
    /// In one word, as it travels.
    pub fn word(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Plan => "plan",
            Self::Answered => "answered",
            Self::Nudged => "nudged",
            Self::Slot => "slot",
            Self::Session => "session",
            Self::Work => "work",
            Self::Silence => "silence",
            Self::Paused => "paused",
            Self::UnknownState => "unknown_state",
            Self::Result => "result",
            Self::Reading => "reading",
            Self::Checks => "checks",
            Self::Repair => "repair",
            Self::Review => "review",
            Self::Approval => "approval",
            Self::Blocked => "blocked",
            Self::Merge => "merge",
            Self::Delivery => "delivery",
            Self::Start => "start",
            Self::Checkpoint => "checkpoint",
            Self::Failure => "failure",
            Self::PlanToSend => "plan_to_send",
            Self::Verdict => "verdict",
            Self::Deployment => "deployment",
            Self::Observation => "observation",
            Self::Parts => "parts",
            Self::Hold => "hold",
            Self::Ended => "ended",
        }
    }

    /// As part of a sentence: what is the case.
    pub fn words(self) -> &'static str {
        match self {
            Self::Question => "a question is open",
            Self::Plan => "a plan waits for approval",
            Self::Answered => "answered, waiting for Jules to take it up",
            Self::Nudged => "told to decide by itself",
            Self::Slot => "queued until a slot is free",
            Self::Session => "its session is being created",
            Self::Work => "its session is at work",
            Self::Silence => "its session is silent",
            Self::Paused => "its session is paused",
            Self::UnknownState => "its session is in a state that this version does not know",
            Self::Result => "its session is done and made no pull request",
            Self::Reading => "its pull request is to be read and judged",
            Self::Checks => "checks have to finish",
            Self::Repair => "its session was told what to mend",
            Self::Review => "its pull request waits for a review on GitHub",
            Self::Approval => "its merge waits for approval",
            Self::Blocked => "something stands in the way of its merge",
            Self::Merge => "its pull request is about to be merged",
            Self::Delivery => "its delivery has not come to its merge yet",
            Self::Start => "it waits to be started",
            Self::Checkpoint => "its phase is done and has to be approved",
            Self::Failure => "its phase failed",
            Self::PlanToSend => "its plan has to be sent",
            Self::Verdict => "its change has to be reviewed",
            Self::Deployment => "its deployment has to come to an end",
            Self::Observation => "what was deployed is observed",
            Self::Parts => "its parts have to be closed",
            Self::Hold => "work is paused, and goes on once it is resumed",
            Self::Ended => "it is over",
        }
    }
}

impl WaitsFor {
    /// The same while nothing is written outside: what would wait for Gaffer waits for a person who resumes the work.
    /// What was said to a session may not be sent yet, and a merge is stopped by the pause itself.
    #[must_use]
    pub fn while_held(self, since: Option<Timestamp>) -> Self {
        let is_held = match self.what {
            WaitReason::Answered | WaitReason::Blocked => true,
            WaitReason::Question
            | WaitReason::Plan
            | WaitReason::Nudged
            | WaitReason::Slot
            | WaitReason::Session
            | WaitReason::Work
            | WaitReason::Silence
            | WaitReason::Paused
            | WaitReason::UnknownState
            | WaitReason::Result
            | WaitReason::Reading
            | WaitReason::Checks
            | WaitReason::Repair
            | WaitReason::Review
            | WaitReason::Approval
            | WaitReason::Merge
            | WaitReason::Delivery
            | WaitReason::Start
            | WaitReason::Checkpoint
            | WaitReason::Failure
            | WaitReason::PlanToSend
            | WaitReason::Verdict
            | WaitReason::Deployment
            | WaitReason::Observation
            | WaitReason::Parts
            | WaitReason::Hold
            | WaitReason::Ended => self.who == WaitParty::Gaffer,
        };
        match is_held {
            true => Self::new(WaitParty::Person, WaitReason::Hold, since),
            false => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_holds_what_gaffer_would_do_and_nothing_else() {
        let held = |who, what| {
            let waits = WaitsFor::new(who, what, None).while_held(None);
            (waits.who, waits.what)
        };
        let person = (WaitParty::Person, WaitReason::Hold);
        assert_eq!(held(WaitParty::Gaffer, WaitReason::Slot), person);
        assert_eq!(held(WaitParty::Jules, WaitReason::Answered), person);
        assert_eq!(held(WaitParty::Person, WaitReason::Blocked), person);
        for (who, what) in [
            (WaitParty::Jules, WaitReason::Work),
            (WaitParty::Person, WaitReason::Question),
            (WaitParty::Nobody, WaitReason::Ended),
        ] {
            assert_eq!(held(who, what), (who, what));
        }
    }
}
