//! What one seed came to, in figures and in words.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use sandbox::{Logged, Service};
use serde::{Deserialize, Serialize};

use crate::outage::TOO_LATE;
use crate::output;

/// How a seed is played again.
pub(crate) fn command(seed: u64) -> String {
    format!("cargo run --package chaos -- seed {seed}")
}

/// What one seed came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) seed: u64,
    /// Jobs handed over.
    pub(crate) jobs: usize,
    /// Pull requests that the sandbox merged.
    pub(crate) merged: u64,
    /// How often the process was killed.
    pub(crate) deaths: usize,
    /// Where it was killed.
    pub(crate) moments: Vec<String>,
    /// How often which fault struck, as the sandbox's log has it.
    pub(crate) faults: BTreeMap<String, usize>,
    /// Sessions created.
    pub(crate) sessions: u64,
    /// Messages said.
    pub(crate) messages: u64,
    /// Requests that reached the receivers.
    pub(crate) wakes: u64,
    /// Virtual time of the story.
    pub(crate) virtual_seconds: i64,
    /// Real time of all.
    pub(crate) seconds: f64,
    /// What was done twice, lost or done wrong.
    pub(crate) violations: Vec<String>,
    /// What the stage should have brought about and did not; that is no fault of Gaffer.
    pub(crate) unstaged: Option<String>,
}

/// How often which fault struck which service. What outlasted its client's patience got no answer.
pub(crate) fn struck(log: &[Logged]) -> BTreeMap<String, usize> {
    let mut struck = BTreeMap::new();
    for entry in log {
        let Some(fault) = &entry.fault else { continue };
        let service = match entry.service {
            Service::Jules => "jules",
            Service::GitHub => "github",
            Service::Agent => "agent",
        };
        let fault = match (fault.strip_suffix(" ms slow"), entry.status) {
            (Some(millis), 0) if millis == TOO_LATE.to_string() => "timeout",
            (Some(_), _) => "slow",
            (None, _) => fault,
        };
        *struck.entry(format!("{service} {fault}")).or_default() += 1;
    }
    struck
}

impl Report {
    pub(crate) fn tell(&self) -> Result<()> {
        output::line(&format!(
            "Seed {}: {} of {} jobs merged although Gaffer was killed {} times ({}) and {} faults struck.",
            self.seed,
            self.merged,
            self.jobs,
            self.deaths,
            self.moments.join(", "),
            self.faults.values().sum::<usize>()
        ))?;
        output::line(&format!(
            "{} sessions, {} messages, {} wakes; {} virtual seconds in {} real ones.",
            self.sessions, self.messages, self.wakes, self.virtual_seconds, self.seconds
        ))?;
        Ok(())
    }

    /// Nothing may be done twice, lost or done wrong.
    pub(crate) fn verdict(&self) -> Result<()> {
        if let (true, Some(unstaged)) = (self.violations.is_empty(), &self.unstaged) {
            bail!("seed {} says nothing: {unstaged}", self.seed);
        }
        if self.violations.is_empty() {
            return Ok(());
        }
        bail!(
            "seed {} broke what Gaffer promises: {}; play it again with `{}`",
            self.seed,
            self.violations.join("; "),
            command(self.seed)
        )
    }
}
