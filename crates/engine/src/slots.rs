//! The queue for the slots of an account, and the slots: the last created session is recorded only when a job wants a
//! slot.

use domain::governor::Slots;
use domain::ids::AccountName;
use domain::job::Job;

use crate::keys;
use crate::ports::RecordsError;
use crate::store::{PAGE, Store, Versioned, decode};

impl Store {
    /// Jobs of an account that wait for a slot or for their session, in order of their start.
    pub async fn queued(&self, account: &AccountName) -> Result<Vec<Versioned<Job>>, RecordsError> {
        self.all(&keys::jobs_of("queued", account)).await
    }

    /// The first of them, and whether that is all.
    pub(crate) async fn queued_first(
        &self,
        account: &AccountName,
    ) -> Result<(Vec<Versioned<Job>>, bool), RecordsError> {
        let list = keys::jobs_of("queued", account);
        let page = self.records().list(&list, false, None, PAGE).await?;
        let jobs: Result<Vec<_>, _> = page.records.iter().map(decode).collect();
        Ok((jobs?, page.next.is_none()))
    }

    /// Whether any job of an account waits for a slot or for its session, by the index alone.
    pub(crate) async fn is_anybody_queued(
        &self,
        account: &AccountName,
    ) -> Result<bool, RecordsError> {
        let list = keys::jobs_of("queued", account);
        Ok(!self.records().members(&list, 1).await?.is_empty())
    }

    /// An account's slots, with what the job shows whose session was being created.
    pub(crate) async fn slots_now(
        &self,
        account: &AccountName,
    ) -> Result<Versioned<Slots>, RecordsError> {
        let found = self.slots(account).await?;
        let creating = match &found.value.creating {
            Some(id) => self.job(id).await?,
            None => None,
        };
        Ok(match creating {
            Some(job) => Versioned {
                value: found.value.seeing(&job.value),
                ..found
            },
            None => found,
        })
    }
}
