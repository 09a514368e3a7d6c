//! A pull request of ours: what we know of it, and what we do about it until it is merged or closed.

mod alarm;
mod apply;
mod approval;
mod checks;
mod closing;
mod context;
mod ending;
mod for_delivery;
mod hint;
mod lane;
mod next_look;
mod own_checks;
mod repair;
mod style;
#[cfg(test)]
mod tests;
mod unexpected;
mod waits;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use apply::{PullInput, apply};
pub(crate) use approval::takes_approval;
pub use approval::{MergeApproval, approve, take_back};
pub use closing::{Closing, close};
pub use context::PullContext;
pub use ending::REOPEN_WAIT;
pub use for_delivery::{GitHubApproval, UpdatedHead, update_to_check};
pub use hint::{
    DeliveryHint, HintDecision, HintState, is_at, is_just_pushed, is_only_seen, is_young,
    unhurried, wants_clues, weigh_hint,
};
pub use lane::{LANE_HOLD, Lane};
pub use own_checks::{OwnCheck, OwnChecks, OwnOutcome};
pub use repair::{is_about_earlier_head, tells_of_checks_at, tells_session, wants_logs};
pub use style::{MergeStyle, TITLE_CHARS_MAX};
pub use unexpected::{
    AcceptedHead, HeadComparison, UnexpectedHead, beyond, needed_comparison, paths_of_patch,
    reverted_paths,
};
pub(crate) use waits::{hindrance, waits_for};

use crate::event::ErrorCause;
use crate::facts::{Base, Check, PullState};
use crate::ids::{
    BranchName, CommitSha, DeliveryId, JobId, PullRef, RepoId, SessionId, SprintNumber,
};
use crate::merge::{Judgement, MergeRefusals};

/// Maximum number of heads recorded as announced: beyond the repair cap none is announced anyway.
pub const ANNOUNCED_HEADS_MAX: usize = 20;

/// A pull request that belongs to a job of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pull {
    /// Which.
    pub pull: PullRef,
    /// The job it belongs to.
    pub job: JobId,
    /// The delivery of that job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<DeliveryId>,
    /// The sprint of that job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sprint: Option<SprintNumber>,
    /// The session that made it, read back and compared before anything was done; none for one of Gaffer's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The repository in which it was first read: the same number elsewhere is another pull request.
    pub repo_id: Option<RepoId>,
    /// When Gaffer first saw it.
    pub since: Timestamp,
    /// Its phase.
    pub phase: PullPhase,
    /// The head we last saw, and when we first saw it.
    pub head: Option<SeenHead>,
    /// The head that has been green without a break, and since when.
    pub green: Option<SeenHead>,
    /// Set while it lacks nothing but time and its turn to merge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<Ready>,
    /// When checks of this head were first seen to have failed.
    pub failing: Option<SeenHead>,
    /// The approved head.
    pub approval: Option<Approval>,
    /// Set while it is to be closed because its job was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closing: Option<Closing>,
    /// The last head that was taken as expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<AcceptedHead>,
    /// The last head with unexpected changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unexpected: Option<UnexpectedHead>,
    /// The approving review of the present head by a person, for a delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewed: Option<GitHubApproval>,
    /// The head that was last compared with the one before an update of the branch, for a delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_head: Option<UpdatedHead>,
    /// Repair messages to its session. Stored, so that flapping cannot reset them.
    pub repairs: Repairs,
    /// Merges of the present head that were decided and did not happen.
    pub refused: Option<RefusedMerge>,
    /// Announcements about it. Stored, so that flapping cannot reset them.
    pub alarms: Vec<Alarm>,
    /// The last results of our own checks, for a pull request of a pipeline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_checks: Option<Box<OwnChecks>>,
    /// The last judgement, for people who ask why.
    pub verdict: Option<PullVerdict>,
    /// Check results from webhooks since then.
    #[serde(default, skip_serializing_if = "HintState::is_nothing")]
    pub hints: HintState,
}

