//! Lists jobs, the newest first, from a cursor that stays good while jobs come and go.

use std::fmt;
use std::str::FromStr;

use domain::ids::{JobId, RepoName};
use domain::job::Job;
use jiff::Timestamp;

use crate::backend::{Backend, Error};
use crate::job_state::state_of;
use crate::keys;
use crate::ports::PageToken;
use crate::store::decode;

/// Jobs read at once while listing.
const LIST_PAGE: usize = 100;

/// Maximum number of jobs that one list reads: a repository without jobs must not cost a read of all there ever were.
const LIST_LOOK_MAX: usize = 2_000;

/// How a cursor begins: another form gets another number.
const FORM: &str = "j1";

/// The last job of a page. Older ones come after it, whether or not it still exists and whatever was added since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobsCursor {
    created_at: Timestamp,
    id: JobId,
}

/// A text is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not a cursor of ours: leave it out to begin anew")]
pub struct InvalidJobsCursor;

/// Some jobs, the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobList {
    /// The jobs.
    pub jobs: Vec<Job>,
    /// Where there may be older ones; `None` when there are none.
    pub next: Option<JobsCursor>,
}

impl JobsCursor {
    fn after(job: &Job) -> Self {
        Self {
            created_at: job.created_at,
            id: job.id.clone(),
        }
    }

    fn token(&self) -> PageToken {
        let place = keys::list_position(self.created_at, &self.id);
        PageToken::after(&place, &keys::job_listed(&self.id))
    }
}

impl fmt::Display for JobsCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORM}.{}.{}", self.created_at.as_nanosecond(), self.id)
    }
}

impl FromStr for JobsCursor {
    type Err = InvalidJobsCursor;

    fn from_str(text: &str) -> Result<Self, InvalidJobsCursor> {
        let mut parts = text.split('.');
        let (form, at, id) = (parts.next(), parts.next(), parts.next());
        let at = at.and_then(|at| at.parse().ok());
        let created_at = at.and_then(|at| Timestamp::from_nanosecond(at).ok());
        let id = id.and_then(|id| id.parse().ok());
        match (created_at, id) {
            (Some(created_at), Some(id)) if form == Some(FORM) && parts.next().is_none() => {
                Ok(Self { created_at, id })
            }
            _ => Err(InvalidJobsCursor),
        }
    }
}

/// Which jobs are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobQuery {
    /// Only jobs of this repository.
    pub repo: Option<RepoName>,
    /// Only jobs in one of these states, in the words of [`STATES`](crate::job_state::STATES); in any when empty.
    pub states: Vec<&'static str>,
}

impl JobQuery {
    fn means(&self, job: &Job) -> bool {
        self.repo.as_ref().is_none_or(|repo| job.repo == *repo)
            && (self.states.is_empty() || self.states.contains(&state_of(job)))
    }
}

impl Backend {
    /// The newest jobs first that are asked for, after a cursor.
    ///
    /// # Errors
    /// With [`Error::NoSuch`] if there are none and the repository that is asked about is no source.
    pub async fn list_jobs(
        &self,
        asked: &JobQuery,
        after: Option<&JobsCursor>,
        limit: usize,
    ) -> Result<JobList, Error> {
        let found = self.jobs_after(asked, after, limit).await?;
        if let Some(repo) = &asked.repo {
            let is_nothing = after.is_none() && found.jobs.is_empty() && found.next.is_none();
            self.must_be_known(repo, is_nothing).await?;
        }
        Ok(found)
    }

    async fn jobs_after(
        &self,
        asked: &JobQuery,
        after: Option<&JobsCursor>,
        limit: usize,
    ) -> Result<JobList, Error> {
        let (mut jobs, mut looked_at) = (Vec::new(), 0);
        let mut last = after.cloned();
        let mut token = after.map(JobsCursor::token);
        while looked_at < LIST_LOOK_MAX {
            let records = self.store.records();
            let page = records.list(keys::JOBS, true, token, LIST_PAGE).await?;
            looked_at += page.records.len();
            for record in &page.records {
                let id = decode::<JobId>(record)?.value;
                let Some(job) = self.store.job(&id).await?.map(|found| found.value) else {
                    continue;
                };
                let is_wanted = asked.means(&job);
                if is_wanted && jobs.len() == limit {
                    return Ok(JobList { jobs, next: last });
                }
                last = Some(JobsCursor::after(&job));
                if is_wanted {
                    jobs.push(job);
                }
            }
            token = page.next;
            if token.is_none() {
                return Ok(JobList { jobs, next: None });
            }
        }
        Ok(JobList { jobs, next: last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is() {
        let cursor = JobsCursor {
            created_at: "2026-03-01T12:00:00.000000001Z".parse().unwrap(),
            id: "01k0000000000000000000000a".parse().unwrap(),
        };
        let text = cursor.to_string();
        assert_eq!(text.parse(), Ok(cursor));
        let wrong = [
            String::new(),
            "j1".to_owned(),
            "j1.1".to_owned(),
            "j1.1.x".to_owned(),
            text.replace("j1", "j2"),
            format!("{text}."),
            format!(" {text}"),
            text.replace("j1.", "j1.99999999999999999999"),
        ];
        for text in wrong {
            assert_eq!(text.parse::<JobsCursor>(), Err(InvalidJobsCursor), "{text}");
        }
    }
}
