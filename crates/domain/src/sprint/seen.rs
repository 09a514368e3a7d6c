//! What a member has come to, by what can be seen of its job and its pull request.

use jiff::{SignedDuration, Timestamp};

use super::Sprint;
use super::mailing::{see_reading, still_reads, stop_reading};
use super::member::{MemberState, Offer, Outbox, SprintMember};
use super::report::REASON_BYTES_MAX;
use super::sight::{LATE_OUTPUTS, Sights, SprintSight, Work, may_no_more_be_late};
use crate::ids::JobId;
use crate::redact::storable;
use crate::when::plus;

/// Why what a member made cannot be woven any more.
const MERGED_BY_ITSELF: &str = "its pull request was merged by itself";

/// Why what a session changed is in no weave.
const UNOPENED: &str = "its session changed files and opened no pull request";

/// Why what a session may have changed is in no weave.
const UNKNOWN_PATCH: &str = "its session opened no pull request, and its patch cannot be read";

/// How long a patch is read after the time of its member: longer than an odd answer is doubted.
const PATCH_READ_WITHIN: SignedDuration = SignedDuration::from_mins(15);

/// What is seen of a member whose job can never be made: what it was to mend outlives that.
pub fn never_made(job: JobId, reason: String) -> Sights {
    let sight = SprintSight {
        work: Work::Gone { reason },
        rested_at: None,
        is_red: false,
        outbox: None,
    };
    Sights {
        members: vec![(job, sight)],
        ..Sights::default()
    }
}

/// What a member has come to.
pub(super) fn see(member: &mut SprintMember, sight: &SprintSight, now: Timestamp) {
    if sight.work == Work::Closed {
        member.closed = true;
    }
    if member.is_late(now) {
        stop_reading(member);
    }
    let since = member.reading;
    let is_reading = since.is_some_and(|since| see_reading(member, sight, since, now));
    if !is_reading && !still_reads(member, sight) {
        see_work(member, sight, now);
    }
    if matches!(sight.work, Work::Ready(_)) {
        member.closed = false;
    }
}

fn see_work(member: &mut SprintMember, sight: &SprintSight, now: Timestamp) {
    match member.state {
        MemberState::Waiting | MemberState::Working | MemberState::PullOpen => {
            see_first(member, sight, now);
        }
        MemberState::Rerunning => see_again(member, sight, now),
        MemberState::Conflicted => see_failure(member, &sight.work, now),
        MemberState::NoChange if sight.is_in_patch() => member.state = nothing_or_unopened(member),
        // A late pull request joins the next weave, and so does a new head of one that is in.
        MemberState::TimedOut | MemberState::NoChange | MemberState::Applied { .. } => {
            see_late(member, &sight.work);
        }
        MemberState::Skipped { .. } => see_open_again(member, &sight.work),
        MemberState::Pending
        | MemberState::Unresolved
        | MemberState::Delegated
        | MemberState::Withdrawn
        | MemberState::Failed { .. } => {}
    }
}

fn see_first(member: &mut SprintMember, sight: &SprintSight, now: Timestamp) {
    member.state = match &sight.work {
        Work::Queued => MemberState::Waiting,
        Work::Working | Work::Closed => {
            // It begins to work, or it was ready and is not any more.
            if member.state != MemberState::Working {
                member.since = now;
            }
            MemberState::Working
        }
        Work::Ready(offer) => {
            member.offer = Some(offer.clone());
            MemberState::PullOpen
        }
        // What it was begun anew for is still there, unless its patch takes that back.
        Work::Nothing | Work::Gone { .. }
            if !member.earlier.is_empty() && !is_patch_unread(member, sight) =>
        {
            MemberState::Unresolved
        }
        // It may be asked for a pull request, and what it changed is not known before its patch is read.
        Work::Nothing if may_still_answer(member, sight, now) || is_patch_unread(member, sight) => {
            // So it is with one whose session was over before it was seen at work.
            if member.state != MemberState::Working {
                member.since = now;
            }
            MemberState::Working
        }
        Work::Nothing => nothing_or_unopened(member),
        Work::Merged => failed(MERGED_BY_ITSELF),
        Work::Gone { reason } | Work::Failed { reason } => failed(reason),
    };
}

/// Whether a session ended without a pull request, and what it changed is not known yet.
fn is_patch_unread(member: &SprintMember, sight: &SprintSight) -> bool {
    sight.is_in_patch() && member.collected != Some(Outbox::Patch)
}

/// What a session came to that makes nothing more and has no pull request, or one that changes no file.
fn nothing_or_unopened(member: &SprintMember) -> MemberState {
    let reason = match (member.unopened, member.unreadable) {
        (false, _) => return MemberState::NoChange,
        (true, false) => UNOPENED,
        (true, true) => UNKNOWN_PATCH,
    };
    MemberState::Skipped {
        reason: reason.to_owned(),
    }
}

