//! The state of the servers: Jules, GitHub, the agents' receivers, and what they share.

use std::sync::{Arc, Mutex, PoisonError};

use crate::Error;
use crate::advance::advance;
use crate::agent::Agents;
use crate::clock::Clock;
use crate::counters::RequestCounts;
use crate::faults::Faults;
use crate::github::{GitHub, RepoSetup};
use crate::jules::Jules;
use crate::options::Options;
use crate::scenario::{Foreign, ForeignPull, Scenario, numbered, paced};

/// The servers' state; clones share it.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) clock: Clock,
    pub(crate) faults: Faults,
    pub(crate) counters: RequestCounts,
    pub(crate) github: GitHub,
    pub(crate) jules: Jules,
    pub(crate) agents: Agents,
    /// Held while things move forward, so that two requests do not move them at once.
    moving: Arc<Mutex<()>>,
}

impl Parts {
    /// Sets up the scenario.
    pub(crate) fn new(options: &Options) -> Result<Self, Error> {
        let scenario = &options.scenario;
        let (faults, counters) = (Faults::default(), RequestCounts::default());
        faults.set_lags(scenario.lags);
        scenario
            .faults
            .iter()
            .for_each(|fault| faults.add(fault.clone()));
        let github = GitHub::new(counters.clone(), faults.clone());
        let clock = Arc::clone(&options.clock);
        let agents = Agents::new(&scenario.agents, Arc::clone(&clock), counters.clone());
        let jules = Jules::new(
            scenario,
            Arc::clone(&clock),
            faults.clone(),
            counters.clone(),
            github.clone(),
        );
        let parts = Self {
            clock,
            faults,
            counters,
            github,
            jules,
            agents,
            moving: Arc::default(),
        };
        parts.furnish(scenario)?;
        // The hook comes last: what the scenario starts with happened before it existed.
        parts
            .github
            .set_webhook_faults(scenario.webhook_faults.clone());
        parts.github.set_webhook(options.webhook.clone());
        Ok(parts)
    }

    fn furnish(&self, scenario: &Scenario) -> Result<(), Error> {
        let now = (self.clock)();
        scenario
            .tokens
            .iter()
            .for_each(|token| self.github.add_token(token.clone()));
        for repo in &scenario.repos {
            self.github.add_repo(now, at_pace(repo, scenario.pace))?;
        }
        for foreign in &scenario.foreign {
            match foreign {
                Foreign::Session(session) => drop(self.jules.add_foreign(session)?),
                Foreign::Pull(pull) => drop(self.add_foreign_pulls(pull)?),
            }
        }
        Ok(())
    }

    pub(crate) fn add_foreign_pulls(&self, foreign: &ForeignPull) -> Result<Vec<u64>, Error> {
        if self.github.branches(&foreign.repo).is_none() {
            return Err(Error::Scenario {
                field: "repo".to_owned(),
                problem: "is not in this scenario".to_owned(),
            });
        }
        let now = (self.clock)();
        let pulls = (1..=foreign.count).map(|n| {
            let mut pull = foreign.pull.clone();
            for text in [&mut pull.title, &mut pull.body, &mut pull.head_branch] {
                *text = numbered(text, n);
            }
            self.github.open_pull(now, &foreign.repo, pull)
        });
        Ok(pulls.collect())
    }

    pub(crate) fn advance(&self) {
        let _moving = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
        advance((self.clock)(), &self.jules, &self.github);
    }

    pub(crate) async fn deliver_webhooks(&self) -> usize {
        self.github.deliver_due((self.clock)()).await
    }
}

/// The repository with its checks at the scenario's pace.
fn at_pace(repo: &RepoSetup, pace: f64) -> RepoSetup {
    let mut repo = repo.clone();
    for check in &mut repo.ci.checks {
        for delay in [
            &mut check.takes,
            &mut check.starts_after,
            &mut check.queued_for,
        ] {
            *delay = paced(*delay, pace);
        }
    }
    repo
}
