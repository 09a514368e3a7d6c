//! Ticks where nothing runs all the time: the schedule and messages call, one of them ticks, and leaves a message for the next.

use std::sync::{Arc, Mutex, PoisonError};

use domain::tick::{self, Lease, NextTick, TickTrigger};
use jiff::Timestamp;

use crate::backend::{Backend, Error, IndexEntry};
use crate::keys;
use crate::poller::{OtherPollers, Poller, Tick};
use crate::ports::Queue;
use crate::store::{Versioned, decode};

/// Answers calls for a tick.
pub struct Ticks {
    turns: Turns,
    poller: Poller,
    queue: Arc<dyn Queue>,
}

impl Ticks {
    /// Ticks with a poller; `queue` takes the messages that continue the chain.
    pub fn new(backend: Backend, poller: Poller, queue: Arc<dyn Queue>) -> Self {
        Self {
            turns: Turns { backend },
            poller,
            queue,
        }
    }

    /// Ticks if it is this caller's turn, beginning nothing more at `until`; `None` if it is not.
    ///
    /// A call that fails need not come again: the schedule finds that the chain broke.
    pub async fn called(&self, call: TickTrigger, until: Timestamp) -> Result<Option<Tick>, Error> {
        let Some(lease) = self.turns.begin(call).await? else {
            return Ok(None);
        };
        let tick = self
            .poller
            .tick_until(until, OtherPollers::Excluded)
            .await?;
        self.end(&lease, tick).await?;
        Ok(Some(tick))
    }

    /// Sends the message for the next tick; if another chain has begun since, the message names a chain that is over.
    /// A crash before that breaks the chain, which the schedule repairs.
    async fn end(&self, begun: &Versioned<Lease>, done: Tick) -> Result<(), Error> {
        let now = self.turns.backend.now();
        let next = match done.passed_on {
            0 => NextTick::Due(done.next),
            _ => tick::after_passing_on(done.next, now),
        };
        let left = tick::end(&begun.value, next, now);
        let mut version = begun.version;
        if let Some(lease) = left.lease {
            if !self.turns.put(&lease, version).await? {
                return Ok(());
            }
            version += 1;
        }
        let Some(wait) = left.wait else {
            return Ok(());
        };
        let call = TickTrigger::Next {
            generation: begun.value.generation,
            version,
        };
        // A derived serializer of plain fields cannot fail; an empty body would be recorded as malformed.
        let body = serde_json::to_string(&call).unwrap_or_default();
        Ok(self.queue.send(&body, wait).await?)
    }
}

/// The outcome of a request to tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TickTurn {
    /// It ticked.
    Mine(Tick),
    /// Another process ticks.
    Others,
    /// Nothing is due.
    Idle,
}

/// Ticks in one process beside the functions, or instead of them: the holder of the lease ticks, and others wait.
pub struct Holder {
    turns: Turns,
    poller: Poller,
    /// The call that continues its last tick, while no other tick has begun.
    held: Mutex<Option<TickTrigger>>,
}

impl Holder {
    /// Ticks with a poller of the same backend.
    pub fn new(backend: Backend, poller: Poller) -> Self {
        Self {
            turns: Turns { backend },
            poller,
            held: Mutex::default(),
        }
    }

    /// Ticks if something is due and no other process ticks.
    pub async fn tick(&self) -> Result<TickTurn, Error> {
        let backend = &self.turns.backend;
        let due = backend.store.records().next_due().await?;
        if due.is_none_or(|due| due > backend.now()) {
            return Ok(TickTurn::Idle);
        }
        let held = *self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = self
            .turns
            .begin(held.unwrap_or(TickTrigger::Schedule))
            .await?;
        let mine = begun.as_ref().map(|begun| TickTrigger::Next {
            generation: begun.value.generation,
            version: begun.version,
        });
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = mine;
        match begun {
            Some(_) => {
                let tick = self.poller.tick_until(Timestamp::MAX, OtherPollers::Maybe);
                Ok(TickTurn::Mine(tick.await?))
            }
            None => Ok(TickTurn::Others),
        }
    }
}

/// Who may tick.
struct Turns {
    backend: Backend,
}

impl Turns {
    /// Of several callers one changes the lease. The schedule changes nothing while nothing is due before it calls again.
    async fn begin(&self, call: TickTrigger) -> Result<Option<Versioned<Lease>>, Error> {
        let (begun, version) = match call {
            // The unchanged version proves all that a read would.
            TickTrigger::Next {
                generation,
                version,
            } => (tick::continued(generation, self.backend.now()), version),
            TickTrigger::Schedule => {
                let Some(begun) = self.begin_anew().await? else {
                    return Ok(None);
                };
                begun
            }
        };
        let won = self.put(&begun, version).await?;
        // A message may say any number.
        Ok(won.then_some(Versioned {
            value: begun,
            version: version.saturating_add(1),
            due: None,
        }))
    }

    /// The lease that would be begun, and the version of the one that it replaces.
    async fn begin_anew(&self) -> Result<Option<(Lease, u64)>, Error> {
        let found = self.lease().await?;
        let Some(begun) = tick::begin(&found.value, self.backend.now()) else {
            return Ok(None);
        };
        let due = self.backend.store.records().next_due().await?;
        let is_soon = tick::is_soon(due, self.backend.now());
        Ok(is_soon.then_some((begun, found.version)))
    }

    /// The lease as of a moment ago: a begin with a stale one loses.
    async fn lease(&self) -> Result<Versioned<Lease>, Error> {
        let found = self.backend.store.records().glance(&[keys::tick()]).await?;
        let found = found.first().map(decode).transpose()?;
        Ok(found.unwrap_or_else(|| Versioned::unstored(Lease::default())))
    }

    /// Whether it was this caller that changed the lease.
    async fn put(&self, lease: &Lease, version: u64) -> Result<bool, Error> {
        let mut unit = self.backend.unit();
        unit.put(keys::tick(), lease, Some(version), IndexEntry::default());
        self.backend.try_commit(unit).await
    }
}
