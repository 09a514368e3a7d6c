//! Who ordered what of a job, for the record.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Job, Order};
use crate::fence::clip;

/// Maximum number of orders stored with a job: the newest.
pub const ORDER_LOG_MAX: usize = 10;

/// Longest name of who gave an order, in characters.
const BY_CHARS_MAX: usize = 120;

/// An order that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderRecord {
    /// What.
    pub order: Order,
    /// Who gave it, for people.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// Stores an order with its job.
pub fn record_order(job: &mut Job, order: Order, by: &str, at: Timestamp) {
    let by = clip(by, BY_CHARS_MAX);
    job.order_log.push(OrderRecord { order, by, at });
    let surplus = job.order_log.len().saturating_sub(ORDER_LOG_MAX);
    job.order_log.drain(..surplus);
}

impl Job {
    /// The newest stored order of a kind.
    pub fn last_order(&self, order: Order) -> Option<&OrderRecord> {
        let mut newest = self.order_log.iter().rev();
        newest.find(|given| given.order == order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::fixture::at;
    use crate::job::tests::watched_job;

    #[test]
    fn the_newest_orders_are_remembered() {
        let mut job = watched_job();
        for second in 0..30 {
            record_order(&mut job, Order::Say, "token zai", at(second));
        }
        record_order(&mut job, Order::Approve, &"x".repeat(1_000), at(30));
        assert_eq!(job.order_log.len(), ORDER_LOG_MAX);
        assert_eq!(job.last_order(Order::Say).unwrap().at, at(29));
        let by = &job.last_order(Order::Approve).unwrap().by;
        assert_eq!(by.chars().count(), BY_CHARS_MAX + 1);
        assert_eq!(job.last_order(Order::Cancel), None);
    }
}
