//! What one poll of an account gathers while it reads and decides.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::account::{ListWeight, PollCounters};
use domain::failure::Failure;
use domain::ids::{AgentName, RepoName, SessionId};
use domain::policy::Source;
use domain::session::SessionView;
use jiff::Timestamp;

/// What a poll has gathered.
#[derive(Default)]
pub(super) struct PollData {
    pub(super) weight: ListWeight,
    pub(super) views: BTreeMap<SessionId, SessionView>,
    pub(super) reads: BTreeMap<SessionId, Timestamp>,
    /// Who wanted to be read and was not yet, with how often in a row.
    pub(super) passed_over: BTreeMap<SessionId, u32>,
    /// Sessions whose news is pushed and whose turn it is not: they are seen only in other sessions' reads.
    pub(super) resting: BTreeSet<SessionId>,
    /// Deadline for beginning a read; the remaining sessions are skipped. `None` for a poll without a limit.
    pub(super) until: Option<Timestamp>,
    /// The account's, with when it was swept.
    pub(super) counters: PollCounters,
    /// Number of requests to Jules; a log counts as one, whatever its number of pages.
    pub(super) asked: u64,
    pub(super) rules: BTreeMap<RepoName, Arc<Source>>,
    /// Which agents can be woken.
    pub(super) awake: BTreeMap<AgentName, bool>,
    /// How many sessions were read.
    pub(super) answered: usize,
    /// Why the others could not be read.
    pub(super) unread: Vec<Failure>,
}
