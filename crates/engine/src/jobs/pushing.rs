//! Pushed sessions: hints to read them now.

use domain::ids::{JobId, SessionId};
use domain::job;

use super::bare;
use crate::backend::{Backend, Error, decide_again};
use crate::keys;
use crate::work::Work;

impl Backend {
    /// A session was pushed: it is read from Jules soon, and nothing of the pushed content is believed. One that is
    /// not watched any more is ignored. Returns its job.
    pub async fn pushed(&self, session: &SessionId) -> Result<JobId, Error> {
        let id = self.store.job_of(session).await?;
        let id = id.ok_or_else(|| Error::NoSuch {
            what: "session",
            name: session.to_string(),
        })?;
        let id = &id;
        decide_again(format!("job {id}"), || async move {
            let found = self.must_job(id).await?;
            let source = self.store.source(&found.value.repo).await?;
            let source = source.map_or_else(|| bare(&found.value), |source| source.value);
            let now = self.now();
            let Some(step) = job::pushed(&found.value, session, now, &source.timing) else {
                return Ok(Some(id.clone()));
            };
            let mut unit = self.unit();
            self.save_job(&mut unit, Some(&found), &step).await?;
            let look = Work::Look {
                id: id.clone(),
                pushed_at: Some(now),
            };
            unit.enqueue(&keys::job_pk(id), look);
            Ok(self.try_commit(unit).await?.then(|| id.clone()))
        })
        .await
    }
}
