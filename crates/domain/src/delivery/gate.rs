//! Whether a delivery lets its pull request be merged: nothing is merged before its verdict, and no head but the one
//! that the verdict is about.

use serde::{Deserialize, Serialize};

use super::{Delivery, Phase, RunStatus};
use crate::ids::{CommitSha, DeliveryId};
use crate::merge::{Judgement, Reason, SessionStatus};

/// Why a delivery does not let a head be merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// It collected the session that made it, whose pull request people merge or close.
    Collected {
        /// Which delivery.
        delivery: DeliveryId,
    },
    /// It is not at verify.
    NotInVerify {
        /// Where it is.
        phase: Phase,
    },
    /// Its verdict is about another head.
    OtherHead,
}

impl Gate {
    /// Whether Gaffer never merges it, whatever comes of the delivery.
    pub fn leaves_to_people(&self) -> bool {
        match self {
            Self::Collected { .. } => true,
            Self::NotInVerify { .. } | Self::OtherHead => false,
        }
    }

    /// The judgement of what Gaffer never merges. Whatever else stands in its way is for the person who merges or closes it.
    pub(crate) fn judgement(&self, session: SessionStatus) -> Option<Judgement> {
        let is_over = session == SessionStatus::Cancelled;
        let over = is_over.then_some(Reason::JobCancelled);
        let reasons = std::iter::once(self.reason()).chain(over).collect();
        self.leaves_to_people()
            .then_some(Judgement::Refuse { reasons })
    }

    /// The same as a reason of a judgement.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Collected { delivery } => Reason::Collected {
                delivery: delivery.clone(),
            },
            Self::NotInVerify { phase } => Reason::DeliveryNotInVerify { phase: *phase },
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
