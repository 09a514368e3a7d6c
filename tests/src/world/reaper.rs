//! What kills processes at moments of its own choice, and loses, doubles and delays the messages of the ticks.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use engine::ports::{Delivery, Queue, QueueError, Receipt};
use jiff::SignedDuration;
use local::LocalQueue;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::fate::{Fate, Moment};

/// In one step out of so many a process is to die: a few times in ten minutes, since a tick that dies is missed for up to two.
const DIES_ONE_IN: u32 = 100;

/// Within so many acts.
const SOON: usize = 6;

/// One message of a tick in so many is lost.
const LOST_ONE_IN: u32 = 8;

/// The latest that the second copy of a message comes, in seconds.
const LATE: i64 = 40;

/// Chooses who dies when.
pub(super) struct Reaper(Mutex<StdRng>);

impl Reaper {
    pub(super) fn new(seed: u64) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed)))
    }

    /// Lets some die soon.
    pub(super) fn choose<'a>(&self, fates: impl Iterator<Item = &'a Fate>) {
        let mut dice = dice(&self.0);
        for fate in fates {
            if dice.random_ratio(1, DIES_ONE_IN) {
                let moment = if dice.random_bool(0.5) {
                    Moment::Before
                } else {
                    Moment::After
                };
                fate.kill_at(fate.count() + dice.random_range(0..SOON), moment);
            }
        }
    }
}

fn dice(of: &Mutex<StdRng>) -> MutexGuard<'_, StdRng> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A queue of ticks that is as bad as SQS may be, and worse: a message comes twice, the second time late, or not at all.
pub(super) struct Careless {
    pub(super) queue: LocalQueue,
    pub(super) dice: Mutex<StdRng>,
}

#[async_trait]
impl Queue for Careless {
    async fn send(&self, body: &str, delay: SignedDuration) -> Result<(), QueueError> {
        let (lost, late) = {
            let mut dice = dice(&self.dice);
            (
                dice.random_ratio(1, LOST_ONE_IN),
                dice.random_range(0..LATE),
            )
        };
        if lost {
            return Ok(());
        }
        self.queue.send(body, delay).await?;
        let late = delay + SignedDuration::from_secs(late);
        self.queue.send(body, late).await
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
}
