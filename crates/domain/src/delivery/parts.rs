//! The parts into which a delivery was split: what follows from how far they are, and who is waited for.

use super::moves::Moving;
use super::{Actor, Child, ChildState, Closed, Delivery, Fault};
use crate::ids::DeliveryId;
use crate::job::{WaitParty, WaitReason, WaitsFor};

impl Delivery {
    /// Whether a part of it failed.
    pub(crate) fn has_failed_part(&self) -> bool {
        let mut parts = self.children.iter();
        parts.any(|part| part.state == ChildState::Failed)
    }
}

/// Whether nothing more is awaited of a part.
fn is_over(child: &Child) -> bool {
    match child.state {
        ChildState::Closed | ChildState::Abandoned => true,
        ChildState::Open | ChildState::Failed | ChildState::Cancelled => false,
    }
}

/// What follows from the parts by itself; answers whether anything did.
pub(super) fn follow(moving: &mut Moving<'_>) -> bool {
    let children = &moving.delivery.children;
    let are_over = children.iter().all(is_over);
    let is_any_closed = children.iter().any(|it| it.state == ChildState::Closed);
    if are_over && is_any_closed {
        moving.close(Closed::PartsClosed, &Actor::System);
        return true;
    }
    if !moving.delivery.run_status.is_under_way() {
        return false;
    }
    if are_over {
        let text = "all its parts were given up";
        moving.fail(Fault::PartsAbandoned, text, &Actor::System);
        return true;
    }
    // It was tried again after it had been cancelled with its parts.
    renew(moving, ChildState::Cancelled)
}

/// Where every part was given up, a retry wants them after all.
pub(super) fn take_up_again(moving: &mut Moving<'_>) {
    renew(moving, ChildState::Abandoned);
}

/// Parts that are closed without a result are created anew, under other ids. Answers whether there was one.
fn renew(moving: &mut Moving<'_>, state: ChildState) -> bool {
    let children = moving.delivery.children.iter_mut();
    let mut any = false;
    for child in children.filter(|child| child.state == state) {
        child.id = DeliveryId::of_child(&child.id, 0);
        child.state = ChildState::Open;
        any = true;
    }
    any
}

/// Who a delivery waits for that was split, by whom its open parts wait for: a person goes before all others, since
/// nothing else moves without one.
pub fn waits_of_parts(parts: &[WaitsFor]) -> Option<WaitsFor> {
    let open = parts.iter().filter(|part| part.who != WaitParty::Nobody);
    let first = open.min_by_key(|part| (part.who, part.since))?;
    Some(WaitsFor {
        what: WaitReason::Parts,
        ..first.clone()
    })
}
