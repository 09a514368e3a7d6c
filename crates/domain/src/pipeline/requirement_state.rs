//! How far a requirement of the exchange is, and how the delivery that implements it goes.

use serde::{Deserialize, Serialize};

use crate::delivery::{Closed, Delivery};
use crate::facts::PullState;
use crate::ids::{DeliveryId, JobId, PullRef};
use crate::job::WaitsFor;
use crate::pull::PullPhase;

/// How far a requirement is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum RequirementState {
    /// A planner thinks it through.
    Planning {
        /// The planner's job.
        job: JobId,
    },
    /// Its planner ended and did not expand it: a later run gives it another one.
    Unplanned {
        /// How that one ended.
        reason: String,
    },
    /// It can be implemented.
    Ready,
    /// A delivery implements it.
    Implementing {
        /// The delivery.
        delivery: DeliveryId,
    },
    /// It is implemented and merged, and its files stay.
    Merged {
        /// The delivery.
        delivery: DeliveryId,
    },
    /// It is implemented and merged, and a pull request of ours removes its files.
    Tidying {
        /// The delivery.
        delivery: DeliveryId,
        /// The job of that pull request.
        job: JobId,
    },
    /// Its files are gone.
    Tidied {
        /// The delivery.
        delivery: DeliveryId,
    },
    /// A pull request of ours removes its files before it was implemented.
    Removing {
        /// The job of that pull request.
        job: JobId,
        /// Who asked for that.
        by: String,
        /// How far it was: it is so again once the removal is called off.
        before: Box<Self>,
    },
    /// It was not implemented, and its files stay unless they were removed.
    Failed {
        /// Why.
        reason: String,
    },
}

impl RequirementState {
    /// The words of states in which nothing more happens by itself ([`super::Requirement::is_over`]).
    pub const ENDED: [&str; 3] = ["merged", "tidied", "failed"];

    /// Whether its delivery or its last pull request is still to come: its source stays until then.
    pub fn is_under_way(&self) -> bool {
        match self {
            Self::Implementing { .. } | Self::Tidying { .. } | Self::Removing { .. } => true,
            Self::Planning { .. }
            | Self::Unplanned { .. }
            | Self::Ready
            | Self::Merged { .. }
            | Self::Tidied { .. }
            | Self::Failed { .. } => false,
        }
    }

    /// Whether nothing more happens to it by itself.
    pub fn is_over(&self) -> bool {
        match self {
            Self::Planning { .. }
            | Self::Unplanned { .. }
            | Self::Ready
            | Self::Implementing { .. }
            | Self::Tidying { .. }
            | Self::Removing { .. } => false,
            Self::Merged { .. } | Self::Tidied { .. } | Self::Failed { .. } => true,
        }
    }

    /// One word for lists.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Planning { .. } => "planning",
            Self::Unplanned { .. } => "unplanned",
            Self::Ready => "ready",
            Self::Implementing { .. } => "implementing",
            Self::Merged { .. } => "merged",
            Self::Tidying { .. } => "tidying",
            Self::Tidied { .. } => "tidied",
            Self::Removing { .. } => "removing",
            Self::Failed { .. } => "failed",
        }
    }

    /// The job that plans it, or that removes its files.
    pub fn job(&self) -> Option<&JobId> {
        match self {
            Self::Planning { job } | Self::Tidying { job, .. } | Self::Removing { job, .. } => {
                Some(job)
            }
            Self::Unplanned { .. }
            | Self::Ready
            | Self::Implementing { .. }
            | Self::Merged { .. }
            | Self::Tidied { .. }
            | Self::Failed { .. } => None,
        }
    }

    /// Why it was not planned, or not implemented.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Unplanned { reason } | Self::Failed { reason } => Some(reason),
            Self::Planning { .. }
            | Self::Ready
            | Self::Implementing { .. }
            | Self::Merged { .. }
            | Self::Tidying { .. }
            | Self::Tidied { .. }
            | Self::Removing { .. } => None,
        }
    }

    /// What is said of its job: what removes its files, and that a person or an agent has to decide before it goes on.
    pub fn told_of_job(&self, pull: Option<&PullRef>, waits: Option<&WaitsFor>) -> Option<String> {
        let job = self.job()?;
        let name = pull.map_or_else(|| format!("job {job}"), |it| format!("pull request {it}"));
        let waits = waits.filter(|it| it.is_decision()).map(WaitsFor::sentence);
        match self {
            Self::Removing { by, .. } => {
                let waits = waits.map(|who| format!(", which waits for {who}"));
                let waits = waits.unwrap_or_default();
                Some(format!("{by} has its files removed by {name}{waits}"))
            }
            Self::Planning { .. } | Self::Tidying { .. } => {
                waits.map(|who| format!("{name} waits for {who}"))
            }
            Self::Unplanned { .. }
            | Self::Ready
            | Self::Implementing { .. }
            | Self::Merged { .. }
            | Self::Tidied { .. }
            | Self::Failed { .. } => None,
        }
    }

    /// The delivery that implements it, or did.
    pub fn delivery(&self) -> Option<&DeliveryId> {
        match self {
            Self::Implementing { delivery }
            | Self::Merged { delivery }
            | Self::Tidying { delivery, .. }
            | Self::Tidied { delivery } => Some(delivery),
            Self::Planning { .. }
            | Self::Unplanned { .. }
            | Self::Ready
            | Self::Removing { .. }
            | Self::Failed { .. } => None,
        }
    }

    /// Why it does not go on although it is being implemented: its delivery failed, and waits for a person. No start is taken
    /// meanwhile, since it would begin another delivery beside one that may be tried again.
    pub fn stopped_by(&self, delivery: &Delivery) -> Option<String> {
        let error = delivery.error.as_ref();
        let error = error.filter(|_| !delivery.is_terminal())?;
        match self {
            Self::Implementing { .. } => Some(format!(
                "delivery {} failed at {}, and waits to be tried again or given up: {}",
                delivery.id,
                delivery.phase.word(),
                error.text
            )),
            Self::Planning { .. }
            | Self::Unplanned { .. }
            | Self::Ready
            | Self::Merged { .. }
            | Self::Tidying { .. }
            | Self::Tidied { .. }
            | Self::Removing { .. }
            | Self::Failed { .. } => None,
        }
    }
}

/// How a delivery that implements a requirement goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequirementOutcome {
    /// It is not through.
    Open,
    /// Its pull request is merged.
    Merged,
    /// It is over without a merge.
    NotMerged {
        /// Why.
        reason: String,
    },
    /// There is none, since the requirement has no file to make it of.
    NoFile,
}

impl RequirementOutcome {
    /// How a delivery goes, with its pull request.
    pub fn of(delivery: &Delivery, pull: Option<&PullPhase>) -> Self {
        let is_open = match pull {
            Some(PullPhase::Settled {
                state: PullState::Merged { .. },
                ..
            }) => return Self::Merged,
            Some(PullPhase::Settled { .. }) | None => false,
            Some(PullPhase::Open | PullPhase::Merging { .. } | PullPhase::Closed { .. }) => true,
        };
        // With an earlier endpoint, people decide about the pull request that it leaves.
        let is_left = is_open && delivery.closed == Some(Closed::Finished);
        match !delivery.is_terminal() || is_left {
            true => Self::Open,
            false => Self::NotMerged {
                reason: format!("delivery {} ended without a merge", delivery.id),
            },
        }
    }
}
