//! Sprints of which not all members work at once, and those whose members are merged one after the other.

use jiff::Timestamp;

use super::member::{MemberState, SprintMember};
use super::report::Way;
use super::sight::Work;
use super::{Sprint, SprintState};

/// Lets as many members begin as may work at once: those that have not begun are `pending`.
pub(super) fn begin_next(sprint: &mut Sprint, now: Timestamp) {
    let Some(at_once) = sprint.at_once else {
        return;
    };
    let is_woven = sprint.is_woven();
    let busy = |it: &&SprintMember| is_busy(it, is_woven);
    let busy = sprint.members.iter().filter(busy).count();
    let free = usize::try_from(at_once).unwrap_or(usize::MAX);
    let free = free.saturating_sub(busy);
    let pending = |it: &&mut SprintMember| it.state == MemberState::Pending;
    for member in sprint.members.iter_mut().filter(pending).take(free) {
        member.state = MemberState::Waiting;
        member.since = now;
    }
}

/// Whether a member takes one of the places. Where nothing is woven, it does until its pull request is merged or closed.
fn is_busy(member: &SprintMember, is_woven: bool) -> bool {
    let is_open = member.state == MemberState::PullOpen && !is_woven;
    member.state != MemberState::Pending && (member.is_awaited() || is_open)
}

/// Members whose pull requests are merged by themselves: the sprint is over when none is open and none is awaited.
pub(super) fn is_open(sprint: &mut Sprint) -> bool {
    let is_open = |it: &SprintMember| it.state == MemberState::PullOpen;
    let is_open = sprint.members.iter().any(is_open);
    if is_open {
        sprint.state = SprintState::Verifying;
    }
    is_open
}

/// A pull request of a member is merged by itself. Once it was ready, it is waited for until it is merged or closed, also while
/// it is not ready any more. Returns whether nothing else is to be seen of it.
pub(super) fn see_alone(member: &mut SprintMember, work: &Work) -> bool {
    match work {
        Work::Merged => {
            if member.state != MemberState::Withdrawn {
                member.state = MemberState::Applied { way: Way::Merged };
            }
            true
        }
        Work::Working | Work::Closed => member.state == MemberState::PullOpen,
        Work::Queued | Work::Ready(_) | Work::Nothing | Work::Gone { .. } | Work::Failed { .. } => {
            false
        }
    }
}
