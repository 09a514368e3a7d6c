//! The tick: due rows are claimed and passed on, and due accounts are polled. The poller reads Jules and writes
//! nothing outside.

mod activity;
mod decide;
mod due_rows;
mod duplicates;
mod job_cache;
mod listing;
mod poll;
mod poll_data;
mod read_sessions;
mod rules;
mod sweep;
mod turn;

use std::sync::Arc;

use domain::account::Account;
use domain::tick::{self, SCHEDULE_EVERY};
use jiff::{SignedDuration, Timestamp};

use crate::backend::{Backend, Error, ignore_conflict};
use crate::keys;
use crate::ports::{DueRow, Expect, Record, SessionsRead, Write};
use crate::store::{Versioned, decode, refuse_newer};
use crate::work::Work;

/// Due rows taken in one tick; what is left is taken in the next.
pub const ROWS_PER_TICK: usize = 200;

/// Maximum number of rows handled concurrently: a slow account must not hold up the others.
const ROWS_AT_ONCE: usize = 8;

/// A due row is moved this far forward before it is passed on, so that a lost message is found again.
pub const CLAIM: SignedDuration = SignedDuration::from_secs(120);

/// Until when a poll that has begun holds an account, should it never end; `None` while none goes on.
pub(crate) fn held_until(found: &Versioned<Account>, now: Timestamp) -> Option<Timestamp> {
    let due = found.due?;
    (due > now && due > found.value.next_poll).then_some(due)
}

/// What one tick did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tick {
    /// Accounts polled.
    pub polled: u32,
    /// Rows passed on.
    pub passed_on: u32,
    /// Rows whose handling failed; they come again.
    pub failed: u32,
    /// When something is due next, as far as a tick without other machines knows; `None` for nothing before the next
    /// scheduled tick.
    pub next: Option<Timestamp>,
}

/// Who else may tick at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherPollers {
    /// Possible: an account is claimed before it is polled.
    Maybe,
    /// Impossible: the ticking process holds the lease of ticks. It claims no account, so a poll writes the row once, and it
    /// caches jobs.
    Excluded,
}

/// Reads Jules and passes on what is due.
pub struct Poller {
    backend: Backend,
    sessions: Arc<dyn SessionsRead>,
    jobs: job_cache::JobCache,
    cleared: duplicates::KnownSingles,
}

impl Poller {
    /// A poller.
    pub fn new(backend: Backend, sessions: Arc<dyn SessionsRead>) -> Self {
        Self {
            backend,
            sessions,
            jobs: job_cache::JobCache::default(),
            cleared: duplicates::KnownSingles::default(),
        }
    }

    /// Handles all due rows of a data folder. Other processes on the same folder may tick too, so each row is claimed. One bad row
    /// never stops the others.
    pub async fn tick(&self) -> Result<Tick, Error> {
        self.backend.correct_clock_rollback().await;
        self.tick_until(Timestamp::MAX, OtherPollers::Maybe).await
    }

