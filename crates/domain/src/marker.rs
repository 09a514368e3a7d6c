//! The marker in a session's title that says which installation, job and attempt it belongs to.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ids::{InstallationId, JobId, counted};

/// `[gaffer <installation>/<job id>#<attempt>]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// Whose it is: another installation's sessions are never touched.
    pub installation: InstallationId,
    /// The job.
    pub job: JobId,
    /// Which of the job's sessions, from 1.
    pub attempt: u32,
}

impl Marker {
    /// Finds the first well-formed marker in a title.
    pub fn find(title: &str) -> Option<Self> {
        title.match_indices("[gaffer ").find_map(|(at, opening)| {
            let rest = &title[at + opening.len()..];
            Self::parse(&rest[..rest.find(']')?])
        })
    }

    fn parse(inner: &str) -> Option<Self> {
        let (installation, rest) = inner.split_once('/')?;
        let (job, attempt) = rest.split_once('#')?;
        Some(Self {
            installation: installation.parse().ok()?,
            job: job.parse().ok()?,
            attempt: u32::try_from(counted(attempt)?).ok()?,
        })
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "[gaffer {}/{}#{}]",
            self.installation, self.job, self.attempt
        )
    }
}
