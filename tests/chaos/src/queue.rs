//! The child's queue, with every allowed fault: messages are lost, doubled and late, and each worker takes one at a time so that copies
//! race.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use engine::ports::{Delivery, Queue, QueueError, Receipt};
use jiff::SignedDuration;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::time::SharedTime;

/// One message in so many is lost.
const LOST: f64 = 0.05;
/// One message in so many comes twice at once.
const DOUBLED: f64 = 0.5;
/// One message in so many is late.
const LATE: f64 = 0.2;
/// How late, at most, in milliseconds.
const LATE_MILLIS: i64 = 5_000;

/// A bad queue over a good one.
pub(crate) struct BadQueue {
    good: Arc<dyn Queue>,
    time: Arc<SharedTime>,
    dice: Mutex<StdRng>,
}

/// What becomes of a message.
struct Lot {
    lost: bool,
    doubled: bool,
    late: SignedDuration,
}

impl BadQueue {
    pub(crate) fn new(good: Arc<dyn Queue>, time: Arc<SharedTime>, seed: u64) -> Self {
        let dice = Mutex::new(StdRng::seed_from_u64(seed));
        Self { good, time, dice }
    }

    fn draw(&self) -> Lot {
        let mut dice = self.dice.lock().unwrap_or_else(PoisonError::into_inner);
        let late = if dice.random_bool(LATE) {
            SignedDuration::from_millis(dice.random_range(0..LATE_MILLIS))
        } else {
            SignedDuration::ZERO
        };
        Lot {
            lost: dice.random_bool(LOST),
            doubled: dice.random_bool(DOUBLED),
            late,
        }
    }
}

#[async_trait]
impl Queue for BadQueue {
    async fn send(&self, body: &str, delay: SignedDuration) -> Result<(), QueueError> {
        let lot = self.draw();
        if lot.lost {
            return Ok(());
        }
        self.good.send(body, delay + lot.late).await?;
        if lot.doubled {
            self.good.send(body, delay + lot.late).await?;
        }
        Ok(())
    }

    async fn receive(
        &self,
        limit: usize,
        visibility: SignedDuration,
    ) -> Result<Vec<Delivery>, QueueError> {
        let taken = self.good.receive(limit.min(1), visibility).await?;
        taken.iter().for_each(|_| self.time.take_up());
        Ok(taken)
    }

    async fn acknowledge(&self, receipt: &Receipt) -> Result<(), QueueError> {
        self.time.put_down();
        self.good.acknowledge(receipt).await
    }

    async fn release(&self, receipt: &Receipt, delay: SignedDuration) -> Result<(), QueueError> {
        self.time.put_down();
        self.good.release(receipt, delay).await
    }

    async fn move_back(&self, ahead: SignedDuration) -> Result<(), QueueError> {
        self.good.move_back(ahead).await
    }

    async fn depth(&self) -> Result<(u64, u64), QueueError> {
        self.good.depth().await
    }
}
