//! What a decision about a session is made from: what Jules shows of it, the time and the settings.

use jiff::Timestamp;

use super::watch::Watch;
use crate::policy::{Policy, Timing};
use crate::session::{Activity, SessionView};

/// An observation of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observation {
    /// It answered.
    Seen(Box<Snapshot>),
    /// 404.
    NotFound,
}

/// What a session showed at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// As listed or read.
    pub view: SessionView,
    /// Its activities since `ACTIVITY_OVERLAP` before the newest known one, in any order; `None` when they were not asked
    /// for.
    pub activities: Option<Vec<Activity>>,
}

/// Inputs of every decision about what is seen.
pub(super) struct Context<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) now: Timestamp,
    pub(super) policy: &'a Policy,
    pub(super) timing: &'a Timing,
}

impl Context<'_> {
    /// Whether the wait for a text is over.
    pub(super) fn waited(&self, since: Timestamp) -> bool {
        self.now.duration_since(since) >= self.timing.text_wait
    }

    /// Identifies an occurrence whose text never came: by the state and its start.
    pub(super) fn state_key(&self, watch: &Watch) -> String {
        let since = self.snapshot.view.updated_at.unwrap_or(watch.state_since);
        format!("{}@{since}", watch.state.as_str())
    }

    /// The state began before the answer was given, so it is stale.
    pub(super) fn lags_behind(&self, answer: Option<Timestamp>) -> bool {
        match (self.snapshot.view.updated_at, answer) {
            (Some(entered), Some(answer)) => entered <= answer,
            (None, _) | (_, None) => false,
        }
    }
}