    /// Ticks over a store that other machines may share: it begins nothing after `until`, and the rest stays due.
    pub async fn tick_until(&self, until: Timestamp, others: OtherPollers) -> Result<Tick, Error> {
        let began = self.backend.now();
        // A process that ticks alone needs the next due time, and gets it with the same query.
        let ahead = match others {
            OtherPollers::Maybe => began,
            OtherPollers::Excluded => began + SCHEDULE_EVERY,
        };
        let records = self.backend.store.records();
        let rows = records.due(ahead, ROWS_PER_TICK).await?;
        let is_cut = rows.len() == ROWS_PER_TICK;
        let (rows, later): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.due <= began);
        let mut tick = Tick::default();
        let mut next = NextDue {
            row: is_cut.then_some(began),
            poll: None,
        };
        for row in &later {
            next.note(row.due, is_account(row));
        }
        for some in rows.chunks(ROWS_AT_ONCE) {
            if self.backend.now() >= until {
                next.note(began, false);
                break;
            }
            let mut handling = Vec::with_capacity(some.len());
            for row in some {
                handling.push(self.handle(row, until, others));
            }
            let outcomes = futures::future::join_all(handling).await;
            for (row, outcome) in some.iter().zip(outcomes) {
                if let Some(due) = tick.count(row, outcome) {
                    next.note(due, is_account(row));
                }
            }
        }
        tick.next = tick::together(next.row, next.poll);
        Ok(tick)
    }

    async fn handle(
        &self,
        row: &DueRow,
        until: Timestamp,
        others: OtherPollers,
    ) -> Result<Handled, Error> {
        let is_account = is_account(row);
        let is_claimed = !is_account || others == OtherPollers::Maybe;
        let Some(record) = self.found_due(row).await? else {
            return Ok(Handled::Lost);
        };
        if let Some(until) = self.correct_due(&record).await? {
            return Ok(Handled::Waits { until });
        }
        if is_claimed && !self.claim(&record).await? {
            return Ok(Handled::Lost);
        }
        if is_account {
            let polled = self.poll_row(&record, until, others).await;
            if polled.is_err() && !is_claimed {
                // It would be tried again with every tick.
                self.claim(&record).await?;
            }
            return polled.map(|next| Handled::Polled { next });
        }
        if row.key.sk.starts_with(keys::OUT) {
            let work: Work = decode(&record)?.value;
            // The claim wrote it once.
            let version = record.version + 1;
            self.backend.publish(&row.key, version, &work).await?;
            return Ok(Handled::PassedOn);
        }
        match Work::of_due(&row.key) {
            Some(work) => {
                self.backend
                    .queue
                    .send(&work.to_body(), SignedDuration::ZERO)
                    .await?
            }
            None => {
                tracing::error!(key = ?row.key, "a due row names nothing that this version knows")
            }
        }
        Ok(Handled::PassedOn)
    }

    async fn poll_row(
        &self,
        record: &Record,
        until: Timestamp,
        others: OtherPollers,
    ) -> Result<Option<Timestamp>, Error> {
        let mut found: Versioned<Account> = decode(record)?;
        // The claim wrote it once.
        found.version += u64::from(others == OtherPollers::Maybe);
        self.poll(found, until, others).await
    }

    /// The row itself, since the index may be out of date.
    async fn found_due(&self, row: &DueRow) -> Result<Option<Record>, Error> {
        let Some(record) = self.backend.store.records().get(&row.key).await? else {
            return Ok(None);
        };
        if record.due.is_none_or(|due| due > self.backend.now()) {
            return Ok(None);
        }
        refuse_newer(&record)?;
        Ok(Some(record))
    }

    /// Moves the row forward under a version check: of several pollers one wins.
    async fn claim(&self, record: &Record) -> Result<bool, Error> {
        self.move_to(record, self.backend.now() + CLAIM).await
    }

    async fn move_to(&self, record: &Record, due: Timestamp) -> Result<bool, Error> {
        let moved = Record {
            due: Some(due),
            ..record.clone()
        };
        let write = Write::Put {
            record: moved,
            expect: Expect::Version(record.version),
        };
        let outcome = self.backend.store.records().commit(vec![write]).await;
        match outcome.map_err(Error::from) {
            Ok(()) => Ok(true),
            Err(error) if error.is_conflict() => Ok(false),
            Err(error) => Err(error),
        }
    }
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

impl Tick {
    /// Counts one row, and returns when it is due again, if known.
    fn count(&mut self, row: &DueRow, outcome: Result<Handled, Error>) -> Option<Timestamp> {
        match outcome {
            Ok(Handled::Polled { next }) => {
                self.polled += 1;
                next
            }
            Ok(Handled::PassedOn) => {
                self.passed_on += 1;
                None
            }
            Ok(Handled::Waits { until }) => Some(until),
            Ok(Handled::Lost) => None,
            Err(error) => {
                self.failed += 1;
                tracing::error!(%error, key = ?row.key, "a due row could not be handled; it comes again");
                None
            }
        }
    }
}

/// The earliest due time that a tick has seen.
struct NextDue {
    row: Option<Timestamp>,
    poll: Option<Timestamp>,
}

impl NextDue {
    fn note(&mut self, due: Timestamp, is_poll: bool) {
        let soonest = if is_poll {
            &mut self.poll
        } else {
            &mut self.row
        };
        *soonest = Some(soonest.map_or(due, |known| known.min(due)));
    }
}

fn is_account(row: &DueRow) -> bool {
    row.key.pk.starts_with(keys::ACCOUNT) && row.key.sk == keys::META
}

enum Handled {
    /// An account was polled, and is polled again then.
    Polled {
        next: Option<Timestamp>,
    },
    PassedOn,
    /// There is nothing to do before that.
    Waits {
        until: Timestamp,
    },
    Lost,
}
