//! What members are shown of their mail. Mail for those whose changes are ready goes to their sessions before a weave, and they
//! may change something for it.

use jiff::Timestamp;

use super::member::{MemberState, Outbox, SHOWN_MAX, SprintMember};
use super::sight::{Sights, SprintSight, Work, may_no_more_be_late};
use super::{Sprint, SprintState};
use crate::ids::MessageId;

/// How often a member is sent such mail at most: what comes later is in the prompt of its next sprint.
pub const MAILS_MAX: u32 = 3;

/// Whether a decision is to weave what is ready: mail is read before that.
pub fn begins_weave(before: &Sprint, after: &Sprint) -> bool {
    is_before_weave(before) && after.state == SprintState::Integrating
}

/// The members that are sent their unread mail before a weave.
pub fn takers_of_mail(sprint: &Sprint) -> impl Iterator<Item = &SprintMember> {
    sprint.members.iter().filter(|it| takes_mail(it))
}

/// Members with unread mail are to read it first, and then all are woven.
pub(super) fn hand_mail(sprint: &mut Sprint, sights: &Sights, now: Timestamp) {
    let is_awaited = sprint.members.iter().any(SprintMember::is_awaited);
    if is_awaited || !is_before_weave(sprint) {
        return;
    }
    for (persona, messages) in &sights.mail {
        let of_persona = |it: &&mut SprintMember| it.persona == *persona && takes_mail(it);
        if let Some(member) = sprint.members.iter_mut().find(of_persona) {
            shown(member, messages);
            member.reading = Some(now);
            member.overdue = false;
            // Its session may change files for it.
            if member.collected == Some(Outbox::Patch) {
                member.collected = None;
            }
            member.since = now;
            member.mails = member.mails.saturating_add(1);
        }
    }
}

/// Whether a weave is what comes next.
fn is_before_weave(sprint: &Sprint) -> bool {
    let is_before = match sprint.state {
        SprintState::Working | SprintState::Fixing => true,
        SprintState::Integrating
        | SprintState::Verifying
        | SprintState::Done { .. }
        | SprintState::PartiallyDone { .. }
        | SprintState::Aborted { .. } => false,
    };
    is_before && sprint.is_woven()
}

fn takes_mail(member: &SprintMember) -> bool {
    let is_through = match member.state {
        MemberState::PullOpen | MemberState::Applied { .. } | MemberState::NoChange => true,
        MemberState::Pending
        | MemberState::Waiting
        | MemberState::Working
        | MemberState::Conflicted
        | MemberState::Rerunning
        | MemberState::Unresolved
        | MemberState::Delegated
        | MemberState::TimedOut
        | MemberState::Skipped { .. }
        | MemberState::Withdrawn
        | MemberState::Failed { .. } => false,
    };
    is_through && !member.persona.is_weaver() && member.mails < MAILS_MAX
}

/// A member that reads mail is through again once its session has rested since, with another head or without. Returns whether
/// nothing else can be seen of it.
pub(super) fn see_reading(
    member: &mut SprintMember,
    sight: &SprintSight,
    since: Timestamp,
    now: Timestamp,
) -> bool {
    match &sight.work {
        Work::Ready(offer) if member.offer.as_ref() != Some(offer) => {
            member.offer = Some(offer.clone());
            member.state = MemberState::PullOpen;
            member.reading = None;
            true
        }
        Work::Ready(_) | Work::Nothing => {
            // What it answered in a patch is collected before, and then says what became of the member.
            let is_collected = !sight.is_in_patch() || member.collected == sight.outbox;
            if is_collected && has_read(sight, since, now) {
                member.reading = None;
            }
            member.reading.is_some() || !sight.is_in_patch()
        }
        Work::Queued | Work::Working | Work::Closed => true,
        Work::Merged | Work::Gone { .. } | Work::Failed { .. } => {
            member.reading = None;
            false
        }
    }
}

/// Whether a session has rested since it was sent mail, for so long that whatever it made is there.
pub(super) fn has_read(sight: &SprintSight, since: Timestamp, now: Timestamp) -> bool {
    let rested = sight.rested_at.filter(|at| *at > since);
    rested.is_some_and(|at| may_no_more_be_late(at, now))
}

/// A member that reads mail is waited for no more. Returns whether it did.
pub(super) fn stop_reading(member: &mut SprintMember) -> bool {
    let was_reading = member.reading.take().is_some();
    member.overdue |= was_reading;
    was_reading
}

/// Whether a session that is waited for no more still reads its mail.
pub(super) fn still_reads(member: &mut SprintMember, sight: &SprintSight) -> bool {
    let is_at_work = match sight.work {
        Work::Queued | Work::Working | Work::Closed => true,
        Work::Ready(_) | Work::Nothing | Work::Merged | Work::Gone { .. } | Work::Failed { .. } => {
            false
        }
    };
    member.overdue &= is_at_work;
    member.overdue
}

/// A session takes no message: its mail stays unread.
pub(super) fn not_taken(member: &mut SprintMember) {
    if member.reading.take().is_some() {
        member.shown.clear();
    }
}

/// The mail of an outbox was collected, as far as that could be read; the outbox may lie in a change without a pull request.
pub(super) fn collected(
    member: &mut SprintMember,
    outbox: &Outbox,
    is_read: bool,
    is_unopened: bool,
) {
    member.collected = Some(outbox.clone());
    member.unreadable = !is_read;
    member.unopened = is_unopened;
}

/// Messages that are left out are unread, so a later prompt shows them.
pub(super) fn shown(member: &mut SprintMember, shown: &[MessageId]) {
    member.shown = shown.iter().take(SHOWN_MAX).copied().collect();
}

/// A member was sent its conflict, and mends it.
pub(super) fn begin_rerun(member: &mut SprintMember, ids: &[MessageId], now: Timestamp) {
    if member.state == MemberState::Conflicted {
        member.state = MemberState::Rerunning;
        member.attempts = member.attempts.saturating_add(1);
        member.since = now;
        shown(member, ids);
    }
}
