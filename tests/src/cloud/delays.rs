//! A queue of SQS in a world whose clock is moved by hand: what is to wait, waits by that clock before it is sent.

use std::sync::Arc;

use async_trait::async_trait;
use engine::dispatcher::{BATCH, VISIBILITY};
use engine::ports::{Clock, Delivery, Queue, QueueError, Receipt};
use jiff::SignedDuration;
use local::{Database, LocalQueue};

/// Separates a receipt of SQS from the body it is of.
const OF: char = ' ';

/// A queue whose delays go by a world's clock. That SQS delays is for the contract's own checks, which wait for it.
pub(super) struct Delays {
    real: Arc<dyn Queue>,
    waiting: LocalQueue,
}

impl Delays {
    pub(super) fn new(real: Arc<dyn Queue>, clock: Arc<dyn Clock>) -> Self {
        let database = Database::in_memory().expect("a database");
        let waiting = LocalQueue::new(&database, "waiting", clock);
        Self { real, waiting }
    }

    /// Sends what has waited long enough.
    async fn forward(&self) -> Result<(), QueueError> {
        loop {
            let ripe = self.waiting.receive(BATCH, VISIBILITY).await?;
            if ripe.is_empty() {
                return Ok(());
            }
            for message in ripe {
                self.real.send(&message.body, SignedDuration::ZERO).await?;
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
            self.real.send(body, delay).await
        }
    }

    async fn receive(
        &self,
        limit: usize,
        visibility: SignedDuration,
    ) -> Result<Vec<Delivery>, QueueError> {
        self.forward().await?;
        let mut batch = self.real.receive(limit, visibility).await?;
        for message in &mut batch {
            // Whoever releases it has to send it again.
            message.receipt.0 = format!("{}{OF}{}", message.receipt.0, message.body);
        }
        Ok(batch)
    }

    async fn acknowledge(&self, receipt: &Receipt) -> Result<(), QueueError> {
        let (real, _) = parts(receipt);
        self.real.acknowledge(&real).await
    }

    /// A message that is shown again later counts its receives anew.
    async fn release(&self, receipt: &Receipt, delay: SignedDuration) -> Result<(), QueueError> {
        let (real, body) = parts(receipt);
        if delay > SignedDuration::ZERO {
            self.waiting.send(&body, delay).await?;
            self.real.acknowledge(&real).await
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

fn parts(receipt: &Receipt) -> (Receipt, String) {
    let (real, body) = receipt.0.split_once(OF).expect("a receipt of this queue");
    (Receipt(real.to_owned()), body.to_owned())
}
