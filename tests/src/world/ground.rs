//! Where a world keeps its records and wake-ups.

use std::sync::Arc;

use async_trait::async_trait;
use engine::ports::{Queue, Record, Records};
use jiff::Timestamp;
use local::LocalQueue;

/// Records that can be read all together, as an export reads them.
#[async_trait]
pub trait Whole: Records {
    /// Every record.
    async fn everything(&self) -> Vec<Record>;
}

#[async_trait]
impl Whole for local::Store {
    async fn everything(&self) -> Vec<Record> {
        self.scan(None, usize::MAX).await.expect("a readable store")
    }
}

#[async_trait]
impl Whole for aws::Table {
    async fn everything(&self) -> Vec<Record> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = self.scan(after, 1_000).await.expect("a readable table");
            all.extend(page.records);
            after = page.next;
            if after.is_none() {
                return all;
            }
        }
    }
}

/// A queue that knows when its next message can be received.
#[async_trait]
pub trait Ripening: Queue {
    /// That time, by the clock of the world; `None` while it is empty.
    async fn next_visible(&self) -> Option<Timestamp>;
}

#[async_trait]
impl Ripening for LocalQueue {
    async fn next_visible(&self) -> Option<Timestamp> {
        Self::next_visible(self).await.expect("a readable queue")
    }
}

/// A table and a queue of AWS. What works there is the functions.
#[derive(Clone)]
pub struct Ground {
    /// The table.
    pub records: Arc<dyn Whole>,
    /// The queue of wake-ups.
    pub queue: Arc<dyn Ripening>,
}
