//! Who ordered what of a job, for the record.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Job, Order};
use crate::fence::clip;

/// Maximum number of orders stored with a job: the newest.
pub const GIVEN_MAX: usize = 10;

/// Longest name of who gave an order, in characters.
const BY_CHARS_MAX: usize = 120;

/// An order that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// What.
    pub order: Order,
    /// Who gave it, for people.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// Stores an order with its job.
pub fn given(job: &mut Job, order: Order, by: &str, at: Timestamp) {
    let by = clip(by, BY_CHARS_MAX);
    job.given.push(Given { order, by, at });
    let surplus = job.given.len().saturating_sub(GIVEN_MAX);
    job.given.drain(..surplus);
}

impl Job {
    /// The newest stored order of a kind.
    pub fn last_given(&self, order: Order) -> Option<&Given> {
        self.given.iter().rev().find(|given| given.order == order)
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
            given(&mut job, Order::Say, "token zai", at(second));
        }
        given(&mut job, Order::Approve, &"x".repeat(1_000), at(30));
        assert_eq!(job.given.len(), GIVEN_MAX);
        assert_eq!(job.last_given(Order::Say).unwrap().at, at(29));
        let by = &job.last_given(Order::Approve).unwrap().by;
        assert_eq!(by.chars().count(), BY_CHARS_MAX + 1);
        assert_eq!(job.last_given(Order::Cancel), None);
    }
}
