//! Whether a delivery lets its pull request be merged: nothing is merged before its verdict, and no head but the one
//! that the verdict is about.

use super::{Delivery, Phase, RunStatus};
use crate::ids::CommitSha;

/// Why a delivery does not let a head be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// It is not at verify.
    NotInVerify {
        /// Where it is.
        phase: Phase,
    },
    /// Its verdict is about another head.
    OtherHead,
}

impl Gate {
    /// For programs.
    pub fn code(self) -> &'static str {
        match self {
            Self::NotInVerify { .. } => "delivery_not_in_verify",
            Self::OtherHead => "verdict_of_another_head",
        }
    }

    /// For people.
    pub fn sentence(self) -> String {
        match self {
            Self::NotInVerify { phase } => format!("Its delivery is at {phase}, not at verify."),
            Self::OtherHead => {
                "The verdict of its review is about another head; this one is reviewed first."
                    .to_owned()
            }
        }
    }
}

/// Why this head may not be merged, as far as its delivery has a say; none if it may.
pub fn gate(delivery: &Delivery, head: &CommitSha) -> Option<Gate> {
    let is_open = match delivery.run_status {
        RunStatus::Pending | RunStatus::Running | RunStatus::Blocked => true,
        RunStatus::Succeeded | RunStatus::Failed => false,
    };
    if delivery.phase != Phase::Verify || !is_open {
        return Some(Gate::NotInVerify {
            phase: delivery.phase,
        });
    }
    (delivery.review.head.as_ref() != Some(head)).then_some(Gate::OtherHead)
}
