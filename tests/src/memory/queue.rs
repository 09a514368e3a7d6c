//! A queue in memory with the meaning of SQS standard queues: at least once, hidden while in work, dead after five receives.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use engine::ports::{Clock, Delivery, Queue, QueueError, Receipt};
use jiff::{SignedDuration, Timestamp};

/// How often a message may be received before it counts as poisoned: the same as on SQS.
const RECEIVES_MAX: u32 = 5;

/// One queue.
pub struct MemoryQueue {
    clock: Arc<dyn Clock>,
    shelf: Mutex<Shelf>,
}

#[derive(Default)]
struct Shelf {
    /// By when they are visible, then by number.
    messages: BTreeMap<(Timestamp, u64), Message>,
    numbers: u64,
    dead: u64,
}

struct Message {
    body: String,
    sent_at: Timestamp,
    receives: u32,
}

impl MemoryQueue {
    /// An empty queue on a clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            shelf: Mutex::default(),
        }
    }

    /// When the next message becomes visible, which may be in the past; `None` when the queue is empty.
    pub fn next_visible(&self) -> Option<Timestamp> {
        self.shelf().messages.keys().next().map(|(at, _)| *at)
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    /// The position of a receipt's message, if it was not received again since.
    fn held(&self, receipt: &Receipt) -> Option<(Timestamp, u64)> {
        let (number, receives) = receipt.0.split_once('.')?;
        let (number, receives): (u64, u32) = (number.parse().ok()?, receives.parse().ok()?);
        let place = self.messages.keys().find(|(_, it)| *it == number)?;
        (self.messages[place].receives == receives).then_some(*place)
    }

    fn bury(&mut self, now: Timestamp) {
        let before = self.messages.len();
        self.messages
            .retain(|(at, _), message| *at > now || message.receives < RECEIVES_MAX);
        self.dead += (before - self.messages.len()) as u64;
    }
}

fn later(now: Timestamp, wait: SignedDuration) -> Timestamp {
    now.saturating_add(wait.max(SignedDuration::ZERO))
        .unwrap_or(Timestamp::MAX)
}

#[async_trait]
impl Queue for MemoryQueue {
    async fn send(&self, body: &str, delay: SignedDuration) -> Result<(), QueueError> {
        let sent_at = self.clock.now();
        let mut shelf = self.shelf();
        shelf.numbers += 1;
        let place = (later(sent_at, delay), shelf.numbers);
        let message = Message {
            body: body.to_owned(),
            sent_at,
            receives: 0,
        };
        shelf.messages.insert(place, message);
        Ok(())
    }

    async fn receive(
        &self,
        limit: usize,
        visibility: SignedDuration,
    ) -> Result<Vec<Delivery>, QueueError> {
        let now = self.clock.now();
        let mut shelf = self.shelf();
        shelf.bury(now);
        let visible: Vec<(Timestamp, u64)> = shelf
            .messages
            .keys()
            .take_while(|(at, _)| *at <= now)
            .take(limit)
            .copied()
            .collect();
        let mut deliveries = Vec::with_capacity(visible.len());
        for place in visible {
            let Some(mut message) = shelf.messages.remove(&place) else {
                continue;
            };
            message.receives += 1;
            deliveries.push(Delivery {
                body: message.body.clone(),
                sent_at: message.sent_at,
                receives: message.receives,
                receipt: Receipt(format!("{}.{}", place.1, message.receives)),
            });
            shelf
                .messages
                .insert((later(now, visibility), place.1), message);
        }
        Ok(deliveries)
    }

    async fn acknowledge(&self, receipt: &Receipt) -> Result<(), QueueError> {
        let mut shelf = self.shelf();
        if let Some(place) = shelf.held(receipt) {
            shelf.messages.remove(&place);
        }
        Ok(())
    }

    async fn release(&self, receipt: &Receipt, delay: SignedDuration) -> Result<(), QueueError> {
        let now = self.clock.now();
        let mut shelf = self.shelf();
        let Some(place) = shelf.held(receipt) else {
            return Ok(());
        };
        let Some(message) = shelf.messages.remove(&place) else {
            return Ok(());
        };
        // A message that is used up has nothing to wait for.
        let shown = if message.receives >= RECEIVES_MAX {
            now
        } else {
            later(now, delay)
        };
        shelf.messages.insert((shown, place.1), message);
        shelf.bury(now);
        Ok(())
    }

    async fn move_back(&self, ahead: SignedDuration) -> Result<(), QueueError> {
        let now = self.clock.now();
        let mut shelf = self.shelf();
        let hidden = shelf.messages.split_off(&(now, u64::MAX));
        for ((at, number), message) in hidden {
            let at = at.saturating_sub(ahead).unwrap_or(now);
            shelf.messages.insert((at, number), message);
        }
        Ok(())
    }

    async fn depth(&self) -> Result<(u64, u64), QueueError> {
        let shelf = self.shelf();
        Ok((shelf.messages.len() as u64, shelf.dead))
    }
}
