//! Who can be waited for, with what, and what can be paused.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ids::AgentName;

/// Who must act before a job goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitParty {
    /// A person.
    Person,
    /// The job's agent.
    Agent,
    /// Jules.
    Jules,
    /// GitHub: running checks, or its own computation.
    #[serde(rename = "github")]
    GitHub,
    /// Gaffer itself.
    Gaffer,
    /// No one: the job is over, or its session rests and asks nothing.
    Nobody,
}

/// What a job waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// A question is open.
    Question,
    /// A plan waits for approval.
    Plan,
    /// An answer was given and the session has not confirmed it.
    Answered,
    /// Jules refused the approval of a plan, and it is tried again.
    ApprovalRefused,
    /// The session was asked to decide by itself.
    Nudged,
    /// The account has no free slot yet.
    Slot,
    /// The account has used its tasks of 24 hours.
    Quota,
    /// The session is being created.
    Session,
    /// The session works.
    Work,
    /// The session stopped, and the text that belongs to its state is missing.
    Words,
    /// The session is silent, and that was announced.
    Silence,
    /// The session is paused, and that was announced.
    Paused,
    /// The session is in a state that this version does not know, and that was announced.
    UnknownState,
    /// The session is done and made no pull request.
    Result,
    /// The pull request is to be read and judged.
    Reading,
    /// Checks run, or have to appear.
    Checks,
    /// The session was informed of failed checks or of a conflict.
    Repair,
    /// A review of the pull request on GitHub.
    Review,
    /// An approval of the merge.
    Approval,
    /// A merge is blocked until a person or an agent removes the cause.
    Blocked,
    /// The pull request is closed, and can be reopened.
    Reopening,
    /// The pull request is about to be merged.
    Merge,
    /// As many pull requests were merged in 24 hours as may be.
    MergeCap,
    /// Its delivery has not come to its merge yet.
    Delivery,
    /// A delivery collected its session, and its pull request is to be merged or closed on GitHub.
    Collected,
    /// Its sprint weaves it with others.
    Sprint,
    /// A delivery is to be started.
    Start,
    /// The phase of a delivery is done and has to be approved.
    Checkpoint,
    /// The phase of a delivery failed.
    Failure,
    /// The plan of a delivery has to be sent.
    PlanToSend,
    /// A change has to be reviewed.
    Verdict,
    /// Whatever deploys a change.
    Deployment,
    /// A deployed change is observed.
    Observation,
    /// The parts of a delivery.
    Parts,
    /// Everything is paused.
    Hold,
    /// Its source is paused.
    SourceHold,
    /// Nothing is written while the process only observes.
    ObserveOnly,
    /// The job is over.
    Ended,
}

/// What is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// Everything.
    Everything {
        /// Since when.
        since: Timestamp,
    },
    /// The source.
    Source,
    /// The process only observes.
    Observing,
}

/// Who is waited for, with what and since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitsFor {
    /// Who.
    pub who: WaitParty,
    /// Which agent, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// With what.
    #[serde(rename = "for")]
    pub what: WaitReason,
    /// Since when, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

impl WaitParty {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Person,
        Self::Agent,
        Self::Jules,
        Self::GitHub,
        Self::Gaffer,
        Self::Nobody,
    ];

    /// In one word, as it travels.
    pub fn word(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Agent => "agent",
            Self::Jules => "jules",
            Self::GitHub => "github",
            Self::Gaffer => "gaffer",
            Self::Nobody => "nobody",
        }
    }
}

impl WaitsFor {
    pub(crate) fn new(
        who: WaitParty,
        what: WaitReason,
        since: impl Into<Option<Timestamp>>,
    ) -> Self {
        Self {
            who,
            agent: None,
            what,
            since: since.into(),
        }
    }

    /// Waits for the agent, or where none can be woken for a person.
    pub(crate) fn woken(
        agent: Option<&AgentName>,
        what: WaitReason,
        since: impl Into<Option<Timestamp>>,
    ) -> Self {
        let who = if agent.is_some() {
            WaitParty::Agent
        } else {
            WaitParty::Person
        };
        Self {
            agent: agent.cloned(),
            ..Self::new(who, what, since)
        }
    }

    /// For people: who, and what is the case.
    pub fn sentence(&self) -> String {
        format!("{self}: {}", self.what.words())
    }

    /// Whether an outside decision is pending: a person's or the agent's.
    pub fn is_decision(&self) -> bool {
        matches!(self.who, WaitParty::Person | WaitParty::Agent)
    }
}

impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.who, &self.agent) {
            (WaitParty::Person, _) => f.write_str("a person"),
            (WaitParty::Agent, Some(agent)) => write!(f, "agent {agent}"),
            (WaitParty::Agent, None) => f.write_str("its agent"),
            (WaitParty::Jules, _) => f.write_str("Jules"),
            (WaitParty::GitHub, _) => f.write_str("GitHub"),
            (WaitParty::Gaffer, _) => f.write_str("Gaffer"),
            (WaitParty::Nobody, _) => f.write_str("nobody"),
        }
    }
}
