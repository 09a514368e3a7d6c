//! Starts queued jobs while their account has room.

use std::collections::{BTreeMap, BTreeSet};

use domain::governor::{self, Admission, CREATE_GAP, CREATE_HOLD, Limits, SLOTS_TAKEN, Slots};
use domain::ids::{AccountName, JobId, RepoName};
use domain::job::{self, Job, JobPhase};
use domain::when::plus;
use jiff::{SignedDuration, Timestamp};

use super::Dispatcher;
use crate::backend::{Error, IndexEntry, UnitOfWork};
use crate::keys;
use crate::poller::CLAIM;
use crate::slots::SlotCheck;
use crate::store::Versioned;
use crate::work::Work;

/// Longest wait before an account's queue is checked again: as long as any row whose message was lost.
const QUEUE_LOOK: SignedDuration = CLAIM;

/// The room of an account, as far as it was verified.
struct SlotRoom {
    limits: Limits,
    now: Timestamp,
    doubt: SlotCheck,
    /// The slots, and other possible holders.
    slots: (Versioned<Slots>, BTreeSet<JobId>),
}

/// Whose turn it is.
enum NextJob {
    /// This job's: its slot is granted.
    Begins(Box<Versioned<Job>>, Box<Slots>),
    /// No one's, since there is no room before that time; `None` inside when only a freed slot helps.
    Later(Option<Timestamp>),
    /// No one's, since none of them may begin before that time.
    Nobody(Option<Timestamp>),
}

impl Dispatcher {
    /// Gives free slots to the jobs at the head of the queue. Several dispatchers may try: the version of the slots
    /// lets one win.
    ///
    /// While no slot is free it reads no more of the queue than its first page.
    pub(super) async fn slots(&self, account: &AccountName) -> Result<(), Error> {
        let store = &self.backend.store;
        let Some(limits) = store.account(account).await?.map(|it| it.value.limits) else {
            tracing::warn!(%account, "jobs wait for an account that does not exist: `gaffer account add`");
            return Ok(());
        };
        let (first, is_all) = store.queued_first(account).await?;
        if first.is_empty() {
            // Free slots are determined when a job wants one.
            let slots = store.slots(account).await?;
            return match slots.due {
                Some(_) => self.keep_slots(&slots, None).await,
                None => Ok(()),
            };
        }
        let now = self.backend.now();
        let is_waiting = !is_all
            || first
                .iter()
                .any(|it| matches!(it.value.phase, JobPhase::Queued { .. }));
        let mut room = SlotRoom {
            limits,
            now,
            doubt: SlotCheck::Gone,
            slots: self.free_the_gone(account).await?,
        };
        // The others go on when the present create is done. Due slots have a job that waits, which the list may not
        // show yet.
        let others = first.len() > 1 || room.slots.0.due.is_some();
        let others = others.then(|| plus(now, CREATE_HOLD));
        let begun = self.begun_in(first, &room).await?;
        let mut turn = self.first_turn(begun, &mut room).await?;
        if !is_all && !matches!(turn, NextJob::Later(_)) {
            turn = self
                .first_turn(store.queued(account).await?, &mut room)
                .await?;
        }
        let slots = &room.slots.0;
        match turn {
            NextJob::Begins(found, granted) => {
                self.begin_job(&found, slots, &granted, others).await
            }
            NextJob::Later(next) | NextJob::Nobody(next) => {
                let look = is_waiting.then(|| plus(now, QUEUE_LOOK));
                let next = next.map_or(look, |at| Some(look.map_or(at, |look| look.min(at))));
                self.keep_slots(slots, next).await?;
                self.look_again(&slots.value).await
            }
        }
    }

    /// Part of the queue, including the job whose slot was already taken: the others wait for it.
    async fn begun_in(
        &self,
        mut queued: Vec<Versioned<Job>>,
        room: &SlotRoom,
    ) -> Result<Vec<Versioned<Job>>, Error> {
        let begins = room.slots.0.value.creating.as_ref();
        let missing = begins.filter(|id| !queued.iter().any(|it| it.value.id == **id));
        if let Some(id) = missing {
            let found = self.backend.store.job(id).await?;
            queued.extend(found.filter(|it| matches!(it.value.phase, JobPhase::Queued { .. })));
        }
        Ok(queued)
    }

    /// Whose turn it is among some jobs of an account.
    async fn first_turn(
        &self,
        queued: Vec<Versioned<Job>>,
        room: &mut SlotRoom,
    ) -> Result<NextJob, Error> {
        let now = room.now;
        let mut next: Option<Timestamp> = None;
        let mut held: BTreeMap<RepoName, bool> = BTreeMap::new();
        let begins = room.slots.0.value.creating.clone();
        for found in in_turn(queued, begins.as_ref(), now) {
            let JobPhase::Queued { not_before, .. } = found.value.phase else {
                continue;
            };
            let repo = &found.value.repo;
            let is_held = match held.get(repo) {
                Some(is_held) => *is_held,
                None => self.hold(&self.source(repo).await?).await?.is_some(),
            };
            held.insert(repo.clone(), is_held);
            if is_held {
                continue;
            }
            if not_before > now {
                next = earliest(next, not_before);
                continue;
            }
            return Ok(match self.admission(&found.value, room).await? {
                Admission::Granted(granted) => NextJob::Begins(Box::new(found), Box::new(granted)),
                Admission::Later { at, .. } => NextJob::Later(match at {
                    Some(at) => earliest(next, at),
                    None => next,
                }),
            });
        }
        Ok(NextJob::Nobody(next))
    }

