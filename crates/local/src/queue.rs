//! Queues on SQLite with the meaning of SQS standard queues: at least once, hidden while in work, dead after five receives.

use std::sync::Arc;

use async_trait::async_trait;
use engine::ports::{Clock, Delivery, Queue, QueueError, Receipt};
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
use tokio::sync::Notify;

use crate::database::Database;

mod dead;
mod messages;

use messages::ReceivedMessage;

/// How often a message may be received before it counts as poisoned: the same as on SQS.
pub const RECEIVES_MAX: u32 = 5;

/// How long a dead letter is kept for people: the longest that SQS keeps any message.
pub const DEAD_LETTERS_KEPT: SignedDuration = SignedDuration::from_hours(14 * 24);

/// One named queue. Clones are the same queue and share its wake-up.
#[derive(Clone)]
pub struct LocalQueue {
    database: Database,
    name: Arc<str>,
    clock: Arc<dyn Clock>,
    changed: Arc<Notify>,
}

impl LocalQueue {
    /// The queue of this name in a database; several queues live side by side.
    pub fn new(database: &Database, name: &str, clock: Arc<dyn Clock>) -> Self {
        Self {
            database: database.clone(),
            name: name.into(),
            clock,
            changed: Arc::new(Notify::new()),
        }
    }

    /// Resolves when a message was sent or released through this queue or a clone of it since the last time this resolved.
    ///
    /// Meant for one waiting loop. It does not notice messages of other processes: also check [`Self::next_visible`] from time to time.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// When the next message becomes visible, which may be in the past; `None` when the queue is empty.
    pub async fn next_visible(&self) -> Result<Option<Timestamp>, QueueError> {
        self.run("looking for the next message", |connection, name| {
            messages::next_visible(connection, name)
        })
        .await
    }

    /// Shows the messages that a killed process before this one held. Only where this process alone receives from the queue.
    pub async fn take_over(&self) -> Result<(), QueueError> {
        let now = self.clock.now();
        self.run("taking messages over", move |connection, name| {
            messages::take_over(connection, name, now)
        })
        .await
    }

    async fn run<T, F>(&self, doing: &'static str, work: F) -> Result<T, QueueError>
    where
        F: FnOnce(&mut Connection, &str) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let failed = |message: String| QueueError {
            doing: doing.to_owned(),
            message,
        };
        let name = Arc::clone(&self.name);
        let outcome = self
            .database
            .run(move |connection| work(connection, &name))
            .await;
        outcome
            .map_err(|stopped| failed(stopped.to_string()))?
            .map_err(|error| failed(error.to_string()))
    }
}

#[async_trait]
impl Queue for LocalQueue {
    /// A negative delay is none.
    async fn send(&self, body: &str, delay: SignedDuration) -> Result<(), QueueError> {
        let (now, body) = (self.clock.now(), body.to_owned());
        let visible = later(now, delay);
        self.run("sending", move |connection, name| {
            messages::send(connection, name, &body, now, visible)
        })
        .await?;
        self.changed.notify_one();
        Ok(())
    }

    /// The message that is visible longest comes first.
    async fn receive(
        &self,
        limit: usize,
        visibility: SignedDuration,
    ) -> Result<Vec<Delivery>, QueueError> {
        let now = self.clock.now();
        let until = later(now, visibility);
        self.run("receiving", move |connection, name| {
            messages::receive(connection, name, limit, now, until)
        })
        .await
    }

    /// A receipt of an older receive, or of a deleted message, changes nothing and succeeds.
    async fn acknowledge(&self, receipt: &Receipt) -> Result<(), QueueError> {
        let Some(held) = ReceivedMessage::parse(receipt) else {
            return Err(foreign_receipt("acknowledging"));
        };
        self.run("acknowledging", move |connection, name| {
            messages::remove(connection, name, held)
        })
        .await
    }

    /// A receipt of an older receive, or of a deleted message, changes nothing and succeeds.
    async fn release(&self, receipt: &Receipt, delay: SignedDuration) -> Result<(), QueueError> {
        let Some(held) = ReceivedMessage::parse(receipt) else {
            return Err(foreign_receipt("releasing"));
        };
        let now = self.clock.now();
        let visible = later(now, delay);
        self.run("releasing", move |connection, name| {
            messages::release(connection, name, held, now, visible)
        })
        .await?;
        self.changed.notify_one();
        Ok(())
    }

    /// Messages that are hidden or delayed wait too.
    async fn depth(&self) -> Result<(u64, u64), QueueError> {
        self.run("counting", |connection, name| {
            messages::depth(connection, name)
        })
        .await
    }

    async fn move_back(&self, ahead: SignedDuration) -> Result<(), QueueError> {
        let now = self.clock.now();
        self.run("moving messages back", move |connection, name| {
            messages::move_back(connection, name, now, ahead)
        })
        .await?;
        self.changed.notify_one();
        Ok(())
    }

    async fn oldest(&self) -> Result<Option<Timestamp>, QueueError> {
        let now = self.clock.now();
        self.run("looking for the oldest message", move |connection, name| {
            messages::oldest(connection, name, now)
        })
        .await
    }
}

/// A time that cannot be reckoned is the end of time, never now.
fn later(now: Timestamp, wait: SignedDuration) -> Timestamp {
    now.checked_add(wait.max(SignedDuration::ZERO))
        .unwrap_or(Timestamp::MAX)
}

fn foreign_receipt(doing: &str) -> QueueError {
    QueueError {
        doing: doing.to_owned(),
        message: "the receipt is not from this queue".to_owned(),
    }
}

#[cfg(test)]
mod tests;
