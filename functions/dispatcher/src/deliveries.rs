//! Messages from the dispatcher to itself: it handles them in the same invocation, which costs no message, no receive
//! and no start.
//!
//! It keeps only what a stored row asks for as well, so that nothing is lost with the process.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use engine::ports::{Delivery, Queue, QueueError, Receipt};
use jiff::{SignedDuration, Timestamp};

/// Maximum number of messages that one invocation keeps for itself. A loop goes through the queue, where it is visible.
const KEPT_MAX: usize = 20;

/// The queue of work, as the dispatcher sends to it.
pub(crate) struct Own {
    queue: Arc<dyn Queue>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// How many more may be kept; 0 while no batch is handled.
    room: usize,
    bodies: Vec<String>,
}

impl Own {
    pub(crate) fn over(queue: Arc<dyn Queue>) -> Self {
        Self {
            queue,
            kept: Mutex::default(),
        }
    }

    /// From now on messages are kept.
    pub(crate) fn begin(&self) {
        self.kept().room = KEPT_MAX;
    }

    /// The messages kept since the last call, in order.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.kept().bodies)
    }

    /// Stops keeping messages: no later step of the invocation would take them.
    pub(crate) fn end(&self) -> Vec<String> {
        std::mem::take(&mut *self.kept()).bodies
    }

    /// Whether a message is kept. One that says the same as another that waits is that one.
    fn keeps(&self, body: &str) -> bool {
        let mut kept = self.kept();
        if kept.bodies.iter().any(|other| other == body) {
            return true;
        }
        if kept.room == 0 {
            return false;
        }
        kept.room -= 1;
        kept.bodies.push(body.to_owned());
        true
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Queue for Own {
    async fn send(&self, body: &str, delay: SignedDuration) -> Result<(), QueueError> {
        self.queue.send(body, delay).await
    }

    async fn nudge(&self, body: &str) -> Result<(), QueueError> {
        if self.keeps(body) {
            return Ok(());
        }
        self.queue.nudge(body).await
    }

    async fn receive(
        &self,
        limit: usize,
        visibility: SignedDuration,
    ) -> Result<Vec<Delivery>, QueueError> {
        self.queue.receive(limit, visibility).await
    }

    async fn acknowledge(&self, receipt: &Receipt) -> Result<(), QueueError> {
        self.queue.acknowledge(receipt).await
    }

    async fn release(&self, receipt: &Receipt, delay: SignedDuration) -> Result<(), QueueError> {
        self.queue.release(receipt, delay).await
    }

    async fn depth(&self) -> Result<(u64, u64), QueueError> {
        self.queue.depth().await
    }

    async fn oldest(&self) -> Result<Option<Timestamp>, QueueError> {
        self.queue.oldest().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue that records what was sent.
    #[derive(Default)]
    struct Sent(Mutex<Vec<String>>);

    #[async_trait]
    impl Queue for Sent {
        async fn send(&self, body: &str, _: SignedDuration) -> Result<(), QueueError> {
            self.0.lock().unwrap().push(body.to_owned());
            Ok(())
        }

        async fn receive(&self, _: usize, _: SignedDuration) -> Result<Vec<Delivery>, QueueError> {
            Ok(Vec::new())
        }

        async fn acknowledge(&self, _: &Receipt) -> Result<(), QueueError> {
            Ok(())
        }

        async fn release(&self, _: &Receipt, _: SignedDuration) -> Result<(), QueueError> {
            Ok(())
        }

        async fn depth(&self) -> Result<(u64, u64), QueueError> {
            Ok((0, 0))
        }
    }

    #[tokio::test]
    async fn messages_are_kept_while_a_batch_is_handled_and_so_many_at_the_most() {
        let queue = Arc::new(Sent::default());
        let own = Own::over(queue.clone());
        own.nudge("before").await.unwrap();
        own.begin();
        own.send("a fact of its own", SignedDuration::ZERO)
            .await
            .unwrap();
        own.nudge("1").await.unwrap();
        own.nudge("1").await.unwrap();
        assert_eq!(own.take(), ["1"]);
        for number in 0..KEPT_MAX {
            own.nudge(&format!("later {number}")).await.unwrap();
        }
        let sent = || queue.0.lock().unwrap().clone();
        assert_eq!(own.take().len(), KEPT_MAX - 1);
        assert_eq!(sent(), ["before", "a fact of its own", "later 19"]);
        own.begin();
        own.nudge("left").await.unwrap();
        assert_eq!(own.end(), ["left"]);
        own.nudge("after").await.unwrap();
        assert_eq!(sent().last().unwrap(), "after");
    }
}
