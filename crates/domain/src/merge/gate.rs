//! Why a delivery or a sprint does not let a head be merged, as a judgement takes it.

use serde::{Deserialize, Serialize};

use super::{Judgement, Reason, SessionStatus};
use crate::delivery::Phase;
use crate::ids::{DeliveryId, SprintNumber};

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
    pub(super) fn judgement(&self, session: SessionStatus) -> Option<Judgement> {
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

/// Why a sprint does not let a pull request be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SprintGate {
    /// It weaves it with others.
    Woven {
        /// Which sprint.
        sprint: SprintNumber,
    },
    /// It has not collected the mail of this head.
    Mail,
    /// The mail of this head can never be read, so its session may have taken the change back.
    Unreadable,
    /// Its session took the change back.
    TakenBack,
    /// It is over, and leaves it to people.
    Over,
}

impl SprintGate {
    /// Whether the pull request stays as its session left it: its sprint weaves it, or has left it to people.
    pub fn leaves_as_is(self) -> bool {
        match self {
            Self::Woven { .. } | Self::Over => true,
            Self::Mail | Self::Unreadable | Self::TakenBack => false,
        }
    }

    /// The same as a reason of a judgement.
    pub fn reason(self) -> Reason {
        match self {
            Self::Woven { sprint } => Reason::Woven { sprint },
            Self::Mail => Reason::MailUncollected,
            Self::Unreadable => Reason::MailUnreadable,
            Self::TakenBack => Reason::TakenBack,
            Self::Over => Reason::SprintOver,
        }
    }
}
