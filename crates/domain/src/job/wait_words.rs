//! What is waited for, in words, and what a pause makes of it.

use super::wait::{Pause, WaitParty, WaitReason, WaitsFor};

impl WaitReason {
    /// In one word, as it travels.
    pub fn word(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Plan => "plan",
            Self::Answered => "answered",
            Self::ApprovalRefused => "approval_refused",
            Self::Nudged => "nudged",
            Self::Slot => "slot",
            Self::Quota => "quota",
            Self::Session => "session",
            Self::Work => "work",
            Self::Words => "words",
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
            Self::Reopening => "reopening",
            Self::Merge => "merge",
            Self::MergeCap => "merge_cap",
            Self::Delivery => "delivery",
            Self::Collected => "collected",
            Self::Sprint => "sprint",
            Self::Start => "start",
            Self::Checkpoint => "checkpoint",
            Self::Failure => "failure",
            Self::PlanToSend => "plan_to_send",
            Self::Verdict => "verdict",
            Self::Deployment => "deployment",
            Self::Observation => "observation",
            Self::Parts => "parts",
            Self::Hold => "hold",
            Self::SourceHold => "source_hold",
            Self::ObserveOnly => "observe_only",
            Self::Ended => "ended",
        }
    }

    /// As part of a sentence: what is the case.
    pub fn words(self) -> &'static str {
        match self {
            Self::Question => "a question is open",
            Self::Plan => "a plan waits for approval",
            Self::Answered => "answered, waiting for Jules to take it up",
            Self::ApprovalRefused => "it refused the approval of the plan, which is tried again",
            Self::Nudged => "told to decide by itself",
            Self::Slot => "queued until a slot is free",
            Self::Quota => "queued, since its account has used its tasks of 24 hours",
            Self::Session => "its session is being created",
            Self::Work => "its session is at work",
            Self::Words => "its session stopped, and what it says is awaited",
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
            Self::Reopening => "its pull request is closed, and may yet be reopened",
            Self::Merge => "its pull request is about to be merged",
            Self::MergeCap => {
                "its pull request is merged once the cap on merges in 24 hours allows it"
            }
            Self::Delivery => "its delivery has not come to its merge yet",
            Self::Collected => {
                "its session was collected, and its pull request is to be merged or closed on GitHub"
            }
            Self::Sprint => "its sprint weaves it with others",
            Self::Start => "it waits to be started",
            Self::Checkpoint => "its phase is done and has to be approved",
            Self::Failure => "its phase failed",
            Self::PlanToSend => "its plan has to be sent",
            Self::Verdict => "its change has to be reviewed",
            Self::Deployment => "its deployment has to come to an end",
            Self::Observation => "what was deployed is observed",
            Self::Parts => "its parts have to be closed",
            Self::Hold => "everything is paused, and goes on once it is resumed",
            Self::SourceHold => "its source is paused, and goes on once it is resumed",
            Self::ObserveOnly => {
                "Gaffer only observes, and goes on once `gaffer up` is started without --observe-only"
            }
            Self::Ended => "it is over",
        }
    }
}

impl WaitsFor {
    /// The same while work is paused: what would wait for Gaffer waits for a person who resumes the work. `is_unsent`
    /// says whether something that was decided has not been sent yet, so no one outside can act on it.
    #[must_use]
    pub fn while_held(self, pause: Pause, is_unsent: bool) -> Self {
        let is_held = match self.who {
            WaitParty::Gaffer => true,
            WaitParty::Jules | WaitParty::GitHub | WaitParty::Nobody => is_unsent,
            WaitParty::Person | WaitParty::Agent => false,
        };
        if !is_held || self.what == WaitReason::Ended {
            return self;
        }
        match pause {
            Pause::Everything { since } => Self::new(WaitParty::Person, WaitReason::Hold, since),
            Pause::Source => Self::new(WaitParty::Person, WaitReason::SourceHold, None),
            Pause::Observing => Self::new(WaitParty::Person, WaitReason::ObserveOnly, None),
        }
    }

    /// Whether it waits for the end of a pause.
    pub fn is_held(&self) -> bool {
        matches!(
            self.what,
            WaitReason::Hold | WaitReason::SourceHold | WaitReason::ObserveOnly
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_holds_what_gaffer_would_do_and_nothing_else() {
        let held = |who, what, is_unsent| {
            let waits = WaitsFor::new(who, what, None).while_held(Pause::Source, is_unsent);
            (waits.who, waits.what)
        };
        let person = (WaitParty::Person, WaitReason::SourceHold);
        assert_eq!(held(WaitParty::Gaffer, WaitReason::Slot, false), person);
        assert_eq!(held(WaitParty::Jules, WaitReason::Answered, true), person);
        for (who, what, is_unsent) in [
            (WaitParty::Jules, WaitReason::Answered, false),
            (WaitParty::Jules, WaitReason::Work, false),
            (WaitParty::Person, WaitReason::Question, true),
            (WaitParty::Person, WaitReason::Blocked, true),
            (WaitParty::Nobody, WaitReason::Ended, true),
        ] {
            assert_eq!(held(who, what, is_unsent), (who, what));
        }
    }
}
