//! What is known of a pull request apart from the facts that GitHub shows.

use jiff::Timestamp;

use crate::event::FailedCheck;
use crate::facts::PullFacts;
use crate::ids::{AccountName, BranchName};
use crate::merge::{Gate, Hold, Owner, SessionStatus, SprintGate};
use crate::web_page::WebPage;

/// Inputs apart from the facts about a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullContext {
    /// Whose it is.
    pub owner: Owner,
    /// What its session does.
    pub session: SessionStatus,
    /// The account of its job, for events.
    pub account: AccountName,
    /// The attempt of its job, for events.
    pub attempt: u32,
    /// The base that its job asked for.
    pub wanted_base: BranchName,
    /// Merges of this source in the last 24 hours.
    pub merges_today: u32,
    /// When the oldest of those will be a day old; `None` without any.
    pub merge_day_ends: Option<Timestamp>,
    /// Whether writing is switched off.
    pub hold: Option<Hold>,
    /// Whether a merge call is under way or its outcome unknown.
    pub merge_unsettled: bool,
    /// What failed checks said, untrusted, ready to be fenced.
    pub logs: Vec<FailedCheck>,
    /// Why its delivery does not let this head be merged.
    pub gate: Option<Gate>,
    /// Why its sprint does not let it be merged by itself.
    pub sprint_gate: Option<SprintGate>,
    /// Whether its session worked on a plan without an approval where the policy requires one.
    pub plan_unreviewed: bool,
    /// Result of comparing this head, if [`needed_comparison`](super::unexpected::needed_comparison) asked for it: its
    /// unexpected changes, or `None` inside where they could not be determined.
    pub unexpected: Option<Option<Vec<String>>>,
    /// Whether the present head only merged the base in, if
    /// [`update_to_check`](super::for_delivery::update_to_check) asked for it.
    pub is_base_merge: Option<bool>,
    /// The page of its session, for events.
    pub session_page: Option<WebPage>,
}

/// Whether Gaffer may write: never to pull requests of others or of forks, and not while writing is switched off.
pub(super) fn may_write(facts: &PullFacts, outside: &PullContext) -> bool {
    is_ours(facts, outside) && outside.hold.is_none()
}

/// Whether Gaffer may write to it at all: what is decided only once is decided in a pause too, and waits for its end.
pub(super) fn is_ours(facts: &PullFacts, outside: &PullContext) -> bool {
    facts.is_from_base_repository() && outside.owner != Owner::Foreign
}
