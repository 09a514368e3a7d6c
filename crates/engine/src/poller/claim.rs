//! The claim of an account: its row is due later while a poll goes on, so that no other process begins one beside it.

use domain::account::Account;
use jiff::Timestamp;

use crate::backend::{Backend, Error, ignore_conflict};
use crate::store::Versioned;

/// Until when a poll that has begun holds an account, should it never end; `None` while none goes on.
pub(crate) fn held_until(found: &Versioned<Account>, now: Timestamp) -> Option<Timestamp> {
    let due = found.due?;
    (due > now && due > found.value.next_poll).then_some(due)
}

impl Backend {
    /// Ends the claims of polls whose process is gone, so that the next tick polls those accounts.
    /// Only for a process that works alone over a data folder: elsewhere the holder may be at work.
    pub async fn end_claims(&self) -> Result<(), Error> {
        for found in self.store.accounts().await? {
            if held_until(&found, self.now()).is_none() {
                continue;
            }
            let mut unit = self.unit();
            unit.save(&found.value.name, &found.value, Some(found.version));
            // A command that changed the account meanwhile has ended the claim too.
            ignore_conflict(self.commit(unit).await)?;
        }
        Ok(())
    }
}
