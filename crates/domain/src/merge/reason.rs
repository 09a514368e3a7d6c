//! Why a pull request is not merged now: a code for programs and a sentence that says what to do.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ids::BranchName;

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
    /// People merge here, and nobody has said so for this head.
    NeedsApproval,
    /// Writing is paused.
    Paused,
    /// This process only observes.
    ObserveOnly,
    /// Enough merges for one day.
    DailyCap {
        /// The source's limit.
        cap: u32,
    },
    /// Its session may still push.
    SessionWorking,
    /// Its session failed.
    SessionFailed,
    /// Its job was called off.
    CalledOff,
    /// It is a draft.
    Draft,
    /// It goes to another branch than its job asked for.
    WrongBase {
        /// Where it goes.
        is: BranchName,
        /// Where it should.
        wanted: BranchName,
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
        cause: NeverStarted,
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
    /// The credential may not read something that a merge depends on.
    Forbidden {
        /// What.
        what: Thing,
        /// The missing permission, in GitHub's words.
        permission: String,
    },
    /// Something that a merge depends on could not be read whole.
    Unknown {
        /// What.
        what: Thing,
        /// Why.
        why: String,
    },
    /// What was read is too old to act on.
    FactsStale,
    /// Green, and being watched for a moment longer.
    Settling {
        /// Until when.
        until: Timestamp,
    },
}

/// Why no check has appeared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NeverStarted {
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

/// Something that a merge depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thing {
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

impl Thing {
    fn words(self) -> &'static str {
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
    /// Somebody has to do something.
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
            Self::Paused => "paused",
            Self::ObserveOnly => "observe_only",
            Self::DailyCap { .. } => "daily_cap",
            Self::SessionWorking => "session_working",
            Self::SessionFailed => "session_failed",
            Self::CalledOff => "called_off",
            Self::Draft => "draft",
            Self::WrongBase { .. } => "wrong_base",
            Self::BlockingLabel { .. } => "blocking_label",
            Self::ProtectedPath { .. } => "protected_path",
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
            Self::Settling { .. } => "settling",
        }
    }

    /// Whether it can pass by itself.
    pub fn weight(&self) -> Weight {
        match self {
            Self::Draft
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
            | Self::Settling { .. } => Weight::Wait,
            Self::NotOurs
            | Self::AdoptedMayNotMerge
            | Self::Fork
            | Self::Closed
            | Self::AlreadyMerged
            | Self::NeedsApproval
            | Self::Paused
            | Self::ObserveOnly
            | Self::SessionFailed
            | Self::CalledOff
            | Self::WrongBase { .. }
            | Self::BlockingLabel { .. }
            | Self::ProtectedPath { .. }
            | Self::Conflict
            | Self::CiNeverStarted { .. }
            | Self::ChecksFailed { .. }
            | Self::ActionRequired { .. }
            | Self::MergeQueue
            | Self::Forbidden { .. } => Weight::Refuse,
        }
    }

    /// When it passes, if that is known.
    pub fn until(&self) -> Option<Timestamp> {
        match self {
            Self::NoChecksYet { until } | Self::Settling { until } => Some(*until),
            _ => None,
        }
    }

    /// For people: what is the case, and what to do.
    pub fn sentence(&self) -> String {
        let list = |names: &[String]| names.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
        match self {
            Self::NotOurs => "No job of this installation made this pull request, so Gaffer does not touch it.".to_owned(),
            Self::AdoptedMayNotMerge => {
                "Its session was adopted; set `adopted_may_merge` on the source to let Gaffer merge it.".to_owned()
            }
            Self::Fork => "It comes from a fork; Gaffer never writes to those.".to_owned(),
            Self::Closed => "It is closed.".to_owned(),
            Self::AlreadyMerged => "It is merged already.".to_owned(),
            Self::NeedsApproval => {
                "People decide here what is merged: `gaffer job merge ID` approves this head, or set `merge = on-green` on the source."
                    .to_owned()
            }
            Self::Paused => "Writing is paused: `gaffer resume` lets it go on.".to_owned(),
            Self::ObserveOnly => "This process runs with --observe-only and writes nothing.".to_owned(),
            Self::DailyCap { cap } => format!("{cap} pull requests were merged here in 24 hours, the source's `merges_per_day`."),
            Self::SessionWorking => "Its session is still at work and may push again.".to_owned(),
            Self::SessionFailed => "Its session failed; look at the change, then `gaffer job retry ID` or merge it yourself.".to_owned(),
            Self::CalledOff => "Its job was called off.".to_owned(),
            Self::Draft => "It is a draft; Gaffer marks it ready once its session has finished.".to_owned(),
            Self::WrongBase { is, wanted } => format!("It goes to `{is}`, but its job asked for `{wanted}`; change its base."),
            Self::BlockingLabel { label } => format!("It carries the label `{label}`; take that off."),
            Self::ProtectedPath { path } => format!("It changes `{path}`, which only a person may merge: `gaffer job merge ID` approves this head."),
            Self::MergeableUnknown => "GitHub has not worked out yet whether it conflicts.".to_owned(),
            Self::Conflict => "It conflicts with its base.".to_owned(),
            Self::ChangesRequested => "A reviewer wants changes.".to_owned(),
            Self::ApprovalsMissing { have, need } => format!("It has {have} of the {need} approvals that the branch rules demand."),
            Self::NoChecksYet { until } => format!("No check has appeared on this head yet; until {until} that is usual."),
            Self::CiNeverStarted { cause } => format!("No check has appeared on this head: {}", cause.sentence()),
            Self::ChecksPending { names } => format!("Checks are running: {}.", list(names)),
            Self::ChecksFailed { names, .. } => format!("Checks failed: {}.", list(names)),
            Self::ActionRequired { names } => format!("Workflow runs wait for approval on GitHub: {}.", list(names)),
            Self::TooFewChecks { have, need } => {
                format!("{have} checks succeeded, but the source demands {need}; skipped and neutral ones do not count.")
            }
            Self::RequiredMissing { names } => format!("These checks must pass and have not: {}.", list(names)),
            Self::Behind { by } => format!("It lacks {by} commits of its base; Gaffer updates its branch."),
            Self::MergeQueue => "The base merges through GitHub's merge queue, which this version does not use yet; add it there.".to_owned(),
            Self::Forbidden { what, permission } => {
                format!("The GitHub credential may not read the {}: grant `{permission}`. Until then nothing is merged.", what.words())
            }
            Self::Unknown { what, why } => format!("The {} could not be read whole ({why}); Gaffer tries again.", what.words()),
            Self::FactsStale => "What was read is too old to act on; it is read again.".to_owned(),
            Self::Settling { until } => format!("Everything is green; it is watched until {until} in case another check starts."),
        }
    }
}

impl NeverStarted {
    /// For people: what is the case, and what to do.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Conflict => {
                "it conflicts with its base, and GitHub starts no workflow then; resolve the conflict."
            }
            Self::ActionsToken => {
                "it was opened with the Actions token, whose pull requests start no workflows; close and reopen it as a user, or give Jules another identity."
            }
            Self::ApprovalPending => {
                "a workflow run waits for approval; approve it on the pull request's page."
            }
            Self::NoWorkflow => {
                "the repository has no workflow; add one, or set `min_checks = 0` with the checks it should wait for."
            }
            Self::Unknown => {
                "nothing that GitHub shows explains it; look at the Actions tab, and check that a workflow runs on `pull_request`."
            }
        }
    }
}
