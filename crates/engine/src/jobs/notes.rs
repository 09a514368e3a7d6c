//! Notes that people and agents keep with a job.

use domain::ids::JobId;
use domain::notes::{InvalidNotes, Notes};
use serde_json::{Map, Value};

use crate::backend::{Backend, Error, decide_again};

impl Backend {
    /// What is noted down about a job.
    pub async fn notes(&self, id: &JobId) -> Result<Notes, Error> {
        Ok(self.store.get_or_initial::<Notes>(id).await?.value)
    }

    /// Stores notes about a job, over the present ones. A repetition writes nothing; invalid notes change nothing.
    pub async fn note(
        &self,
        id: &JobId,
        given: &Map<String, Value>,
    ) -> Result<Result<Notes, InvalidNotes>, Error> {
        decide_again(format!("job {id}"), || async move {
            self.must_job(id).await?;
            let found = self.store.get_or_initial::<Notes>(id).await?;
            let after = match found.value.with(given.clone()) {
                Ok(after) => after,
                Err(refused) => return Ok(Some(Err(refused))),
            };
            if after == found.value {
                return Ok(Some(Ok(after)));
            }
            let mut unit = self.unit();
            unit.save(id, &after, Some(found.version));
            Ok(self.try_commit(unit).await?.then_some(Ok(after)))
        })
        .await
    }
}