/// Whether a session at work that ended without a pull request makes nothing more: it is not asked for one, as one that began anew, or does
/// not answer.
pub(super) fn has_said_all(member: &SprintMember, sight: &SprintSight, now: Timestamp) -> bool {
    let is_at_work = matches!(member.state, MemberState::Waiting | MemberState::Working);
    let may_answer = is_first_at_work(member) && may_still_answer(member, sight, now);
    sight.work == Work::Nothing && is_at_work && !may_answer
}

/// Whether a session that ended without a pull request is to be asked for one, or has not ended again since and has time left.
fn may_still_answer(member: &SprintMember, sight: &SprintSight, now: Timestamp) -> bool {
    let may_speak = !sight.is_empty() && !member.silent;
    let Some(rested) = sight.rested_at.filter(|_| may_speak) else {
        return false;
    };
    match member.asked_at {
        None => ended_in_time(member, rested.min(now)),
        Some(asked) => rested <= asked && member.late_at().is_some_and(|late| now < late),
    }
}

/// What ended in time is asked for a pull request, although the time passes while one may still be listed late.
fn ended_in_time(member: &SprintMember, rested: Timestamp) -> bool {
    member.late_at().is_some_and(|late| rested < late)
}

/// Whether the session of a member ended in time without a pull request. The member is not late while one may still be listed
/// late, nor before its session was asked for one, nor for some time while its patch cannot be read.
pub(super) fn has_ended_in_time(
    member: &SprintMember,
    sight: &SprintSight,
    now: Timestamp,
) -> bool {
    let Some(rested) = sight.rested_at else {
        return false;
    };
    let has_no_pull = match &sight.work {
        Work::Nothing => !sight.is_empty(),
        Work::Working => sight.outbox.is_none() && !may_no_more_be_late(rested, now),
        Work::Queued
        | Work::Closed
        | Work::Ready(_)
        | Work::Merged
        | Work::Gone { .. }
        | Work::Failed { .. } => false,
    };
    let may_be_read = |late| now < plus(late, PATCH_READ_WITHIN);
    let has_time = !is_patch_unread(member, sight) || member.late_at().is_some_and(may_be_read);
    has_no_pull && has_time && is_first_at_work(member) && ended_in_time(member, rested.min(now))
}

/// Until when a member is waited for. A session that ended in time without a pull request, as `rested` says, is waited for until
/// none can be listed late.
pub fn awaited_until(member: &SprintMember, rested: Option<Timestamp>) -> Option<Timestamp> {
    let is_told = member.state == MemberState::Conflicted;
    let late = member.late_at().filter(|_| !is_told)?;
    let rested = rested.filter(|at| is_first_at_work(member) && ended_in_time(member, *at));
    Some(rested.map_or(late, |at| late.max(plus(at, LATE_OUTPUTS))))
}

/// The members whose sessions ended without a pull request, and are to be asked for one or were asked and did not answer.
pub fn without_pull<'a>(
    sprint: &'a Sprint,
    sights: &'a Sights,
    now: Timestamp,
) -> impl Iterator<Item = &'a SprintMember> {
    sprint.members.iter().filter(move |member| {
        let sight = sights.members.iter().find(|(job, _)| *job == member.job);
        let ended = sight.filter(|(_, sight)| sight.work == Work::Nothing);
        is_first_at_work(member)
            && ended.is_some_and(|(_, sight)| may_still_answer(member, sight, now))
    })
}

/// Whether its first session is waited for.
fn is_first_at_work(member: &SprintMember) -> bool {
    match member.state {
        MemberState::Waiting | MemberState::Working => member.earlier.is_empty(),
        MemberState::Pending
        | MemberState::PullOpen
        | MemberState::Applied { .. }
        | MemberState::Conflicted
        | MemberState::Rerunning
        | MemberState::Unresolved
        | MemberState::Delegated
        | MemberState::TimedOut
        | MemberState::NoChange
        | MemberState::Skipped { .. }
        | MemberState::Withdrawn
        | MemberState::Failed { .. } => false,
    }
}

/// Its session is asked for a pull request; one that takes no message has said all that it says.
pub(super) fn asked(member: &mut SprintMember, is_taken: bool, now: Timestamp) {
    if !is_first_at_work(member) {
        return;
    }
    if !is_taken {
        member.silent = true;
    } else if member.asked_at.is_none() {
        member.asked_at = Some(now);
        member.since = now;
    }
}

