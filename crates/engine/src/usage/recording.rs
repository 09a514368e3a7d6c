//! Stores what the roles have used, and reads it.

use std::sync::{Arc, Mutex, PoisonError};

use domain::account::day_of;
use domain::status::SpendingView;
use jiff::{SignedDuration, Timestamp};

use super::prices::Prices;
use super::{Allowance, Consumption, Meter, ROLES, STORED_EVERY, Used, date};
use crate::backend::{Backend, Error};
use crate::ports::RecordsError;
use crate::store::{Store, Versioned};

/// A day, in UTC.
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// Stores what one role of this process uses, now and then.
pub struct Recorder {
    role: &'static str,
    meter: Arc<dyn Meter>,
    pending: Mutex<(Used, Option<Timestamp>)>,
}

impl Recorder {
    /// A recorder for a role, one of [`ROLES`].
    pub fn new(role: &'static str, meter: Arc<dyn Meter>) -> Self {
        Self {
            role,
            meter,
            pending: Mutex::default(),
        }
    }

    /// Counts an invocation with its duration in milliseconds and its megabytes. A failure to store it is no failure
    /// of the work: the next call stores it.
    pub async fn invoked(&self, backend: &Backend, took_ms: u64, memory_mb: u64) {
        let mut used = self.meter.take();
        used.invocations += 1;
        used.mb_ms += took_ms * memory_mb;
        let Some(all) = self.ripe(used, backend.now()) else {
            return;
        };
        if let Err(error) = store(backend, self.role, all).await {
            tracing::warn!(%error, "what was used could not be stored; it is tried again later");
            self.pending().0 += all;
        }
    }

    /// Everything that waits to be stored, if it is time. The first is stored at once: where little happens, a
    /// process may not live to see another.
    fn ripe(&self, used: Used, now: Timestamp) -> Option<Used> {
        let mut pending = self.pending();
        pending.0 += used;
        let waits = |since: Timestamp| now.duration_since(since) < STORED_EVERY;
        if pending.1.is_some_and(waits) {
            return None;
        }
        pending.1 = Some(now);
        Some(std::mem::take(&mut pending.0))
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, (Used, Option<Timestamp>)> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds to a role's usage; after a conflict the next call tries again.
async fn store(backend: &Backend, role: &str, used: Used) -> Result<(), Error> {
    let found = backend.store.usage(role).await?;
    let next = found.value.with(used, backend.now());
    let mut unit = backend.unit();
    unit.save(role, &next, Some(found.version));
    backend.commit(unit).await
}

impl Backend {
    /// Today's cost so far, as far as it was stored, and its limit.
    pub async fn spending(&self) -> Result<SpendingView, Error> {
        let mut used = Used::default();
        let today = date(self.now());
        for role in ROLES {
            let usage = self.store.usage(role).await?.value;
            used += usage.days.get(&today).copied().unwrap_or_default();
        }
        let prices = Prices::known();
        Ok(SpendingView {
            dollars_today: prices.map_or(0.0, |prices| prices.cost_of(&used)),
            dollars_a_day: self.store.allowance().await?.value.dollars_a_day,
        })
    }

    /// Until when spending that can wait stops, because the day's money is spent; `None` while money is left. Without a limit no
    /// usage is read.
    pub(crate) async fn exhausted_until(&self) -> Result<Option<Timestamp>, Error> {
        if self.store.allowance().await?.value.dollars_a_day.is_none() {
            return Ok(None);
        }
        let is_over = self.spending().await?.is_over();
        Ok(is_over.then(|| day_of(self.now()) + DAY))
    }
}

impl Store {
    /// What running may cost in a day; nothing was said before it was first stored (version 0).
    pub async fn allowance(&self) -> Result<Versioned<Allowance>, RecordsError> {
        self.get_or_initial(&()).await
    }

    /// What a role has used; nothing before it was first stored (version 0).
    pub async fn usage(&self, role: &str) -> Result<Versioned<Consumption>, RecordsError> {
        self.get_or_initial(role).await
    }
}
