//! The files of a monitor: its list of jobs, and its file of events.

use anyhow::{Context, Result};
use jiff::Timestamp;

use super::super::config::Config;
use super::super::entries;
use super::super::events::Appending;
use super::super::jobs::LIST_BYTES_MAX;
use super::super::known::Known;
use crate::stdin;

/// What a monitor reads and writes.
pub(super) struct Files<'a> {
    pub(super) config: &'a Config,
    pub(super) known: Known,
    pub(super) events: Appending<'a>,
    /// The last report about an unreadable list; `None` while it can be read.
    told: Option<String>,
}

impl<'a> Files<'a> {
    pub(super) fn open(config: &'a Config) -> Result<Self> {
        Ok(Self {
            config,
            known: Known::default(),
            events: Appending::open(config)?,
            told: None,
        })
    }

    /// Reports why the list cannot be read: once, until it can or the reason changes.
    pub(super) fn tell_unread(&mut self, unread: Option<&anyhow::Error>) {
        let unread = unread.map(|error| crate::error::describe(error).what);
        if let Some(what) = unread
            .as_ref()
            .filter(|what| self.told.as_ref() != Some(what))
        {
            tracing::error!(
                "the list was not taken, and everything else goes on; it is tried again each round: {what}"
            );
        }
        self.told = unread;
    }

    /// The unsettled entries of the list. A missing list is an empty one.
    pub(super) fn news(
        &self,
        now: Timestamp,
    ) -> Result<Vec<Result<entries::Entry, entries::Wrong>>> {
        let path = &self.config.jobs_path;
        if matches!(path.try_exists(), Ok(false)) {
            return Ok(Vec::new());
        }
        let bytes = stdin::bytes_of_file(path, LIST_BYTES_MAX)
            .with_context(|| format!("reading the jobs of {}", path.display()))?;
        Ok(self.known.news(&bytes, now))
    }
}
