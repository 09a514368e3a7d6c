//! A member of a sprint: its job, what it offers, and how far it is.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::report::{Against, Clash};
use crate::ids::{CommitSha, JobId, MessageId, PersonaName};

/// How many messages a prompt shows in full at most: their numbers are part of the record of the sprint.
pub const SHOWN_MAX: usize = 16;

/// One persona that takes part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SprintMember {
    /// Who.
    pub persona: PersonaName,
    /// Its job.
    pub job: JobId,
    /// The messages that its prompt or the last message to its session shows, until they are marked as read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<MessageId>,
    /// Its pull request, as it was last ready to be woven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<Offer>,
    /// Its place among those that are in, while it is: one that took its change back keeps it until a weave without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u32>,
    /// Its last conflict, also when it is in by an answer to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// The head whose mail was collected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collected: Option<CommitSha>,
    /// How often it was asked for a change: once by its prompt, and once by each conflict that was sent to it.
    pub attempts: u32,
    /// How many of its weaves ended in a conflict.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub conflicts: u32,
    /// Since when it is waited for.
    pub since: Timestamp,
    /// How far it is.
    pub state: MemberState,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A pull request that can be woven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Its number.
    pub pull: u64,
    /// Its head.
    pub head: CommitSha,
}

/// A conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// In which weave.
    pub weave: u32,
    /// The head that was refused.
    pub head: CommitSha,
    /// With what.
    pub against: Against,
    /// Where.
    pub clashes: Vec<Clash>,
    /// How many other places there are, which were left out because of their number.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub others: u32,
}

/// How a member came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Its files as they are: no other member changed any of them.
    Taken,
    /// Its patch, by the rules of `git apply`.
    Applied,
    /// Its texts, merged against the merge base.
    ThreeWay,
    /// It answered the places that it was shown.
    Answered,
}

/// How far a member is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "member")]
pub enum MemberState {
    /// Its job waits for a slot.
    Waiting,
    /// Its session works, or its pull request is not ready yet.
    Working,
    /// Its pull request is ready to be woven.
    PullOpen,
    /// It is in.
    Applied {
        /// How it came in.
        way: Way,
    },
    /// It conflicts, and has to be sent what with.
    Conflicted,
    /// It mends its conflict.
    Rerunning,
    /// It is waited for no more; a late pull request joins the next weave.
    TimedOut,
    /// It changed nothing.
    NoChange,
    /// It is left out.
    Skipped {
        /// Why.
        reason: String,
    },
    /// It took its change back.
    Withdrawn,
    /// Nothing comes of it.
    Failed {
        /// Why.
        reason: String,
    },
}

impl SprintMember {
    /// A member whose job is not made yet.
    pub fn new(persona: PersonaName, job: JobId, now: Timestamp) -> Self {
        Self {
            persona,
            job,
            shown: Vec::new(),
            offer: None,
            place: None,
            refusal: None,
            collected: None,
            attempts: 1,
            conflicts: 0,
            since: now,
            state: MemberState::Waiting,
        }
    }

    /// The number of its pull request, once it was ready to be woven.
    pub fn number(&self) -> Option<u64> {
        self.offer.as_ref().map(|offer| offer.pull)
    }

    /// Whether the next weave is about its pull request.
    pub fn is_offered(&self) -> bool {
        match self.state {
            MemberState::PullOpen | MemberState::Applied { .. } => self.offer.is_some(),
            MemberState::Waiting
            | MemberState::Working
            | MemberState::Conflicted
            | MemberState::Rerunning
            | MemberState::TimedOut
            | MemberState::NoChange
            | MemberState::Skipped { .. }
            | MemberState::Withdrawn
            | MemberState::Failed { .. } => false,
        }
    }

    /// Whether a report may say something of it.
    pub(super) fn may_be_judged(&self) -> bool {
        self.is_offered() || self.state == MemberState::Withdrawn
    }

    /// Whether it took its change back while that is in.
    pub(super) fn is_to_be_taken_out(&self) -> bool {
        self.state == MemberState::Withdrawn && self.place.is_some()
    }

    /// Whether the sprint goes on only after it.
    pub fn is_awaited(&self) -> bool {
        match self.state {
            MemberState::Waiting
            | MemberState::Working
            | MemberState::Conflicted
            | MemberState::Rerunning => true,
            MemberState::PullOpen
            | MemberState::Applied { .. }
            | MemberState::TimedOut
            | MemberState::NoChange
            | MemberState::Skipped { .. }
            | MemberState::Withdrawn
            | MemberState::Failed { .. } => false,
        }
    }

    /// Why what it was to make is not part of the sprint; none if it is, or if there is nothing.
    pub fn missing(&self) -> Option<String> {
        match &self.state {
            MemberState::Applied { .. } | MemberState::NoChange | MemberState::Withdrawn => None,
            MemberState::Skipped { reason } | MemberState::Failed { reason } => {
                Some(reason.clone())
            }
            MemberState::TimedOut => Some("it took too long".to_owned()),
            MemberState::Waiting
            | MemberState::Working
            | MemberState::PullOpen
            | MemberState::Conflicted
            | MemberState::Rerunning => Some("it was not through".to_owned()),
        }
    }
}

impl MemberState {
    /// One word for lists.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Working => "working",
            Self::PullOpen => "pr_open",
            Self::Applied { .. } => "applied",
            Self::Conflicted => "conflicted",
            Self::Rerunning => "rerunning",
            Self::TimedOut => "timed_out",
            Self::NoChange => "no_change",
            Self::Skipped { .. } => "skipped",
            Self::Withdrawn => "withdrawn",
            Self::Failed { .. } => "failed",
        }
    }
}

impl Way {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::Applied => "applied",
            Self::ThreeWay => "three_way",
            Self::Answered => "answered",
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
