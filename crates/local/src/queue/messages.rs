//! The statements of the queue. A message is held by its number and how often it was received: an older receive holds nothing.

use engine::ports::{Delivery, Receipt};
use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};

use super::{DEAD_LETTERS_KEPT, RECEIVES_MAX};

const SEND: &str =
    "INSERT INTO messages (queue, body, sent_ns, visible_ns) VALUES (?1, ?2, ?3, ?4)";
const ANY_VISIBLE: &str =
    "SELECT EXISTS (SELECT 1 FROM messages WHERE queue = ?1 AND visible_ns <= ?2)";
const VISIBLE: &str = "SELECT id, receives, body, sent_ns FROM messages
    WHERE queue = ?1 AND visible_ns <= ?2 ORDER BY visible_ns, id LIMIT ?3";
const HIDE: &str = "UPDATE messages SET receives = receives + 1, visible_ns = ?2 WHERE id = ?1";
const REMOVE: &str = "DELETE FROM messages WHERE queue = ?1 AND id = ?2 AND receives = ?3";
const SHOW: &str =
    "UPDATE messages SET visible_ns = ?4 WHERE queue = ?1 AND id = ?2 AND receives = ?3";
const TAKE_OVER: &str =
    "UPDATE messages SET visible_ns = ?2 WHERE queue = ?1 AND receives > 0 AND visible_ns > ?2";
const MOVE_BACK: &str =
    "UPDATE messages SET visible_ns = visible_ns - ?3, sent_ns = min(sent_ns, ?2)
    WHERE queue = ?1 AND visible_ns > ?2";

/// Dead letters: every visible message of the queue that was received often enough.
const COPY_DEAD: &str = "INSERT INTO dead_letters (queue, body, sent_ns, receives, died_ns)
    SELECT queue, body, sent_ns, receives, ?2 FROM messages WHERE queue = ?1 AND visible_ns <= ?2 AND receives >= ?3";
const DROP_DEAD: &str =
    "DELETE FROM messages WHERE queue = ?1 AND visible_ns <= ?2 AND receives >= ?3";
const FORGET_DEAD: &str = "DELETE FROM dead_letters WHERE queue = ?1 AND died_ns < ?2";

const NEXT_VISIBLE: &str = "SELECT min(visible_ns) FROM messages WHERE queue = ?1";
const OLDEST: &str = "SELECT min(sent_ns) FROM messages WHERE queue = ?1 AND visible_ns <= ?2";
const DEPTH: &str = "SELECT (SELECT count(*) FROM messages WHERE queue = ?1), (SELECT count(*) FROM dead_letters WHERE queue = ?1)";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReceivedMessage {
    id: i64,
    receives: u32,
}

impl ReceivedMessage {
    pub(super) fn parse(receipt: &Receipt) -> Option<Self> {
        let (id, receives) = receipt.0.split_once('.')?;
        Some(Self {
            id: id.parse().ok()?,
            receives: receives.parse().ok()?,
        })
    }

    fn receipt(self) -> Receipt {
        Receipt(format!("{}.{}", self.id, self.receives))
    }
}

pub(super) fn send(
    connection: &Connection,
    queue: &str,
    body: &str,
    now: Timestamp,
    visible: Timestamp,
) -> rusqlite::Result<()> {
    let times = (nanoseconds(now), nanoseconds(visible));
    connection
        .prepare_cached(SEND)?
        .execute(params![queue, body, times.0, times.1])?;
    Ok(())
}

