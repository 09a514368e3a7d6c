//! The loops of one process: tick when something is due, work when there are messages, stop on request.

use std::sync::Arc;
use std::time::Duration;

use engine::backend::{Backend, Error};
use engine::dispatcher::{Deliveries, Dispatcher};
use engine::poller::Poller;
use engine::retention;
use engine::ticks::{Holder, TickTurn};
use jiff::Timestamp;
use local::LocalQueue;
use tokio::sync::watch;

/// Longest wait for the next due row: other processes on the same folder may add one.
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_secs(1);

/// The same where each check is charged.
const LOOK_ON_AWS_EVERY: Duration = Duration::from_secs(5);

/// Shortest wait, so that a row that cannot be handled does not keep a core busy.
const BREATH: Duration = Duration::from_millis(20);

/// Intervals of the loops, in real time. They affect only how soon work is noticed.
#[derive(Debug, Clone, Copy)]
pub struct LoopIntervals {
    /// Shortest wait for the next due row.
    pub breath: Duration,
    /// Longest wait for the next due row.
    pub at_least_every: Duration,
}

impl Default for LoopIntervals {
    fn default() -> Self {
        Self {
            breath: BREATH,
            at_least_every: LOOK_AT_LEAST_EVERY,
        }
    }
}

impl LoopIntervals {
    /// Over a table and queues of AWS.
    pub fn on_aws() -> Self {
        Self {
            breath: BREATH,
            at_least_every: LOOK_ON_AWS_EVERY,
        }
    }
}

/// Who ticks.
pub(super) enum Ticker {
    /// This process, and others on the same folder if there are any: they share what is due.
    Free(Poller),
    /// This process unless a function does.
    Leased(Holder),
}

impl Ticker {
    /// Ticks; returns whether this process should handle what is due.
    async fn tick(&self) -> Result<bool, Error> {
        match self {
            Self::Free(poller) => poller.tick().await.map(|_| true),
            Self::Leased(holder) => holder.tick().await.map(|turn| turn != TickTurn::Others),
        }
    }
}

/// Ticks whenever something is due.
pub(super) async fn keep_ticking(
    ticker: Ticker,
    backend: Backend,
    rhythm: LoopIntervals,
    mut stopped: watch::Receiver<bool>,
) {
    let mut forgot = None;
    while !*stopped.borrow() {
        let ticked = ticker.tick().await.unwrap_or_else(|error| {
            tracing::error!(%error, "a tick failed; the next one tries again");
            true
        });
        forgot = forget_now_and_then(&backend, forgot).await;
        let due = backend.store.records().next_due().await.ok().flatten();
        let wait = due.and_then(|due| Duration::try_from(due.duration_since(backend.now())).ok());
        let wait = wait.unwrap_or(if due.is_some() {
            rhythm.breath
        } else {
            rhythm.at_least_every
        });
        // What is due may be another process's turn.
        let least = if ticked {
            rhythm.breath
        } else {
            rhythm.at_least_every
        };
        let wait = wait.clamp(least, rhythm.at_least_every);
        tokio::select! {
            _ = stopped.changed() => {}
            () = backend.saved() => {}
            _ = tokio::time::timeout(wait, std::future::pending::<()>()) => {}
        }
    }
}

/// Deletes expired records, if it is time; returns the time of the last complete pass.
async fn forget_now_and_then(backend: &Backend, last: Option<Timestamp>) -> Option<Timestamp> {
    let now = backend.now();
    if last.is_some_and(|last| now.duration_since(last) < retention::EVERY) {
        return last;
    }
    match backend
        .store
        .records()
        .forget(now, retention::AT_ONCE)
        .await
    {
        Ok(forgotten) if forgotten == retention::AT_ONCE => last,
        Ok(_) => Some(now),
        Err(error) => {
            tracing::warn!(%error, "what may be forgotten is still there; it is tried again in an hour");
            Some(now)
        }
    }
}

/// Delivers wakes to agents beside all other work.
pub(super) async fn keep_delivering(
    dispatcher: Arc<Dispatcher>,
    deliveries: Arc<Deliveries>,
    mut stopped: watch::Receiver<bool>,
) {
    let stopped = async move {
        let _ = stopped.wait_for(|stop| *stop).await;
    };
    deliveries.run(&dispatcher, stopped).await;
}

/// Handles messages as they come, except wakes; `bell` is the queue, where this process is notified of new ones.
pub(super) async fn keep_working(
    dispatcher: Arc<Dispatcher>,
    deliveries: Arc<Deliveries>,
    bell: Option<Arc<LocalQueue>>,
    rhythm: LoopIntervals,
    mut stopped: watch::Receiver<bool>,
) {
    while !*stopped.borrow() {
        let changed = async {
            match &bell {
                Some(queue) => queue.changed().await,
                // A queue of AWS waits in its receive.
                None => std::future::pending().await,
            }
        };
        match dispatcher.drain_beside(&deliveries).await {
            Ok(handled) if handled > 0 => continue,
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "messages could not be taken; trying again"),
        }
        tokio::select! {
            _ = stopped.changed() => {}
            () = changed => {}
            // Delayed messages become visible without a notification.
            _ = tokio::time::timeout(rhythm.at_least_every / 4, std::future::pending::<()>()) => {}
        }
    }
}
