//! A queue of SQS in a world whose clock is moved by hand: what is to wait, waits by that clock before it is sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use engine::dispatcher::{BATCH, VISIBILITY};
use engine::ports::{Clock, Delivery, Queue, QueueError, Receipt};
use jiff::{SignedDuration, Timestamp};
use local::{Database, LocalQueue};

use crate::world::Ripening;

/// Separates a receipt of SQS from the body it is of.
const OF: char = ' ';

/// A queue whose delays go by a world's clock. That SQS delays is for the contract's own checks, which wait for it.
#[derive(Clone)]
pub(super) struct Delays {
    real: Arc<dyn Queue>,
    waiting: LocalQueue,
    clock: Arc<dyn Clock>,
    /// Our messages in SQS. A queue without other senders need not be asked while it is empty. A message with an
    /// unknown outcome counts as there.
    there: Arc<AtomicU64>,
    /// Whether every message is sent twice.
    doubling: bool,
}

impl Delays {
    pub(super) fn new(real: Arc<dyn Queue>, clock: Arc<dyn Clock>) -> Self {
        let database = Database::in_memory().expect("a database");
        let waiting = LocalQueue::new(&database, "waiting", clock.clone());
        let there = Arc::default();
        Self {
            real,
            waiting,
            clock,
            there,
            doubling: false,
        }
    }

    /// The same queue, sending every message twice.
    pub(super) fn doubling(self, doubling: bool) -> Self {
        Self { doubling, ..self }
    }

    /// The same queue, by another client.
    pub(super) fn through(&self, real: Arc<dyn Queue>) -> Self {
        Self {
            real,
            ..self.clone()
        }
    }

    async fn pass_on(&self, body: &str) -> Result<(), QueueError> {
        for _ in 0..=u8::from(self.doubling) {
            self.there.fetch_add(1, Ordering::Relaxed);
            self.real.send(body, SignedDuration::ZERO).await?;
        }
        Ok(())
    }

    async fn take_out(&self, real: &Receipt) -> Result<(), QueueError> {
        self.real.acknowledge(real).await?;
        self.there.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    /// Sends messages whose delay is over.
    async fn forward(&self) -> Result<(), QueueError> {
        loop {
            let ripe = self.waiting.receive(BATCH, VISIBILITY).await?;
            if ripe.is_empty() {
                return Ok(());
            }
            for message in ripe {
                self.pass_on(&message.body).await?;
                self.waiting.acknowledge(&message.receipt).await?;
            }
        }
    }
}

#[async_trait]
impl Queue for Delays {
    async fn send(&self, body: &str, delay: SignedDuration) -> Result<(), QueueError> {
        if delay > SignedDuration::ZERO {
            self.waiting.send(body, delay).await
        } else {
            self.pass_on(body).await
        }
    }

    async fn receive(
        &self,
        limit: usize,
        visibility: SignedDuration,
    ) -> Result<Vec<Delivery>, QueueError> {
        self.forward().await?;
        if self.there.load(Ordering::Relaxed) == 0 {
            return Ok(Vec::new());
        }
        let mut batch = self.real.receive(limit, visibility).await?;
        for message in &mut batch {
            // A release has to send it again.
            message.receipt.0 = format!("{}{OF}{}", message.receipt.0, message.body);
        }
        Ok(batch)
    }

    async fn acknowledge(&self, receipt: &Receipt) -> Result<(), QueueError> {
        let (real, _) = parts(receipt);
        self.take_out(&real).await
    }

    /// A message that becomes visible again later counts its receives anew.
    async fn release(&self, receipt: &Receipt, delay: SignedDuration) -> Result<(), QueueError> {
        let (real, body) = parts(receipt);
        if delay > SignedDuration::ZERO {
            self.waiting.send(&body, delay).await?;
            self.take_out(&real).await
        } else {
            self.real.release(&real, delay).await
        }
    }

    async fn depth(&self) -> Result<(u64, u64), QueueError> {
        let (waiting, _) = self.waiting.depth().await?;
        let (real, dead) = self.real.depth().await?;
        Ok((waiting + real, dead))
    }
}

#[async_trait]
impl Ripening for Delays {
    async fn next_visible(&self) -> Option<Timestamp> {
        if self.there.load(Ordering::Relaxed) > 0 {
            return Some(self.clock.now());
        }
        let waiting = self.waiting.next_visible().await;
        waiting.expect("a readable queue")
    }
}

fn parts(receipt: &Receipt) -> (Receipt, String) {
    let (real, body) = receipt.0.split_once(OF).expect("a receipt of this queue");
    (Receipt(real.to_owned()), body.to_owned())
}