/// Receives in one transaction, so that two processes never get the same receive of a message.
pub(super) fn receive(
    connection: &mut Connection,
    queue: &str,
    limit: usize,
    now: Timestamp,
    until: Timestamp,
) -> rusqlite::Result<Vec<Delivery>> {
    // An idle queue is polled often and must not take the write lock.
    if !any_visible(connection, queue, now)? {
        return Ok(Vec::new());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    bury(&transaction, queue, now)?;
    let received = visible(&transaction, queue, limit, now)?;
    let mut deliveries = Vec::with_capacity(received.len());
    for message in received {
        transaction
            .prepare_cached(HIDE)?
            .execute(params![message.id, nanoseconds(until)])?;
        deliveries.push(message.delivery());
    }
    transaction.commit()?;
    Ok(deliveries)
}

pub(super) fn remove(
    connection: &Connection,
    queue: &str,
    held: ReceivedMessage,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(REMOVE)?
        .execute(params![queue, held.id, held.receives])?;
    Ok(())
}

/// Shows the message at `visible`; after the last receive it goes to the dead letters at once.
pub(super) fn release(
    connection: &mut Connection,
    queue: &str,
    held: ReceivedMessage,
    now: Timestamp,
    visible: Timestamp,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // A message that is used up has nothing to wait for.
    let shown = if held.receives >= RECEIVES_MAX {
        now
    } else {
        visible
    };
    transaction.prepare_cached(SHOW)?.execute(params![
        queue,
        held.id,
        held.receives,
        nanoseconds(shown)
    ])?;
    bury(&transaction, queue, now)?;
    transaction.commit()
}

/// Shows every message that was received and not removed. One that was not received keeps its delay.
pub(super) fn take_over(
    connection: &Connection,
    queue: &str,
    now: Timestamp,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(TAKE_OVER)?
        .execute(params![queue, nanoseconds(now)])?;
    Ok(())
}

pub(super) fn move_back(
    connection: &Connection,
    queue: &str,
    now: Timestamp,
    ahead: SignedDuration,
) -> rusqlite::Result<()> {
    let ahead = i64::try_from(ahead.as_nanos()).unwrap_or(i64::MAX);
    connection
        .prepare_cached(MOVE_BACK)?
        .execute(params![queue, nanoseconds(now), ahead])?;
    Ok(())
}

pub(super) fn next_visible(
    connection: &Connection,
    queue: &str,
) -> rusqlite::Result<Option<Timestamp>> {
    let found: Option<i64> = connection
        .prepare_cached(NEXT_VISIBLE)?
        .query_row([queue], |row| row.get(0))?;
    Ok(found.map(timestamp))
}

pub(super) fn oldest(
    connection: &Connection,
    queue: &str,
    now: Timestamp,
) -> rusqlite::Result<Option<Timestamp>> {
    let found: Option<i64> = connection
        .prepare_cached(OLDEST)?
        .query_row(params![queue, nanoseconds(now)], |row| row.get(0))?;
    Ok(found.map(timestamp))
}

pub(super) fn depth(connection: &Connection, queue: &str) -> rusqlite::Result<(u64, u64)> {
    let counts: (i64, i64) = connection
        .prepare_cached(DEPTH)?
        .query_row([queue], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok((counts.0.unsigned_abs(), counts.1.unsigned_abs()))
}

/// One message that is about to be delivered.
struct Message {
    id: i64,
    receives: u32,
    body: String,
    sent_at: Timestamp,
}

impl Message {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let sent_at = timestamp(row.get(3)?);
        Ok(Self {
            id: row.get(0)?,
            receives: row.get(1)?,
            body: row.get(2)?,
            sent_at,
        })
    }

    /// This receive is counted.
    fn delivery(self) -> Delivery {
        let receives = self.receives + 1;
        let receipt = ReceivedMessage {
            id: self.id,
            receives,
        }
        .receipt();
        Delivery {
            body: self.body,
            sent_at: self.sent_at,
            receives,
            receipt,
        }
    }
}

fn any_visible(connection: &Connection, queue: &str, now: Timestamp) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(ANY_VISIBLE)?
        .query_row(params![queue, nanoseconds(now)], |row| row.get(0))
}

fn visible(
    connection: &Connection,
    queue: &str,
    limit: usize,
    now: Timestamp,
) -> rusqlite::Result<Vec<Message>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(VISIBLE)?;
    statement
        .query_map(params![queue, nanoseconds(now), limit], Message::read)?
        .collect()
}

/// Moves what is used up to the dead letters, and forgets those that were kept long enough.
fn bury(transaction: &Transaction<'_>, queue: &str, now: Timestamp) -> rusqlite::Result<()> {
    let dead = params![queue, nanoseconds(now), RECEIVES_MAX];
    if transaction.prepare_cached(COPY_DEAD)?.execute(dead)? == 0 {
        return Ok(());
    }
    transaction.prepare_cached(DROP_DEAD)?.execute(dead)?;
    let oldest = now.checked_sub(DEAD_LETTERS_KEPT).unwrap_or(Timestamp::MIN);
    transaction
        .prepare_cached(FORGET_DEAD)?
        .execute(params![queue, nanoseconds(oldest)])?;
    Ok(())
}

/// Times that SQLite's integers cannot hold (before 1677, after 2262) become the nearest that they can: as good as always and never.
pub(super) fn nanoseconds(at: Timestamp) -> i64 {
    let ns = at.as_nanosecond();
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}

/// Every 64-bit number of nanoseconds is a time that jiff can hold.
pub(super) fn timestamp(ns: i64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(ns)).unwrap_or(Timestamp::MAX)
}
