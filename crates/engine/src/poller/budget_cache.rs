//! Whether the day's money is spent: checked now and then, since the costs are stored now and then too.

use std::sync::{Mutex, PoisonError};

use domain::account::day_of;
use domain::when::is_within;
use jiff::{SignedDuration, Timestamp};

use crate::backend::{Backend, Error};
use crate::usage::STORED_EVERY;

/// A day, in UTC.
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// The last result.
#[derive(Default)]
pub(super) struct BudgetCache(Mutex<Option<BudgetReading>>);

#[derive(Clone, Copy)]
struct BudgetReading {
    at: Timestamp,
    dear_until: Option<Timestamp>,
}

impl BudgetCache {
    /// Until when deferrable spending stops; `None` while money is left.
    pub(super) async fn exhausted_until(
        &self,
        backend: &Backend,
    ) -> Result<Option<Timestamp>, Error> {
        let now = backend.now();
        let seen = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = seen.filter(|seen| is_within(seen.at, now, STORED_EVERY));
        if let Some(seen) = fresh {
            return Ok(seen.dear_until.filter(|until| *until > now));
        }
        let allowed = backend.store.allowance().await?.value.dollars_a_day;
        let is_over = allowed.is_some() && backend.spending().await?.is_over();
        let dear_until = is_over.then(|| day_of(now) + DAY);
        let seen = BudgetReading {
            at: now,
            dear_until,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
        Ok(dear_until)
    }
}
