//! Why a pull request is not merged now: a code for programs and a sentence that says what to do.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::delivery::Phase;
use crate::ids::{BranchName, DeliveryId, SprintNumber};

/// One reason. More than one can hold at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "code")]
pub enum Reason {
    /// No job of ours made it.
    NotOurs,
    /// Its session was adopted and the source does not let those merge.
    AdoptedMayNotMerge,
    /// It comes from a fork.
    Fork,
    /// It is closed.
    Closed,
    /// It is merged already.
    AlreadyMerged,
    /// People merge here, and no one approved this head.
    NeedsApproval,
    /// Its delivery is not at the merge.
    DeliveryNotInVerify {
        /// Where it is.
        phase: Phase,
    },
    /// The verdict of its delivery's review is about another head.
    VerdictOfAnotherHead,
    /// A delivery collected its session, and people merge it or close it.
    Collected {
        /// Which delivery.
        delivery: DeliveryId,
    },
    /// Its sprint weaves it into one pull request with others.
    Woven {
        /// Which sprint.
        sprint: SprintNumber,
    },
    /// Its sprint has not collected the mail of this head.
    MailUncollected,
    /// The mail of this head can never be read.
    MailUnreadable,
    /// Its session took the change back.
    TakenBack,
    /// Its sprint is over.
    SprintOver,
    /// Writing is paused.
    Paused,
    /// This process only observes.
    ObserveOnly,
    /// Enough merges for one day.
    DailyCap {
        /// The source's limit.
        cap: u32,
        /// When the oldest of the day's merges no longer counts.
        until: Option<Timestamp>,
    },
    /// Its session may still push.
    SessionWorking,
    /// Its session failed.
    SessionFailed,
    /// Its job was cancelled.
    JobCancelled,
    /// It is a draft.
    Draft,
    /// It goes to another branch than its job asked for.
    WrongBase {
        /// Where it goes.
        is: BranchName,
        /// Where it should.
        wanted: BranchName,
    },
    /// It is part of a stack, and GitHub would merge those below it as well.
    Stacked {
        /// Its position in the stack, where 1 is the bottom.
        position: u64,
    },
    /// It carries a label that forbids merging.
    BlockingLabel {
        /// Which.
        label: String,
    },
    /// It changes what only a person may merge.
    ProtectedPath {
        /// What.
        path: String,
    },
    /// Its session worked on a plan without an approval.
    PlanUnreviewed,
    /// Its head contains unexpected changes.
    UnexpectedPush {
        /// What, at most 20 paths.
        paths: Vec<String>,
    },
    /// GitHub has not said yet whether it conflicts.
    MergeableUnknown,
    /// It conflicts with its base.
    Conflict,
    /// A reviewer wants changes.
    ChangesRequested,
    /// Approvals are missing.
    ApprovalsMissing {
        /// How many there are.
        have: u64,
        /// How many the branch rules demand.
        need: u32,
    },
    /// No check has appeared, and it is early.
    NoChecksYet {
        /// From when on that is strange.
        until: Timestamp,
    },
    /// No check has appeared, and it is late.
    CiNeverStarted {
        /// Why, as far as GitHub shows.
        cause: MissingChecksCause,
    },
    /// Checks are running.
    ChecksPending {
        /// Which.
        names: Vec<String>,
    },
    /// Checks failed.
    ChecksFailed {
        /// Which.
        names: Vec<String>,
        /// Whether others are still running.
        others_pending: bool,
    },
    /// Workflow runs wait for a person's approval.
    ActionRequired {
        /// Which checks.
        names: Vec<String>,
    },
    /// Fewer checks succeeded than the source demands.
    TooFewChecks {
        /// How many did.
        have: u64,
        /// How many must.
        need: u32,
    },
    /// Checks that must pass have not.
    RequiredMissing {
        /// Which.
        names: Vec<String>,
    },
    /// The base has moved on and must be merged in first.
    Behind {
        /// By how many commits.
        by: u64,
    },
    /// The branch merges through a merge queue.
    MergeQueue,
    /// The credential may not read a fact that a merge depends on.
    Forbidden {
        /// What.
        what: MergeInput,
        /// The missing permission, in GitHub's words.
        permission: String,
    },
    /// A fact that a merge depends on could not be read completely.
    Unknown {
        /// What.
        what: MergeInput,
        /// Why.
        why: String,
    },
    /// The reading is too old to act on.
    FactsStale,
    /// GitHub refused to merge this head.
    MergeRefused {
        /// Its message.
        why: String,
        /// When it is tried again; `None` once the attempts are used up.
        until: Option<Timestamp>,
    },
    /// The budget of GitHub did not allow the merge call yet; nothing was sent.
    MergeThrottled {
        /// Which budget.
        why: String,
        /// From when on it is allowed.
        until: Timestamp,
    },
    /// Green, but its head is so new that another check may still appear.
    Settling {
        /// Until when.
        until: Timestamp,
    },
}

/// Why no check has appeared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingChecksCause {
    /// GitHub starts no `pull_request` workflow for a head that conflicts.
    Conflict,
    /// It was opened with the Actions token, whose pull requests start no workflows.
    ActionsToken,
    /// A workflow run waits for approval.
    ApprovalPending,
    /// The repository has no workflow.
    NoWorkflow,
    /// Nothing that GitHub shows explains it.
    Unknown,
}

