//! Dead letters, until a person puts them back to work or they expire.

use std::collections::BTreeSet;

use async_trait::async_trait;
use engine::ports::{DeadLetter, DeadLetters, QueueError};
use jiff::Timestamp;
use rusqlite::{Connection, TransactionBehavior, params};

use super::LocalQueue;
use super::messages::{nanoseconds, timestamp};

const LIST: &str = "SELECT id, body, sent_ns, died_ns FROM dead_letters WHERE queue = ?1 ORDER BY sent_ns, id LIMIT ?2";
const REDRIVE: &str = "INSERT INTO messages (queue, body, sent_ns, visible_ns)
    SELECT queue, body, ?3, ?3 FROM dead_letters WHERE queue = ?1 AND id = ?2";
const REMOVE: &str = "DELETE FROM dead_letters WHERE queue = ?1 AND id = ?2";

#[async_trait]
impl DeadLetters for LocalQueue {
    async fn list(&self, limit: usize) -> Result<Vec<DeadLetter>, QueueError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.run("listing dead letters", move |connection, name| {
            let mut statement = connection.prepare_cached(LIST)?;
            let letters = statement.query_map(params![name, limit], |row| {
                Ok(DeadLetter {
                    id: row.get::<_, i64>(0)?.to_string(),
                    body: row.get(1)?,
                    sent_at: timestamp(row.get(2)?),
                    died_at: Some(timestamp(row.get(3)?)),
                })
            })?;
            letters.collect()
        })
        .await
    }

    /// In one transaction, so that it is never in both places and of two who ask one does it.
    async fn redrive(&self, ids: &BTreeSet<String>) -> Result<BTreeSet<String>, QueueError> {
        let now = self.clock.now();
        let known = known(ids);
        let moved = self
            .run("redriving dead letters", move |connection, name| {
                redrive(connection, name, &known, now)
            })
            .await?;
        if !moved.is_empty() {
            self.changed.notify_one();
        }
        Ok(moved)
    }

    async fn remove(&self, ids: &BTreeSet<String>) -> Result<BTreeSet<String>, QueueError> {
        let known = known(ids);
        self.run("removing dead letters", move |connection, name| {
            let mut removed = BTreeSet::new();
            for id in known {
                if connection
                    .prepare_cached(REMOVE)?
                    .execute(params![name, id])?
                    > 0
                {
                    removed.insert(id.to_string());
                }
            }
            Ok(removed)
        })
        .await
    }
}

/// Ids in the form of this queue's dead letters; others name none.
fn known(ids: &BTreeSet<String>) -> Vec<i64> {
    ids.iter().filter_map(|id| id.parse().ok()).collect()
}

fn redrive(
    connection: &mut Connection,
    name: &str,
    ids: &[i64],
    now: Timestamp,
) -> rusqlite::Result<BTreeSet<String>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut moved = BTreeSet::new();
    for id in ids {
        let sent = params![name, id, nanoseconds(now)];
        if transaction.prepare_cached(REDRIVE)?.execute(sent)? > 0 {
            transaction
                .prepare_cached(REMOVE)?
                .execute(params![name, id])?;
            moved.insert(id.to_string());
        }
    }
    transaction.commit()?;
    Ok(moved)
}
