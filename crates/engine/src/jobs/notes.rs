//! Notes that people and agents keep with a job.

use domain::ids::JobId;
use domain::notes::{NotKept, Notes};
use serde_json::{Map, Value};

use super::busy;
use crate::desk::{DECIDE_AGAIN_MAX, Desk, Error, Place};
use crate::keys;

impl Desk {
    /// What is noted down about a job.
    pub async fn notes(&self, id: &JobId) -> Result<Notes, Error> {
        let found = self.store.read::<Notes>(&keys::notes(id)).await?;
        Ok(found.map(|found| found.value).unwrap_or_default())
    }

    /// Stores notes about a job, over the present ones. A repetition writes nothing; invalid notes change nothing.
    pub async fn note(
        &self,
        id: &JobId,
        given: &Map<String, Value>,
    ) -> Result<Result<Notes, NotKept>, Error> {
        for _ in 0..DECIDE_AGAIN_MAX {
            self.must_job(id).await?;
            let found = self.store.read::<Notes>(&keys::notes(id)).await?;
            let version = found.as_ref().map(|found| found.version);
            let before = found.map(|found| found.value).unwrap_or_default();
            let after = match before.with(given.clone()) {
                Ok(after) => after,
                Err(refused) => return Ok(Err(refused)),
            };
            if after == before {
                return Ok(Ok(after));
            }
            let mut unit = self.unit();
            unit.put(keys::notes(id), &after, version, Place::default());
            match self.commit(unit).await {
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(Ok(after)),
            }
        }
        Err(busy(id))
    }
}