/// A kind of fact that a merge depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeInput {
    /// Which paths it changes.
    ChangedFiles,
    /// Whether it conflicts.
    Mergeability,
    /// What reviewers said.
    Reviews,
    /// Check runs and commit statuses.
    Checks,
    /// What the base branch demands.
    BranchRules,
    /// How far it is behind its base.
    Distance,
}

impl MergeInput {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::ChangedFiles => "changed files",
            Self::Mergeability => "mergeability",
            Self::Reviews => "reviews",
            Self::Checks => "checks",
            Self::BranchRules => "branch rules",
            Self::Distance => "distance to the base",
        }
    }
}

/// Whether a reason can pass by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// It can.
    Wait,
    /// A person or an agent has to act.
    Refuse,
}

impl Reason {
    /// For programs; the same text as the `code` field when it is serialized.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotOurs => "not_ours",
            Self::AdoptedMayNotMerge => "adopted_may_not_merge",
            Self::Fork => "fork",
            Self::Closed => "closed",
            Self::AlreadyMerged => "already_merged",
            Self::NeedsApproval => "needs_approval",
            Self::DeliveryNotInVerify { .. } => "delivery_not_in_verify",
            Self::VerdictOfAnotherHead => "verdict_of_another_head",
            Self::Collected { .. } => "collected",
            Self::Woven { .. } => "woven",
            Self::MailUncollected => "mail_uncollected",
            Self::MailUnreadable => "mail_unreadable",
            Self::TakenBack => "taken_back",
            Self::SprintOver => "sprint_over",
            Self::Paused => "paused",
            Self::ObserveOnly => "observe_only",
            Self::DailyCap { .. } => "daily_cap",
            Self::SessionWorking => "session_working",
            Self::SessionFailed => "session_failed",
            Self::JobCancelled => "job_cancelled",
            Self::Draft => "draft",
            Self::WrongBase { .. } => "wrong_base",
            Self::Stacked { .. } => "stacked",
            Self::BlockingLabel { .. } => "blocking_label",
            Self::ProtectedPath { .. } => "protected_path",
            Self::PlanUnreviewed => "plan_unreviewed",
            Self::UnexpectedPush { .. } => "unexpected_push",
            Self::MergeableUnknown => "mergeable_unknown",
            Self::Conflict => "conflict",
            Self::ChangesRequested => "changes_requested",
            Self::ApprovalsMissing { .. } => "approvals_missing",
            Self::NoChecksYet { .. } => "no_checks_yet",
            Self::CiNeverStarted { .. } => "ci_never_started",
            Self::ChecksPending { .. } => "checks_pending",
            Self::ChecksFailed { .. } => "checks_failed",
            Self::ActionRequired { .. } => "action_required",
            Self::TooFewChecks { .. } => "too_few_checks",
            Self::RequiredMissing { .. } => "required_missing",
            Self::Behind { .. } => "behind",
            Self::MergeQueue => "merge_queue",
            Self::Forbidden { .. } => "forbidden",
            Self::Unknown { .. } => "unknown",
            Self::FactsStale => "facts_stale",
            Self::MergeRefused { .. } => "merge_refused",
            Self::MergeThrottled { .. } => "merge_throttled",
            Self::Settling { .. } => "settling",
        }
    }

    /// Whether it can pass by itself.
    pub fn weight(&self) -> Weight {
        match self {
            Self::Draft
            | Self::DeliveryNotInVerify { .. }
            | Self::VerdictOfAnotherHead
            | Self::Woven { .. }
            | Self::MailUncollected
            | Self::SessionWorking
            | Self::DailyCap { .. }
            | Self::MergeableUnknown
            | Self::ChangesRequested
            | Self::ApprovalsMissing { .. }
            | Self::NoChecksYet { .. }
            | Self::ChecksPending { .. }
            | Self::TooFewChecks { .. }
            | Self::RequiredMissing { .. }
            | Self::Behind { .. }
            | Self::Unknown { .. }
            | Self::FactsStale
            | Self::MergeRefused { until: Some(_), .. }
            | Self::MergeThrottled { .. }
            | Self::Settling { .. } => Weight::Wait,
            Self::NotOurs
            | Self::AdoptedMayNotMerge
            | Self::Fork
            | Self::Closed
            | Self::AlreadyMerged
            | Self::NeedsApproval
            | Self::Collected { .. }
            | Self::MailUnreadable
            | Self::TakenBack
            | Self::SprintOver
            | Self::Paused
            | Self::ObserveOnly
            | Self::SessionFailed
            | Self::JobCancelled
            | Self::WrongBase { .. }
            | Self::Stacked { .. }
            | Self::BlockingLabel { .. }
            | Self::ProtectedPath { .. }
            | Self::PlanUnreviewed
            | Self::UnexpectedPush { .. }
            | Self::Conflict
            | Self::CiNeverStarted { .. }
            | Self::ChecksFailed { .. }
            | Self::ActionRequired { .. }
            | Self::MergeQueue
            | Self::MergeRefused { until: None, .. }
            | Self::Forbidden { .. } => Weight::Refuse,
        }
    }

    /// Whether it is a pause: writing is switched off, and goes on once a person ends that.
    pub fn is_pause(&self) -> bool {
        matches!(self, Self::Paused | Self::ObserveOnly)
    }
}
