//! Which orders about a job would be accepted now, and so which of them are advised.

use jiff::Timestamp;

use crate::advice::Next;
use crate::job::{self, Job, Order};
use crate::policy::Timing;
use crate::pull::{self, MergeApproval, MergeStyle, Pull};

/// Placeholder for texts and names when a caller only asks whether an order would be accepted.
const TRIAL: &str = "trial of an order";

/// Whether an order about a job would be accepted now, by the rule that accepts it.
pub fn accepts(
    job: &Job,
    pull: Option<&Pull>,
    order: Order,
    now: Timestamp,
    timing: &Timing,
) -> bool {
    match order {
        // The job exists already.
        Order::Create | Order::Adopt => false,
        Order::Say => job::say(job, None, (TRIAL, TRIAL), (now, timing)).is_ok(),
        Order::Approve => job::approve(job, None, None, now, timing).is_ok(),
        Order::Merge => pull.is_some_and(|pull| {
            let style = &MergeStyle::default();
            let word = MergeApproval { by: TRIAL, style };
            let is_taken = job::may_merge(job).is_ok() && pull::takes_approval(pull);
            is_taken && pull::approve(pull, None, &word, now).is_ok()
        }),
        Order::Retry => job::retry(job, None, now).is_ok(),
        Order::Cancel => job::cancel(job, TRIAL, now).is_ok(),
    }
}

/// What is advised of a job: each thing once, and no order that would be refused.
pub fn accepted(
    job: &Job,
    pull: Option<&Pull>,
    advised: Vec<Next>,
    now: Timestamp,
    timing: &Timing,
) -> Vec<Next> {
    let mut kept: Vec<Next> = Vec::new();
    for next in advised {
        let order = next.advice.order();
        let fits = order.is_none_or(|order| accepts(job, pull, order, now, timing));
        if fits && !kept.contains(&next) {
            kept.push(next);
        }
    }
    kept
}
