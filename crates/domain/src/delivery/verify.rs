//! What was decided about the head at verify: that it is let go, or that its checks are read again.

use super::{Checks, Delivery, Phase, PullGlimpse};

/// Whether its merge was tried although checks of its head failed: they are read again before anything is said of them.
pub fn is_read_again(delivery: &Delivery) -> bool {
    let forgiven = delivery.task.forgiven.as_ref();
    let is_forgiven = forgiven.is_some() && forgiven == delivery.head();
    // Whatever else a review failed by is forgiven with the head, too.
    let is_red = |seen: &PullGlimpse| seen.checks == Checks::GivenUp;
    delivery.phase == Phase::Verify && is_forgiven && delivery.pull_seen().is_some_and(is_red)
}

/// Whether a person let this head go on: the approval that its merge asked for is carried out next.
pub(super) fn is_let_go(delivery: &Delivery) -> bool {
    let approved = delivery.review.approved.as_ref().map(|it| &it.head);
    delivery.phase == Phase::Verify && approved.is_some() && approved == delivery.head()
}