/// A member that mends its conflict is ready with another head. The same head some time after its session rested again is no
/// answer: GitHub may report its push after Jules reports that the session rests.
fn see_again(member: &mut SprintMember, sight: &SprintSight, now: Timestamp) {
    let refused = member.refusal.as_ref().map(|refusal| &refusal.head);
    match &sight.work {
        Work::Ready(offer) if refused != Some(&offer.head) => {
            member.offer = Some(offer.clone());
            member.state = MemberState::PullOpen;
        }
        Work::Ready(_) | Work::Nothing => {
            let rested = sight.rested_at.filter(|at| *at > member.since);
            if rested.is_some_and(|at| may_no_more_be_late(at, now)) {
                member.send_back(now);
            }
        }
        Work::Queued | Work::Working | Work::Closed => {}
        Work::Merged | Work::Gone { .. } | Work::Failed { .. } => {
            see_failure(member, &sight.work, now);
        }
    }
}

/// Whether a pull request has to be read again before it is known that its session, which is done, pushed nothing: what was read
/// before its push had to be there says nothing, and the message that asks for a reading may be lost or late. Until then the
/// session counts as not done.
pub fn must_be_read(
    member: &SprintMember,
    sight: &mut SprintSight,
    read_at: Option<Timestamp>,
    now: Timestamp,
) -> bool {
    let is_asked = member.state == MemberState::Rerunning || member.reading.is_some();
    let is_ready = matches!(sight.work, Work::Ready(_));
    let is_empty = sight.is_empty();
    let is_doubted = is_empty || is_asked && is_ready;
    let Some(rested) = sight.rested_at.filter(|_| is_doubted) else {
        return false;
    };
    let was_read = read_at.is_none_or(|read| may_no_more_be_late(rested, read));
    let is_unread = may_no_more_be_late(rested, now) && !was_read;
    if is_unread {
        sight.rested_at = None;
    }
    if is_unread && is_empty {
        sight.work = Work::Working;
    }
    is_unread
}

fn see_late(member: &mut SprintMember, work: &Work) {
    let Work::Ready(offer) = work else {
        return;
    };
    let is_new = member.offer.as_ref() != Some(offer);
    if is_new || member.state == MemberState::TimedOut && !is_refused(member, offer) {
        member.offer = Some(offer.clone());
        member.state = MemberState::PullOpen;
    }
}

/// What was left out joins the next weave if its pull request was closed and is ready again, or if it had none before. One that
/// was always ready was left out for another reason, or was closed after it was read.
fn see_open_again(member: &mut SprintMember, work: &Work) {
    if let Work::Ready(offer) = work
        && (member.closed || member.offer.is_none())
    {
        member.offer = Some(offer.clone());
        member.state = MemberState::PullOpen;
    }
}

fn is_refused(member: &SprintMember, offer: &Offer) -> bool {
    member
        .refusal
        .as_ref()
        .is_some_and(|it| it.head == offer.head)
}

/// A conflict outlives the session that was to mend it, but not a pull request that a person closed.
fn see_failure(member: &mut SprintMember, work: &Work, now: Timestamp) {
    match work {
        Work::Gone { .. } if !member.persona.is_weaver() => member.begin_anew(now),
        Work::Gone { reason } | Work::Failed { reason } => member.state = failed(reason),
        Work::Merged => member.state = failed(MERGED_BY_ITSELF),
        Work::Queued | Work::Working | Work::Closed | Work::Ready(_) | Work::Nothing => {}
    }
}

fn failed(reason: &str) -> MemberState {
    MemberState::Failed {
        reason: storable(reason, REASON_BYTES_MAX),
    }
}

/// Nothing came in time.
pub(super) fn late(member: &mut SprintMember, now: Timestamp) {
    if stop_reading(member) {
        return;
    }
    match member.state {
        MemberState::Waiting | MemberState::Working => {
            member.state = match member.earlier.is_empty() {
                true => MemberState::TimedOut,
                false => MemberState::Unresolved,
            };
        }
        MemberState::Rerunning => member.send_back(now),
        MemberState::Pending
        | MemberState::Conflicted
        | MemberState::Unresolved
        | MemberState::Delegated
        | MemberState::PullOpen
        | MemberState::Applied { .. }
        | MemberState::TimedOut
        | MemberState::NoChange
        | MemberState::Skipped { .. }
        | MemberState::Withdrawn
        | MemberState::Failed { .. } => {}
    }
}

/// What it took back may be in already: it keeps its place until a weave without it.
pub(super) fn withdraw(member: &mut SprintMember) {
    member.reading = None;
    match member.state {
        MemberState::Skipped { .. } | MemberState::Withdrawn | MemberState::Failed { .. } => {}
        MemberState::Pending
        | MemberState::Waiting
        | MemberState::Working
        | MemberState::PullOpen
        | MemberState::Applied { .. }
        | MemberState::Conflicted
        | MemberState::Rerunning
        | MemberState::Unresolved
        | MemberState::Delegated
        | MemberState::TimedOut
        | MemberState::NoChange => member.state = MemberState::Withdrawn,
    }
}
