//! Starts queued jobs while their account has room.

use domain::governor::{self, Admission};
use domain::ids::AccountName;
use domain::job::{self, Job, Phase};
use jiff::Timestamp;

use super::Dispatcher;
use crate::desk::{Error, Place, ignore_conflict};
use crate::keys;
use crate::store::Versioned;
use crate::work::Work;

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
        let slots = self.free_the_finished(account).await?;
        let mut next: Option<Timestamp> = None;
        for found in in_turn(self.desk.store.queued(account).await?, now) {
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
            match governor::admit(&slots.value, &found.value.id, limits, now) {
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
        slots: &Versioned<governor::Slots>,
        next: Option<Timestamp>,
    ) -> Result<(), Error> {
        let account = &slots.value.account;
        let known = self.desk.store.slots(account).await?;
        let row = self.desk.store.records().get(&keys::slots(account)).await?;
        if known.value == slots.value && row.and_then(|row| row.due) == next {
            return Ok(());
        }
        let mut unit = self.desk.unit();
        let place = Place {
            due: next,
            list: None,
        };
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
    ) -> Result<Versioned<governor::Slots>, Error> {
        let found = self.desk.store.slots(account).await?;
        let mut slots = found.value.clone();
        for id in found.value.taken.keys() {
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
        for job in self
            .desk
            .store
            .watched(account)
            .await?
            .iter()
            .filter(|job| job.value.holds_slot())
        {
            // A finished session that a message woke again draws on the account like any other.
            slots
                .taken
                .entry(job.value.id.clone())
                .or_insert_with(|| self.desk.now());
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
        slots: &Versioned<governor::Slots>,
        granted: &governor::Slots,
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
