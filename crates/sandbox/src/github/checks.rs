//! Check data of a commit: check runs, the suites and workflow runs they belong to, and statuses.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::access::{APP_ID, APP_SLUG};
use super::records::User;
use super::setup::{ACTIONS_APP_SLUG, CheckKind, CheckSetup, Outcome};

/// The app that writes a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct App {
    pub(crate) id: u64,
    pub(crate) slug: String,
}

/// A check suite, which for GitHub Actions is also one workflow run.
#[derive(Clone, Debug)]
pub(crate) struct Suite {
    pub(crate) id: u64,
    pub(crate) sha: String,
    pub(crate) branch: String,
    pub(crate) app: App,
    pub(crate) run: Option<Run>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    /// What the last webhook said about it.
    pub(crate) told: Option<Standing>,
}

/// The workflow run of a suite.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) id: u64,
    pub(crate) workflow: String,
    pub(crate) number: u64,
    pub(crate) attempt: u32,
    /// Started by a dispatch, instead of by a push or a pull request.
    pub(crate) dispatched: bool,
}

/// Status and conclusion of a suite or run as GitHub shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Queued,
    InProgress,
    Completed(Conclusion),
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// Passed.
    Success,
    /// Failed.
    Failure,
    /// Ended without a judgement; counts as passed.
    Neutral,
    /// Cancelled by someone.
    Cancelled,
    /// Did not apply; counts as passed.
    Skipped,
    /// Took too long.
    TimedOut,
    /// A person must act first.
    ActionRequired,
}

/// One job or check, from the moment it is planned.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) kind: CheckKind,
    pub(crate) app: App,
    pub(crate) suite: u64,
    pub(crate) sha: String,
    pub(crate) branch: String,
    pub(crate) outcome: Outcome,
    pub(crate) attempt: u32,
    pub(crate) phase: Phase,
    pub(crate) appears_at: Timestamp,
    pub(crate) begins_at: Timestamp,
    /// `None` for one that never ends by itself.
    pub(crate) ends_at: Option<Timestamp>,
    pub(crate) ends_as: Conclusion,
    /// A later attempt took its place.
    pub(crate) superseded: bool,
    /// Set by hand: the clock no longer moves it.
    pub(crate) by_hand: bool,
    pub(crate) log: String,
}

/// How far a check has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Planned, but not visible yet.
    Planned,
    Queued,
    InProgress,
    Completed(Conclusion),
}

/// A branch and the commit at its tip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head<'a> {
    pub(crate) branch: &'a str,
    pub(crate) sha: &'a str,
}

/// A commit status about to be posted.
pub(crate) struct NewStatus<'a> {
    pub(crate) sha: &'a str,
    pub(crate) context: &'a str,
    pub(crate) state: &'a str,
    pub(crate) target_url: Option<String>,
    pub(crate) creator: User,
}

/// One post of a commit status; the newest of a context counts.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    pub(crate) id: u64,
    pub(crate) sha: String,
    pub(crate) context: String,
    /// `pending`, `success`, `failure` or `error`.
    pub(crate) state: String,
    pub(crate) description: String,
    pub(crate) target_url: Option<String>,
    pub(crate) creator: User,
    pub(crate) at: Timestamp,
}

impl Conclusion {
    /// The word of the REST API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Neutral => "neutral",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
            Self::TimedOut => "timed_out",
            Self::ActionRequired => "action_required",
        }
    }

    /// Whether a required check with this conclusion lets a merge through.
    #[must_use]
    pub fn passed(self) -> bool {
        match self {
            Self::Success | Self::Neutral | Self::Skipped => true,
            Self::Failure | Self::Cancelled | Self::TimedOut | Self::ActionRequired => false,
        }
    }
}

impl Standing {
    pub(crate) fn status(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::InProgress => "in_progress",
            Self::Completed(_) => "completed",
        }
    }

    pub(crate) fn conclusion(self) -> Option<&'static str> {
        match self {
            Self::Queued | Self::InProgress => None,
            Self::Completed(conclusion) => Some(conclusion.as_str()),
        }
    }
}

impl App {
    /// The app that writes a check.
    pub(crate) fn from_setup(setup: &CheckSetup) -> Self {
        Self {
            id: setup.app_id,
            slug: setup.app_slug.clone(),
        }
    }

    /// The sandbox's own App, whose checks Gaffer must not wait for.
    pub(crate) fn own() -> Self {
        Self {
            id: APP_ID,
            slug: APP_SLUG.to_owned(),
        }
    }

    pub(crate) fn is_actions(&self) -> bool {
        self.slug == ACTIONS_APP_SLUG
    }
}
