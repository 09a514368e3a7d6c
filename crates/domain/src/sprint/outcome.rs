//! What a member came to: whether what it made is part of its sprint, and why not.

use std::cmp::Ordering;

use super::Sprint;
use super::member::{MemberState, SprintMember};
use super::report::REASON_BYTES_MAX;
use crate::ids::CommitSha;
use crate::redact::storable;

impl SprintMember {
    /// Whether the newest weave holds its change: its own, or what the weaver made of it.
    pub fn is_in(&self) -> bool {
        match self.state {
            MemberState::Applied { .. } => true,
            MemberState::Delegated => self.in_since.is_some(),
            MemberState::Pending
            | MemberState::Waiting
            | MemberState::Working
            | MemberState::PullOpen
            | MemberState::Conflicted
            | MemberState::Rerunning
            | MemberState::Unresolved
            | MemberState::TimedOut
            | MemberState::NoChange
            | MemberState::Skipped { .. }
            | MemberState::Withdrawn
            | MemberState::Failed { .. } => false,
        }
    }

    /// Whether nothing is known of what it comes to: once its sprint is over, it is left out.
    fn is_open(&self) -> bool {
        match self.state {
            MemberState::Pending
            | MemberState::Waiting
            | MemberState::Working
            | MemberState::PullOpen
            | MemberState::Conflicted
            | MemberState::Rerunning
            | MemberState::Unresolved => true,
            MemberState::Delegated => !self.is_in(),
            MemberState::Applied { .. }
            | MemberState::TimedOut
            | MemberState::NoChange
            | MemberState::Skipped { .. }
            | MemberState::Withdrawn
            | MemberState::Failed { .. } => false,
        }
    }

    /// Whether what is woven of it covers a pull request at this head: the one that was woven, as it was then, and those before it, which
    /// it replaced as a whole. A newer one was in no weave.
    pub fn covers(&self, pull: u64, head: &CommitSha) -> bool {
        self.offer
            .as_ref()
            .is_some_and(|offer| match pull.cmp(&offer.pull) {
                Ordering::Less => true,
                Ordering::Equal => offer.head == *head,
                Ordering::Greater => false,
            })
    }

    /// Why what it was to make is not part of the sprint; none if it is, or if there is nothing.
    pub fn missing(&self) -> Option<String> {
        match &self.state {
            MemberState::Applied { .. } | MemberState::NoChange | MemberState::Withdrawn => None,
            MemberState::Delegated if self.is_in() => None,
            MemberState::Skipped { reason } | MemberState::Failed { reason } => {
                Some(reason.clone())
            }
            MemberState::TimedOut => Some("it was not waited for any longer".to_owned()),
            MemberState::Pending => Some("it was not begun".to_owned()),
            MemberState::Waiting
            | MemberState::Working
            | MemberState::PullOpen
            | MemberState::Conflicted
            | MemberState::Rerunning
            | MemberState::Unresolved
            | MemberState::Delegated => Some("it was not through".to_owned()),
        }
    }
}

impl Sprint {
    /// Whether a member was not through when the sprint ended: it waits for nothing, and its job is over.
    pub(super) fn leaves_out(&self, member: &SprintMember) -> bool {
        self.is_over() && member.is_open()
    }

    /// One word for how far a member is.
    pub fn word_of(&self, member: &SprintMember) -> &'static str {
        match self.leaves_out(member) {
            true => "left_out",
            false => member.state.word(),
        }
    }
}

/// The newest weave pushed nothing, so nothing of those that are in can be merged: they are left out. Returns why.
pub(super) fn leave_out_unpushed(sprint: &mut Sprint) -> String {
    let reason = format!("what is woven changes nothing on `{}`", sprint.target);
    for member in sprint.members.iter_mut().filter(|it| it.is_in()) {
        member.place = None;
        member.state = MemberState::Skipped {
            reason: storable(&reason, REASON_BYTES_MAX),
        };
    }
    reason
}
