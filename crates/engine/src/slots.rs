//! The queue for the slots of an account, and the slots: the last created session is recorded only when a job wants a
//! slot.

use std::collections::BTreeSet;

use domain::governor::Slots;
use domain::ids::{AccountName, JobId};
use domain::job::Job;
use jiff::Timestamp;

use crate::keys;
use crate::ports::RecordsError;
use crate::store::{PAGE, Store, Versioned, decode};

/// Which jobs count as holders of a slot without a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotCheck {
    /// Trusts recorded holders and members of the list of watched jobs; verifies the others.
    Gone,
    /// Trusts the list of watched jobs; verifies the others. A list may be a moment old.
    Absent,
    /// Trusts none: verifies each.
    All,
}

impl SlotCheck {
    /// The next stricter level, before a job has to wait.
    pub(crate) fn more(self) -> Option<Self> {
        match self {
            Self::Gone => Some(Self::Absent),
            Self::Absent => Some(Self::All),
            Self::All => None,
        }
    }
}

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

    /// An account's slots without those of jobs that no longer hold one, whatever happened to the message about it.
    pub(crate) async fn slots_held(
        &self,
        account: &AccountName,
        doubt: SlotCheck,
        now: Timestamp,
    ) -> Result<Versioned<Slots>, RecordsError> {
        let found = self.slots_now(account).await?;
        let mut slots = found.value.clone();
        let watched = self.watched(account).await?;
        let holding = watched.iter().filter(|job| job.value.holds_slot());
        let known: BTreeSet<&JobId> = holding.clone().map(|job| &job.value.id).collect();
        for id in found.value.taken.keys() {
            if doubt == SlotCheck::Absent && known.contains(id) {
                continue;
            }
            slots = self.slot_seen(&slots, id, now).await?;
        }
        // A finished session that a message woke again draws on the account like any other.
        for job in holding.filter(|job| !found.value.taken.contains_key(&job.value.id)) {
            slots.taken.insert(job.value.id.clone(), now);
        }
        Ok(Versioned {
            value: slots,
            version: found.version,
            due: found.due,
        })
    }

    /// The slots after the job was read that is recorded as the holder of one.
    pub(crate) async fn slot_seen(
        &self,
        slots: &Slots,
        id: &JobId,
        now: Timestamp,
    ) -> Result<Slots, RecordsError> {
        let job = self.job(id).await?;
        let job = job.as_ref().map(|job| &job.value);
        Ok(slots.seen_with(id, job, now))
    }
}
