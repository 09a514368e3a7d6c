//! Calls that follow a commit.

use domain::ids::AccountName;
use jiff::SignedDuration;

use super::{Backend, Error};
use crate::ports::{Expect, Key, Write};
use crate::work::Work;

/// The version of a row that was just put for the first time.
const NEW_ROW: u64 = 1;

/// Messages and calls that follow a commit.
#[derive(Default)]
pub(super) struct AfterCommit {
    /// Messages that a row asks for as well, when it is due.
    pub(super) told: Vec<Work>,
    /// Messages that are covered without a row.
    pub(super) hints: Vec<Work>,
    /// The same, sent after a delay.
    pub(super) later: Vec<(Work, SignedDuration)>,
    /// Messages with a row of their own.
    pub(super) rows: Vec<(Key, Work)>,
    /// Accounts of which a create has ended.
    pub(super) ended: Vec<AccountName>,
    /// Accounts that may have a slot free.
    pub(super) freed: Vec<AccountName>,
    /// Accounts whose queue was joined without a message, with the version that their slots had then.
    pub(super) joined: Vec<(AccountName, u64)>,
}

impl AfterCommit {
    pub(super) fn is_empty(&self) -> bool {
        self.told.is_empty()
            && self.hints.is_empty()
            && self.later.is_empty()
            && self.rows.is_empty()
            && self.ended.is_empty()
            && self.freed.is_empty()
            && self.joined.is_empty()
    }
}

impl Backend {
    /// Sends the calls of a commit. A failure to send does not undo the commit.
    pub(super) async fn run_after_commit(&self, telling: AfterCommit) {
        for work in telling.told.iter().chain(&telling.hints) {
            if let Err(error) = self.nudge(work).await {
                tracing::warn!(%error, ?work, "a message is sent when its row is due, or what it hints at is found by itself");
            }
        }
        for (work, delay) in &telling.later {
            if let Err(error) = self.queue.send(&work.to_body(), *delay).await {
                tracing::warn!(%error, ?work, "a delayed message is lost; what it hints at is found by itself");
            }
        }
        for (key, work) in telling.rows {
            if let Err(error) = self.publish(&key, NEW_ROW, &work).await {
                tracing::warn!(%error, key = ?key, "a message stays in the outbox");
            }
        }
        for account in telling.ended {
            if let Err(error) = self.wake_create_waiters(&account).await {
                tracing::warn!(%error, %account, "jobs that wait for a create to end look for that by themselves");
            }
        }
        for (account, version) in telling.joined {
            if let Err(error) = self.wake_if_slots_changed(&account, version).await {
                tracing::warn!(%error, %account, "jobs that wait for a slot look for one by themselves");
            }
        }
        for account in telling.freed {
            if let Err(error) = self.wake_slot_queue(&account).await {
                tracing::warn!(%error, %account, "jobs that wait for a slot look for one by themselves");
            }
        }
    }

    /// Offers an account's free slots to its queue; does nothing when the queue is empty. It needs no row: slots with
    /// a queue are due every two minutes.
    async fn wake_slot_queue(&self, account: &AccountName) -> Result<(), Error> {
        if self.store.is_anybody_queued(account).await? {
            let account = account.clone();
            self.nudge(&Work::Slots { account }).await?;
        }
        Ok(())
    }

    /// A job joined a queue with scheduled slots. A process that changed the slots meanwhile may have missed it.
    async fn wake_if_slots_changed(
        &self,
        account: &AccountName,
        version: u64,
    ) -> Result<(), Error> {
        if self.store.slots(account).await?.version != version {
            let account = account.clone();
            self.nudge(&Work::Slots { account }).await?;
        }
        Ok(())
    }

    /// A create of an account has ended: a job that waits for that has left a due time at the slots.
    async fn wake_create_waiters(&self, account: &AccountName) -> Result<(), Error> {
        if self.store.slots(account).await?.due.is_some() {
            let account = account.clone();
            self.nudge(&Work::Slots { account }).await?;
        }
        Ok(())
    }

    /// Sends a message that may be lost: its subject is found without it.
    pub(crate) async fn nudge(&self, work: &Work) -> Result<(), Error> {
        Ok(self.queue.nudge(&work.to_body()).await?)
    }

    /// Sends an outbox row's message and then forgets the row: a crash between the two sends it twice, which changes nothing.
    pub(crate) async fn publish(&self, key: &Key, version: u64, work: &Work) -> Result<(), Error> {
        self.queue
            .send(&work.to_body(), SignedDuration::ZERO)
            .await?;
        self.store
            .records()
            .commit(vec![Write::Delete {
                key: key.clone(),
                expect: Expect::Version(version),
            }])
            .await
            .map_err(Error::from)
            // A row that was written again meanwhile needs another call, and one that is gone was sent by another
            // process.
            .or_else(|error| {
                if error.is_conflict() {
                    Ok(())
                } else {
                    Err(error)
                }
            })
    }
}
