//! Whether a delivery lets its pull request be merged: nothing is merged before its verdict, and no head but the one
//! that the verdict is about.

use serde::{Deserialize, Serialize};

use super::{Delivery, Phase, RunStatus};
use crate::ids::CommitSha;
use crate::merge::Reason;

/// Why a delivery does not let a head be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// The same as a reason of a judgement.
    pub fn reason(self) -> Reason {
        match self {
            Self::NotInVerify { phase } => Reason::DeliveryNotInVerify { phase },
            Self::OtherHead => Reason::VerdictOfAnotherHead,
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
