//! The slots of an account as they are: whose session was created last is noted only when somebody wants a slot.

use domain::governor::Slots;
use domain::ids::AccountName;

use crate::ports::RecordsError;
use crate::store::{Store, Versioned};

impl Store {
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