/// Phase of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "phase")]
pub enum PullPhase {
    /// Open and watched.
    Open,
    /// A merge of this head was decided.
    Merging {
        /// The judged head.
        sha: CommitSha,
        /// The judged base.
        base: Base,
        /// When.
        since: Timestamp,
    },
    /// Closed a moment ago: who closes it to start its checks again reopens it soon.
    Closed {
        /// Its head.
        sha: CommitSha,
        /// Since when, as far as is known.
        since: Timestamp,
    },
    /// Merged, or closed permanently; final.
    Settled {
        /// Which of the two.
        state: PullState,
        /// Its last head.
        sha: CommitSha,
        /// When we saw it.
        at: Timestamp,
        /// Login of the person who merged it on GitHub; none if Gaffer did, or if it was closed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
}

/// A head and when it was first seen so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenHead {
    /// The head.
    pub sha: CommitSha,
    /// When.
    pub since: Timestamp,
}

/// A pull request that is merged when its time and its turn have come. Until then it need not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The branch it goes to: merges into one branch go one after the other.
    pub base: BranchName,
    /// From when on it may be merged.
    pub from: Timestamp,
}

/// An approval: a head may be merged once it is green.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The head.
    pub sha: CommitSha,
    /// Who.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// How they want it merged.
    #[serde(default, skip_serializing_if = "MergeStyle::is_usual")]
    pub style: MergeStyle,
}

/// Repair messages to the session, over all heads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repairs {
    /// Heads whose failed checks were sent to the session.
    pub ci_sent: Vec<CommitSha>,
    /// Heads whose conflict was sent to the session.
    pub conflict_sent: Vec<CommitSha>,
    /// How many messages of either kind were sent, over all heads.
    pub count: u32,
    /// Heads into which the base was merged.
    pub updated: Vec<CommitSha>,
    /// How often that was done, over all heads.
    pub updates: u32,
}

/// Merges of a head that were decided and did not happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedMerge {
    /// The head.
    pub sha: CommitSha,
    /// How often, why, and when it may be tried again.
    pub refused: MergeRefusals,
}

/// An announcement about a head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alarm {
    /// What.
    pub cause: ErrorCause,
    /// Of which head.
    pub sha: CommitSha,
}

/// A judgement and when it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullVerdict {
    /// When.
    pub at: Timestamp,
    /// Of which head.
    pub sha: CommitSha,
    /// What.
    pub judgement: Judgement,
    /// Its checks then, at most twenty; what changed since and changed no judgement is not told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
}

/// A pull request that was found to belong to a session of ours.
pub fn track(pull: PullRef, job: JobId, session: Option<SessionId>, now: Timestamp) -> Pull {
    Pull {
        pull,
        job,
        delivery: None,
        sprint: None,
        session,
        repo_id: None,
        since: now,
        phase: PullPhase::Open,
        head: None,
        green: None,
        ready: None,
        failing: None,
        approval: None,
        closing: None,
        accepted: None,
        unexpected: None,
        reviewed: None,
        updated_head: None,
        repairs: Repairs::default(),
        refused: None,
        alarms: Vec::new(),
        own_checks: None,
        verdict: None,
        hints: HintState::default(),
    }
}

impl Pull {
    /// The merge style that the approver of this head chose.
    fn style_of(&self, sha: &CommitSha) -> MergeStyle {
        let approval = self.approval.as_ref().filter(|it| it.sha == *sha);
        approval.map_or_else(MergeStyle::default, |it| it.style.clone())
    }

    /// Whether a new reading could lead to another decision. A merge that began is settled first, and a refused one
    /// waits for its time whatever the settings are.
    pub fn may_be_decided_anew(&self, now: Timestamp) -> bool {
        let refused = self.refused.as_ref();
        let waits = refused.is_some_and(|it| it.refused.again_at > now);
        matches!(self.phase, PullPhase::Open) && !waits
    }

    /// Whether it is merged or closed.
    pub fn is_settled(&self) -> bool {
        match self.phase {
            PullPhase::Settled { .. } => true,
            PullPhase::Open | PullPhase::Merging { .. } | PullPhase::Closed { .. } => false,
        }
    }
}
