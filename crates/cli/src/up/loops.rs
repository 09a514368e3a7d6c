//! The loops of one process: tick when something is due, work when there are messages, stop when told to.

use std::sync::Arc;
use std::time::Duration;

use engine::desk::Desk;
use engine::dispatcher::Dispatcher;
use engine::poller::Poller;
use local::LocalQueue;
use tokio::sync::watch;

/// Longest wait for the next due row: other processes on the same folder may add one.
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_secs(1);

/// The same where each look is paid for.
#[cfg(feature = "aws")]
const LOOK_ON_AWS_EVERY: Duration = Duration::from_secs(5);

/// Shortest wait, so that a row that cannot be handled does not keep a core busy.
const BREATH: Duration = Duration::from_millis(20);

/// How often the loops look whether there is anything to do, in real time. Nothing depends on it but how soon that is noticed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rhythm {
    /// Shortest wait for the next due row.
    pub(crate) breath: Duration,
    /// Longest wait for the next due row.
    pub(crate) at_least_every: Duration,
}

impl Default for Rhythm {
    fn default() -> Self {
        Self {
            breath: BREATH,
            at_least_every: LOOK_AT_LEAST_EVERY,
        }
    }
}

impl Rhythm {
    /// Over a table and queues of AWS.
    #[cfg(feature = "aws")]
    pub(crate) fn on_aws() -> Self {
        Self {
            breath: BREATH,
            at_least_every: LOOK_ON_AWS_EVERY,
        }
    }
}

/// Ticks whenever something is due.
pub(super) async fn keep_ticking(
    poller: Poller,
    desk: Desk,
    (rhythm, mut stopped): (Rhythm, watch::Receiver<bool>),
) {
    while !*stopped.borrow() {
        if let Err(error) = poller.tick().await {
            tracing::error!(%error, "a tick failed; the next one tries again");
        }
        let due = desk.store.records().next_due().await.ok().flatten();
        let wait = due.and_then(|due| Duration::try_from(due.duration_since(desk.now())).ok());
        let wait = wait.unwrap_or(if due.is_some() {
            rhythm.breath
        } else {
            rhythm.at_least_every
        });
        let wait = wait.clamp(rhythm.breath, rhythm.at_least_every);
        tokio::select! {
            _ = stopped.changed() => {}
            () = desk.saved() => {}
            _ = tokio::time::timeout(wait, std::future::pending::<()>()) => {}
        }
    }
}

/// Handles messages as they come; `bell` is the queue, where this process can be told of new ones.
pub(super) async fn keep_working(
    dispatcher: Arc<Dispatcher>,
    bell: Option<Arc<LocalQueue>>,
    (rhythm, mut stopped): (Rhythm, watch::Receiver<bool>),
) {
    while !*stopped.borrow() {
        let changed = async {
            match &bell {
                Some(queue) => queue.changed().await,
                // A queue of AWS waits in its receive.
                None => std::future::pending().await,
            }
        };
        match dispatcher.drain().await {
            Ok(handled) if handled > 0 => continue,
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "messages could not be taken; trying again"),
        }
        tokio::select! {
            _ = stopped.changed() => {}
            () = changed => {}
            // Delayed messages become visible without anybody saying so.
            _ = tokio::time::timeout(rhythm.at_least_every / 4, std::future::pending::<()>()) => {}
        }
    }
}
