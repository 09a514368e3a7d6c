//! What one seed came to, in figures and in words.

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use super::command;
use crate::render;

/// What one seed came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Report {
    /// The seed.
    pub(super) seed: u64,
    /// Jobs handed over.
    pub(super) jobs: usize,
    /// Pull requests that the sandbox merged.
    pub(super) merged: u64,
    /// How often the process was killed.
    pub(super) deaths: usize,
    /// Where it was killed.
    pub(super) moments: Vec<String>,
    /// Faults that struck.
    pub(super) faults: usize,
    /// Sessions created.
    pub(super) sessions: u64,
    /// Messages said.
    pub(super) messages: u64,
    /// Requests that reached the receivers.
    pub(super) wakes: u64,
    /// Virtual time of the story.
    pub(super) virtual_seconds: i64,
    /// Real time of all.
    pub(super) seconds: f64,
    /// What was done twice, lost or done wrong.
    pub(super) violations: Vec<String>,
}

impl Report {
    pub(super) fn tell(&self) -> Result<()> {
        render::line(&format!(
            "Seed {}: {} of {} jobs merged although Gaffer was killed {} times ({}) and {} faults struck.",
            self.seed,
            self.merged,
            self.jobs,
            self.deaths,
            self.moments.join(", "),
            self.faults
        ))?;
        render::line(&format!(
            "{} sessions, {} messages, {} wakes; {} virtual seconds in {} real ones.",
            self.sessions, self.messages, self.wakes, self.virtual_seconds, self.seconds
        ))?;
        Ok(())
    }

    /// Nothing may be done twice, lost or done wrong.
    pub(super) fn verdict(&self) -> Result<()> {
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
