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

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: &str = "01jv0000000000000000000007";

    fn found(title: &str) -> Option<String> {
        Marker::find(title).map(|marker| marker.to_string())
    }

    #[test]
    fn a_marker_is_found_wherever_it_stands() {
        let marker = format!("[gaffer home/{JOB}#2]");
        for title in [
            marker.clone(),
            format!("{marker} Fix the cart"),
            format!("Fix [the cart] {marker}"),
            format!("[gaffer broken {marker}"),
            format!("[gaffer x/y#1] {marker} [gaffer other/{JOB}#1]"),
        ] {
            assert_eq!(found(&title).as_ref(), Some(&marker), "{title}");
        }
    }

    #[test]
    fn what_only_looks_like_a_marker_is_none() {
        for title in [
            String::new(),
            "Fix the cart".to_owned(),
            format!("[gaffer home/{JOB}#2"),
            format!("[gaffer home/{JOB}#0]"),
            format!("[gaffer home/{JOB}#+1]"),
            format!("[gaffer home/{JOB}#]"),
            format!("[gaffer home/{JOB}#99999999999]"),
            format!("[gaffer Home/{JOB}#1]"),
            format!("[gaffer home/{}#1]", JOB.to_uppercase()),
            "[gaffer home/short#1]".to_owned(),
            format!("[gaffer  home/{JOB}#1]"),
            format!("[Gaffer home/{JOB}#1]"),
        ] {
            assert_eq!(found(&title), None, "{title}");
        }
    }

    #[test]
    fn titles_of_sessions_carry_the_marker_first() {
        let marker = Marker {
            installation: "home".parse().unwrap(),
            job: JOB.parse().unwrap(),
            attempt: 3,
        };
        assert_eq!(Marker::find(&format!("{marker} anything")), Some(marker));
    }
}
