//! The port of dead letters: they wait for a person.

use std::collections::BTreeSet;

use async_trait::async_trait;
use jiff::Timestamp;

use super::QueueError;

/// A message that was received too often without being handled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// Names it as long as it lies there.
    pub id: String,
    /// The body as sent.
    pub body: String,
    /// When it was first sent.
    pub sent_at: Timestamp,
    /// When it was given up; `None` where the service does not report it.
    pub died_at: Option<Timestamp>,
}

/// The dead letters of one queue.
#[async_trait]
pub trait DeadLetters: Send + Sync {
    /// At most `limit` of them, the oldest first. They stay where they are.
    async fn list(&self, limit: usize) -> Result<Vec<DeadLetter>, QueueError>;

    /// Puts these back to work, and answers which of them it was that did so: of two who ask for the same, one does.
    ///
    /// Where sending and removing are two calls, a crash between them may leave it in both places, which a wake-up survives.
    async fn redrive(&self, ids: &BTreeSet<String>) -> Result<BTreeSet<String>, QueueError>;

    /// Removes these permanently, and returns which of them existed.
    async fn remove(&self, ids: &BTreeSet<String>) -> Result<BTreeSet<String>, QueueError>;
}
