//! Pushed sessions: hints to read them now.

use domain::ids::{JobId, SessionId};
use domain::job;

use super::{bare, busy};
use crate::desk::{DECIDE_AGAIN_MAX, Desk, Error};
use crate::keys;
use crate::work::Work;

impl Desk {
    /// A session was pushed: it is read from Jules soon, and nothing of the pushed content is believed. One that is
    /// not watched any more is ignored. Returns its job.
    pub async fn pushed(&self, session: &SessionId) -> Result<JobId, Error> {
        let id = self.store.job_of(session).await?;
        let id = id.ok_or_else(|| Error::NoSuch {
            what: "session",
            name: session.to_string(),
        })?;
        for _ in 0..DECIDE_AGAIN_MAX {
            let found = self.must_job(&id).await?;
            let source = self.store.source(&found.value.repo).await?;
            let source = source.map_or_else(|| bare(&found.value), |source| source.value);
            let now = self.now();
            let Some(step) = job::pushed(&found.value, session, (now, &source.timing)) else {
                return Ok(id);
            };
            let mut unit = self.unit();
            self.save_job(&mut unit, Some(&found), &step).await?;
            let look = Work::Look {
                id: id.clone(),
                pushed_at: Some(now),
            };
            unit.tell(&keys::job_pk(&id), look);
            match self.commit(unit).await {
                Err(error) if error.is_conflict() => {}
                outcome => return outcome.map(|()| id),
            }
        }
        Err(busy(&id))
    }
}
