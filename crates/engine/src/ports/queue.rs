//! The queue port: messages that name something to handle. A message is never a fact.

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

/// Proof of having received a message, needed to acknowledge it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt(pub String);

/// One received message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The body as sent, JSON.
    pub body: String,
    /// When it was first sent.
    pub sent_at: Timestamp,
    /// How often it has been received, this time included.
    pub receives: u32,
    /// For the acknowledgement.
    pub receipt: Receipt,
}

/// Why the queue could not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the queue is unavailable while {doing}: {message}")]
pub struct QueueError {
    /// What we were doing.
    pub doing: String,
    /// Its message.
    pub message: String,
}

/// A queue with at-least-once delivery and no promised order.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Sends a message that becomes visible after `delay`.
    async fn send(&self, body: &str, delay: SignedDuration) -> Result<(), QueueError>;

    /// Sends a message at once that a stored row also asks for when it is due: a handler in this process may take it
    /// without the queue.
    async fn nudge(&self, body: &str) -> Result<(), QueueError> {
        self.send(body, SignedDuration::ZERO).await
    }

    /// Receives up to `limit` visible messages and hides them for `visibility`; answers at once, also with none.
    async fn receive(
        &self,
        limit: usize,
        visibility: SignedDuration,
    ) -> Result<Vec<Delivery>, QueueError>;

    /// Deletes a message.
    async fn acknowledge(&self, receipt: &Receipt) -> Result<(), QueueError>;

    /// Shows a message again after `delay`; after five receives it goes to the dead letters instead.
    async fn release(&self, receipt: &Receipt, delay: SignedDuration) -> Result<(), QueueError>;

    /// How many messages wait, and how many are dead letters.
    async fn depth(&self) -> Result<(u64, u64), QueueError>;

    /// Moves back what is hidden by as much as the clock was ahead. A service that has a clock of its own has nothing to do.
    async fn move_back(&self, _ahead: SignedDuration) -> Result<(), QueueError> {
        Ok(())
    }

    /// Send time of the oldest visible message; `None` when there is none, and where the service does not report it.
    async fn oldest(&self) -> Result<Option<Timestamp>, QueueError> {
        Ok(None)
    }
}
