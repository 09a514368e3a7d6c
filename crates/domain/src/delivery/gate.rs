//! Whether a delivery lets its pull request be merged: nothing is merged before its verdict, and no head but the one
//! that the verdict is about.

use super::{Delivery, Phase, RunStatus};
use crate::ids::CommitSha;
use crate::merge::Gate;

/// Why this head may not be merged, as far as its delivery has a say; none if it may.
pub fn gate(delivery: &Delivery, head: &CommitSha) -> Option<Gate> {
    let is_open = match delivery.run_status {
        RunStatus::Pending | RunStatus::Running | RunStatus::Blocked => true,
        RunStatus::Succeeded | RunStatus::Failed => false,
    };
    if delivery.phase != Phase::Verify || !is_open {
        return Some(Gate::NotInVerify {
            phase: delivery.phase,
        });
    }
    (delivery.review.head.as_ref() != Some(head)).then_some(Gate::OtherHead)
}
