//! Starts queued jobs while their account has room.

use std::collections::BTreeSet;

use domain::governor::{self, Admission, SLOTS_TAKEN, Slots};
use domain::ids::{AccountName, JobId};
use domain::job::{self, Job, Phase};
use jiff::Timestamp;

use super::Dispatcher;
use crate::desk::{Error, Place, ignore_conflict};
use crate::keys;
use crate::store::Versioned;
use crate::work::Work;

/// Whose word is taken that it holds a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doubt {
    /// Whoever the list of watched jobs shows with one holds it; the others are asked. A list may be a moment old.
    Absent,
    /// Nobody's: each is asked.
    All,
}

impl Dispatcher {
    /// Gives free slots to the jobs whose turn it is. Several dispatchers may try: the version of the slots lets one win.
    pub(super) async fn slots(&self, account: &AccountName) -> Result<(), Error> {
        let Some(limits) = self
            .desk
            .store
            .account(account)
            .await?
            .map(|found| found.value.limits)
        else {
            tracing::warn!(%account, "jobs wait for an account that does not exist: `gaffer account add`");
            return Ok(());
        };
        let now = self.desk.now();
        let queued = self.desk.store.queued(account).await?;
        if queued.is_empty() {
            // Whose slots are free is found when somebody wants one.
            let slots = self.desk.store.slots(account).await?;
            return self.keep_slots(&slots, None).await;
        }
        let mut slots = self.free_the_finished(account, Doubt::Absent).await?;
        let mut next: Option<Timestamp> = None;
        for found in in_turn(queued, now) {
            let Phase::Queued { not_before, .. } = found.value.phase else {
                continue;
            };
            if self
                .hold(&self.source(&found.value.repo).await?)
                .await?
                .is_some()
            {
                continue;
            }
            if not_before > now {
                next = earliest(next, not_before);
                continue;
            }
            let admit = |slots: &Versioned<Slots>| {
                governor::admit(&slots.value, &found.value.id, limits, now)
            };
            let mut admission = admit(&slots);
            if matches!(
                admission,
                Admission::Later {
                    code: SLOTS_TAKEN,
                    ..
                }
            ) {
                // Before a job is kept waiting, whoever is said to hold a slot is asked.
                slots = self.free_the_finished(account, Doubt::All).await?;
                admission = admit(&slots);
            }
            match admission {
                Admission::Granted(granted) => {
                    return self.begin_job(&found, &slots, &granted).await;
                }
                Admission::Later { at, .. } => {
                    next = at.map_or(next, |at| earliest(next, at));
                    break;
                }
            }
        }
        self.keep_slots(&slots, next).await
    }

    /// Keeps what was learned of the slots, and when to look again; nothing is written when neither is new.
    async fn keep_slots(
        &self,
        slots: &Versioned<Slots>,
        next: Option<Timestamp>,
    ) -> Result<(), Error> {
        let account = &slots.value.account;
        let known = self.desk.store.slots(account).await?;
        let row = self.desk.store.records().get(&keys::slots(account)).await?;
        if known.value == slots.value && row.and_then(|row| row.due) == next {
            return Ok(());
        }
        let mut unit = self.desk.unit();
        let place = Place::due(next);
        unit.put(
            keys::slots(account),
            &slots.value,
            Some(slots.version),
            place,
        );
        ignore_conflict(self.desk.commit(unit).await)
    }

    /// Slots of jobs that no longer hold one are free, whatever became of the message that should have said so.
    async fn free_the_finished(
        &self,
        account: &AccountName,
        doubt: Doubt,
    ) -> Result<Versioned<Slots>, Error> {
        let found = self.desk.store.slots(account).await?;
        let mut slots = found.value.clone();
        let watched = self.desk.store.watched(account).await?;
        let holding = watched.iter().filter(|job| job.value.holds_slot());
        let known: BTreeSet<&JobId> = holding.clone().map(|job| &job.value.id).collect();
        for id in found.value.taken.keys() {
            if doubt == Doubt::Absent && known.contains(id) {
                continue;
            }
            let holds = self
                .desk
                .store
                .job(id)
                .await?
                .is_some_and(|job| job.value.holds_slot());
            if !holds {
                slots = slots.release(id);
            }
        }
        // A finished session that a message woke again draws on the account like any other.
        for job in holding.filter(|job| !found.value.taken.contains_key(&job.value.id)) {
            slots.taken.insert(job.value.id.clone(), self.desk.now());
        }
        Ok(Versioned {
            value: slots,
            version: found.version,
        })
    }

    /// Takes the slot and decides the start in one commit; then the next job is looked at.
    async fn begin_job(
        &self,
        found: &Versioned<Job>,
        slots: &Versioned<Slots>,
        granted: &Slots,
    ) -> Result<(), Error> {
        let step = job::start(&found.value, self.desk.now())?;
        let mut unit = self.desk.unit();
        unit.put(
            keys::slots(&granted.account),
            granted,
            Some(slots.version),
            Place::default(),
        );
        self.desk.save_job(&mut unit, Some(found), &step).await?;
        let pk = keys::job_pk(&found.value.id);
        unit.tell(
            &pk,
            Work::Job {
                id: found.value.id.clone(),
            },
        );
        match self.desk.commit(unit).await {
            Err(error) if error.is_conflict() => {
                let work = Work::Slots {
                    account: granted.account.clone(),
                };
                Ok(self
                    .desk
                    .queue
                    .send(&work.to_body(), governor::CREATE_GAP)
                    .await?)
            }
            outcome => outcome,
        }
    }
}

/// The jobs that wait for a slot, whose turn it is first.
fn in_turn(mut queued: Vec<Versioned<Job>>, now: Timestamp) -> Vec<Versioned<Job>> {
    queued.sort_by_cached_key(|found| job::start_place(&found.value, now));
    queued
}

fn earliest(known: Option<Timestamp>, at: Timestamp) -> Option<Timestamp> {
    Some(known.map_or(at, |known| known.min(at)))
}
