//! Ticks where nothing runs all the time: the schedule and messages call, one of them ticks, and leaves a message for the next.

use std::sync::Arc;

use domain::tick::{self, Call, Lease, Next};
use jiff::Timestamp;

use crate::desk::{Desk, Error, Place};
use crate::keys;
use crate::poller::{Poller, Tick};
use crate::ports::Queue;
use crate::store::Versioned;

/// Answers calls for a tick.
pub struct Ticks {
    desk: Desk,
    poller: Poller,
    queue: Arc<dyn Queue>,
}

impl Ticks {
    /// Ticks with a poller; `queue` takes the messages that continue the chain.
    pub fn new(desk: Desk, poller: Poller, queue: Arc<dyn Queue>) -> Self {
        Self {
            desk,
            poller,
            queue,
        }
    }

    /// Ticks if it is this caller's turn, beginning nothing more at `until`; none if it is not.
    ///
    /// A call that fails need not come again: the schedule finds that the chain broke.
    pub async fn called(&self, call: Call, until: Timestamp) -> Result<Option<Tick>, Error> {
        let Some(lease) = self.begin(call).await? else {
            return Ok(None);
        };
        let tick = self.poller.tick_until(until).await?;
        self.end(&lease, tick).await?;
        Ok(Some(tick))
    }

    /// Of several callers one changes the lease.
    async fn begin(&self, call: Call) -> Result<Option<Lease>, Error> {
        let found = self.lease().await?;
        let begun = tick::begin(&found.value, call, self.desk.now());
        match begun {
            Some(lease) if self.put(&lease, found.version).await? => Ok(Some(lease)),
            Some(_) | None => Ok(None),
        }
    }

    /// Leaves a message for the next tick, unless somebody else has begun one since. A crash before it is sent breaks the chain, which the schedule mends.
    async fn end(&self, begun: &Lease, done: Tick) -> Result<(), Error> {
        let found = self.lease().await?;
        if found.value.generation != begun.generation {
            return Ok(());
        }
        let next = if done.passed_on > 0 {
            Next::Soon
        } else {
            Next::Due(self.desk.store.records().next_due().await?)
        };
        let (lease, wait) = tick::end(begun, next, self.desk.now());
        if !self.put(&lease, found.version).await? {
            return Ok(());
        }
        let Some(wait) = wait else {
            return Ok(());
        };
        let generation = lease.generation;
        // A derived serializer of plain fields cannot fail; an empty body would be recorded as malformed.
        let body = serde_json::to_string(&Call::Next { generation }).unwrap_or_default();
        Ok(self.queue.send(&body, wait).await?)
    }

    async fn lease(&self) -> Result<Versioned<Lease>, Error> {
        let found = self.desk.store.read(&keys::tick()).await?;
        Ok(found.unwrap_or(Versioned {
            value: Lease::default(),
            version: 0,
        }))
    }

    /// Whether it was this caller that changed the lease.
    async fn put(&self, lease: &Lease, version: u64) -> Result<bool, Error> {
        let mut unit = self.desk.unit();
        unit.put(keys::tick(), lease, Some(version), Place::default());
        match self.desk.commit(unit).await {
            Ok(()) => Ok(true),
            Err(error) if error.is_conflict() => Ok(false),
            Err(error) => Err(error),
        }
    }
}
