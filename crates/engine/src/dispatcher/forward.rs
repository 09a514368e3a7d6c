//! What is due later than it should be is brought forward.

use domain::account::{Account, Health};
use domain::ids::{AccountName, JobId};

use super::Dispatcher;
use crate::backend::{Error, UnitOfWork, ignore_conflict};
use crate::keys;
use crate::store::{Versioned, decode};
use crate::work::Work;

impl Dispatcher {
    /// Brings an idle account's next poll forward. An account with errors keeps its own pace.
    pub(super) async fn watch_soon(&self, name: &AccountName) -> Result<(), Error> {
        let key = keys::account(name);
        let Some(record) = self.backend.store.records().get(&key).await? else {
            return Ok(());
        };
        let found: Versioned<Account> = decode(&record)?;
        let now = self.backend.now();
        if found.value.is_busy() || found.value.health != Health::Working {
            return Ok(());
        }
        // A due account may be in a poll just now that has seen nothing to watch: since the row is written, that poll
        // decides again. Its due time must not move later.
        let soon = now + found.value.pace.tick;
        let due = record.due.map_or(soon, |due| due.min(soon));
        let account = Account {
            next_poll: found.value.next_poll.min(soon),
            ..found.value
        };
        let mut unit = self.backend.unit();
        unit.save_due(name, due, &account, Some(found.version));
        ignore_conflict(self.backend.commit(unit).await)
    }

    /// Schedules an early poll of a resting account, for a job with a new session to watch.
    pub(super) async fn wake_up(
        &self,
        unit: &mut UnitOfWork,
        job: &JobId,
        name: &AccountName,
    ) -> Result<(), Error> {
        let Some(found) = self.backend.store.account(name).await? else {
            return Ok(());
        };
        if !found.value.is_busy() {
            let account = name.clone();
            unit.enqueue(&keys::job_pk(job), Work::Watch { account });
        }
        Ok(())
    }
}
