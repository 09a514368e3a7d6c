//! The small Jules: v1alpha with all its known traps, played from stories.

mod activity;
mod call;
mod draft;
mod foreign;
mod hear;
mod json;
mod layer_agent;
mod mask;
mod patch;
mod play;
mod publish;
mod query;
mod refusal;
mod remote;
mod routes;
mod serve;
mod session;
mod settings;
mod switches;
#[cfg(test)]
mod tests;
mod view;
mod world;
mod written;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use crate::clock::Clock;
use crate::counters::RequestCounts;
use crate::faults::{Faults, Lags};
use crate::github::GitHub;
use crate::scenario::Scenario;
use crate::story::Step;

pub use crate::scenario::AccountSetup;
pub use foreign::SessionView;
pub use layer_agent::layer_agent;
pub(crate) use refusal::JulesRefusal;
pub(crate) use routes::router;
pub use switches::{
    ActivityFilter, BadKey, Delete, EmptyBody, FieldMask, MessageEffect, Order, OriginatorCase,
    PatchScope, QuotaRefusal, SessionFilter, SessionUrl, Switches, WorkingBranch,
};

use settings::Settings;
use view::Source;
use world::JulesWorld;

/// The small Jules; clones share one state.
#[derive(Clone)]
pub struct Jules {
    world: Arc<Mutex<JulesWorld>>,
    clock: Clock,
    faults: Faults,
    counters: RequestCounts,
    github: GitHub,
}

impl Jules {
    pub(crate) fn new(
        scenario: &Scenario,
        clock: Clock,
        faults: Faults,
        counters: RequestCounts,
        github: GitHub,
    ) -> Self {
        let sources = scenario
            .repos
            .iter()
            .map(|repo| Source {
                repo: repo.full_name.clone(),
                private: repo.private,
                default_branch: repo.default_branch.clone(),
            })
            .collect();
        let world = JulesWorld::new(Settings::new(scenario), sources);
        Self {
            world: Arc::new(Mutex::new(world)),
            clock,
            faults,
            counters,
            github,
        }
    }

    /// The present switches.
    #[must_use]
    pub fn switches(&self) -> Switches {
        self.world().settings.switches.clone()
    }

    /// Turns switches, for example `jules.switch(|it| it.pull_refs = false)`.
    pub fn switch(&self, change: impl FnOnce(&mut Switches)) {
        change(&mut self.world().settings.switches);
    }

    /// Takes a repository away from Jules, like a person who uninstalls its GitHub App there.
    pub fn disconnect(&self, repo: &str) {
        self.world().sources.retain(|source| source.repo != repo);
    }

    /// Sets how many bytes of patch every finished session carries in each read.
    pub fn set_patch_bytes(&self, bytes: usize) {
        self.world().settings.patch_bytes = bytes;
    }

    /// Leaves sessions whose prompt contains a text out of all lists from now on, like an index that lags far behind;
    /// without a text all are shown again.
    pub fn unlist(&self, text: Option<&str>) {
        self.world().settings.unlisted = text.map(str::to_owned);
    }

    /// Appends steps to a session's agenda and ends its present wait, except for the approval of a plan. False when there is no such
    /// session.
    pub fn append_steps(&self, id: &str, steps: Vec<Step>) -> bool {
        let now = (self.clock)();
        let mut world = self.world();
        let Some(index) = world.sessions.iter().position(|it| it.id == id) else {
            return false;
        };
        if let Some((session, stage)) = world.on_stage(index, now, &self.github) {
            session.append(steps, &stage);
        }
        true
    }

    /// `owner/name` of every source.
    pub(crate) fn repos(&self) -> Vec<String> {
        self.world()
            .sources
            .iter()
            .map(|it| it.repo.clone())
            .collect()
    }

    /// The time of the next event.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.world().next_due()
    }

    /// Performs everything due at `now`.
    pub(crate) fn advance(&self, now: Timestamp) {
        let mut world = self.world();
        world.advance(now, &self.github);
        world.notice(now, &self.github);
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, JulesWorld> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time, and the present lags.
    pub(crate) fn moment(&self) -> (Timestamp, Lags) {
        ((self.clock)(), self.faults.lags())
    }
}