    /// Whether a job may start. Before it has to wait, the recorded holders of slots are verified.
    async fn admission(&self, job: &Job, room: &mut SlotRoom) -> Result<Admission, Error> {
        let (limits, now) = (room.limits, room.now);
        let (slots, others) = &room.slots;
        let mut admission = admit(slots, others, &job.id, limits, now);
        while is_taken(&admission)
            && let Some(more) = room.doubt.more()
        {
            room.doubt = more;
            let store = &self.backend.store;
            let held = store.slots_held(&job.account, more, room.now).await?;
            let no_others = BTreeSet::new();
            admission = admit(&held, &no_others, &job.id, limits, now);
            room.slots = (held, no_others);
        }
        Ok(admission)
    }

    /// A create may have ended while others began to wait for it: its process saw no job that waits.
    async fn look_again(&self, slots: &Slots) -> Result<(), Error> {
        let Some(waited_for) = &slots.creating else {
            return Ok(());
        };
        let now = self.backend.store.slots_now(&slots.account).await?;
        if now.value.creating.as_ref() != Some(waited_for) {
            let account = slots.account.clone();
            self.backend.nudge(&Work::Slots { account }).await?;
        }
        Ok(())
    }

    /// Frees finished jobs' slots; lists other possible holders. It reads only names from the list: while there is
    /// room for all of them, their states do not matter.
    async fn free_the_gone(
        &self,
        account: &AccountName,
    ) -> Result<(Versioned<Slots>, BTreeSet<JobId>), Error> {
        let store = &self.backend.store;
        let now = self.backend.now();
        let Some(watched) = store.watched_keys(account).await? else {
            let found = store.slots_held(account, SlotCheck::Absent, now).await?;
            return Ok((found, BTreeSet::new()));
        };
        let found = store.slots_now(account).await?;
        let watched: BTreeSet<JobId> = watched
            .iter()
            .filter_map(|it| keys::job_of(&it.key))
            .collect();
        let mut slots = found.value.clone();
        for id in found.value.taken.keys().filter(|id| !watched.contains(id)) {
            slots = store.slot_seen(&slots, id, now).await?;
        }
        Ok((
            Versioned {
                value: slots,
                ..found
            },
            watched,
        ))
    }

    /// Saves changed slots and the time of the next check; writes nothing when neither changed.
    async fn keep_slots(
        &self,
        slots: &Versioned<Slots>,
        next: Option<Timestamp>,
    ) -> Result<(), Error> {
        let account = &slots.value.account;
        let known = self.backend.store.slots(account).await?;
        if known.value == slots.value && is_soon_enough(known.due, next, self.backend.now()) {
            return Ok(());
        }
        let mut unit = self.backend.unit();
        let place = IndexEntry::due(next);
        unit.put(
            keys::slots(account),
            &slots.value,
            Some(slots.version),
            place,
        );
        self.commit_slots(unit, account).await
    }

    /// Takes the slot, and then decides the start. If the job does not begin, the slot blocks others for a moment and
    /// stays reserved for that job, which is next.
    async fn begin_job(
        &self,
        found: &Versioned<Job>,
        slots: &Versioned<Slots>,
        granted: &Slots,
        waits: Option<Timestamp>,
    ) -> Result<(), Error> {
        let step = job::start(&found.value, self.backend.now())?;
        let mut unit = self.backend.unit();
        unit.put_ahead(
            keys::slots(&granted.account),
            granted,
            Some(slots.version),
            IndexEntry::due(waits),
        );
        self.backend.save_job(&mut unit, Some(found), &step).await?;
        let pk = keys::job_pk(&found.value.id);
        unit.enqueue(
            &pk,
            Work::Job {
                id: found.value.id.clone(),
            },
        );
        self.commit_slots(unit, &granted.account).await
    }

    /// After a conflict on the slots, checks them again.
    async fn commit_slots(&self, unit: UnitOfWork, account: &AccountName) -> Result<(), Error> {
        match self.backend.commit(unit).await {
            Err(error) if error.is_conflict() => {
                let account = account.clone();
                let again = Work::Slots { account }.to_body();
                Ok(self.backend.queue.send(&again, CREATE_GAP).await?)
            }
            outcome => outcome,
        }
    }
}

/// Whether a job may start, given the slots and other possible holders.
fn admit(
    slots: &Versioned<Slots>,
    others: &BTreeSet<JobId>,
    job: &JobId,
    limits: Limits,
    now: Timestamp,
) -> Admission {
    let mut all = slots.value.clone();
    for other in others {
        all.taken.entry(other.clone()).or_insert(now);
    }
    match governor::admit(&all, job, limits, now) {
        Admission::Granted(_) => governor::admit(&slots.value, job, limits, now),
        later @ Admission::Later { .. } => later,
    }
}

fn is_taken(admission: &Admission) -> bool {
    match admission {
        Admission::Later { code, .. } => *code == SLOTS_TAKEN,
        Admission::Granted(_) => false,
    }
}

/// The queue in the order of turns; a job whose slot was already taken comes first, since the others wait for it.
fn in_turn(
    mut queued: Vec<Versioned<Job>>,
    begins: Option<&JobId>,
    now: Timestamp,
) -> Vec<Versioned<Job>> {
    queued.sort_by_cached_key(|found| {
        let waits = begins != Some(&found.value.id);
        (waits, job::start_place(&found.value, now))
    });
    queued
}

/// Whether slots due at that time need no other due time. Too early costs a read and no write.
fn is_soon_enough(due: Option<Timestamp>, wanted: Option<Timestamp>, now: Timestamp) -> bool {
    match (due, wanted) {
        (Some(due), Some(wanted)) => now < due && due <= wanted,
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn earliest(known: Option<Timestamp>, at: Timestamp) -> Option<Timestamp> {
    Some(known.map_or(at, |known| known.min(at)))
}
