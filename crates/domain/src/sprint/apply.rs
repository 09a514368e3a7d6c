//! Decides about a sprint: how far its members are, when to weave, and when it is over.

use jiff::{SignedDuration, Timestamp};

use super::member::{MemberState, Refusal, SprintMember};
use super::report::{Report, Verdict};
use super::seen::{again_or_skip, late, see};
use super::sight::{Landing, REASON_CHARS_MAX, Sights};
use super::{MEMBER_TIMEOUT, QUEUED_TIMEOUT, SAFETY_TICK, Sprint, SprintState, TICKS_MAX};
use crate::fence::clip;
use crate::ids::{CommitSha, MessageId, PersonaName};
use crate::job::NotNow;
use crate::redact::presentable;
use crate::when::plus;

/// Longest name of who aborts, in characters.
const BY_CHARS_MAX: usize = 80;

/// How soon what was decided is carried out again, if that was lost.
const CARRY_OUT_AGAIN: SignedDuration = SignedDuration::from_mins(1);

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// This is how far its members and its pull request are.
    Seen(Sights),
    /// A weave is done.
    Woven(Box<Report>),
    /// A weave cannot be done.
    WeaveFailed {
        /// Which.
        weave: u32,
        /// Why.
        reason: String,
    },
    /// A member was sent what it conflicts with.
    Told {
        /// Which.
        persona: PersonaName,
        /// The messages that were shown.
        shown: Vec<MessageId>,
    },
    /// The prompt of a member shows these messages.
    Shown {
        /// Which.
        persona: PersonaName,
        /// The messages.
        shown: Vec<MessageId>,
    },
    /// The messages that a member was shown are marked as read.
    Read {
        /// Which.
        persona: PersonaName,
    },
    /// The mail in a head was collected.
    Collected {
        /// Whose.
        persona: PersonaName,
        /// The head.
        head: CommitSha,
    },
    /// A member takes its change back.
    Withdrawn {
        /// Which.
        persona: PersonaName,
    },
}

/// The sprint after something happened. What comes too late or twice changes nothing.
pub fn apply(sprint: &Sprint, input: &Input, now: Timestamp) -> Sprint {
    let mut next = sprint.clone();
    match input {
        // What its members were shown is marked as read, and their mail is collected, even when it is over.
        Input::Read { persona } => on(&mut next, persona, |it| it.shown.clear()),
        Input::Collected { persona, head } => {
            on(&mut next, persona, |it| it.collected = Some(head.clone()));
        }
        _ if sprint.is_over() => {}
        Input::Shown { persona, shown } => on(&mut next, persona, |it| it.shown.clone_from(shown)),
        Input::Told { persona, shown } => on(&mut next, persona, |it| told(it, shown, now)),
        Input::Withdrawn { persona } => on(&mut next, persona, |it| {
            it.state = MemberState::Withdrawn;
            it.place = None;
        }),
        Input::Seen(sights) => seen(&mut next, sights, now),
        Input::Woven(report) => woven(&mut next, report, now),
        Input::WeaveFailed { weave, reason } => weave_failed(&mut next, (*weave, reason), now),
    }
    if next != *sprint {
        next.updated_at = now;
    }
    next
}

/// Calls a sprint off: nothing more is woven, and its pull requests are left to people.
///
/// # Errors
/// When it is over.
pub fn abort(sprint: &Sprint, by: &str, now: Timestamp) -> Result<Sprint, NotNow> {
    must_go_on(sprint)?;
    let mut next = sprint.clone();
    next.state = SprintState::Aborted {
        at: now,
        by: clip(by, BY_CHARS_MAX),
    };
    next.updated_at = now;
    Ok(next)
}

/// Weaves what there is, where nobody is waited for.
///
/// # Errors
/// When it is over or being woven, or when a member is waited for.
pub fn integrate(sprint: &Sprint, now: Timestamp) -> Result<Sprint, NotNow> {
    must_go_on(sprint)?;
    let awaited = sprint.members.iter().filter(|it| it.is_awaited());
    let awaited: Vec<&str> = awaited.map(|it| it.persona.as_str()).collect();
    if !awaited.is_empty() {
        let sentence = format!(
            "sprint {} waits for {}: give it time, or have it integrate now, without them",
            sprint.number,
            awaited.join(", ")
        );
        return Err(NotNow::new("members_awaited", sentence));
    }
    integrate_now(sprint, now)
}

/// Waits for no member any more, and weaves what there is.
///
/// # Errors
/// When it is over, or being woven.
pub fn integrate_now(sprint: &Sprint, now: Timestamp) -> Result<Sprint, NotNow> {
    must_go_on(sprint)?;
    if sprint.state == SprintState::Integrating {
        let sentence = format!("sprint {} is being woven already", sprint.number);
        return Err(NotNow::new("integrating", sentence));
    }
    let mut next = sprint.clone();
    for member in &mut next.members {
        match member.state {
            MemberState::Waiting
            | MemberState::Working
            | MemberState::Conflicted
            | MemberState::Rerunning => member.state = MemberState::TimedOut,
            MemberState::PullOpen
            | MemberState::Applied { .. }
            | MemberState::TimedOut
            | MemberState::NoChange
            | MemberState::Skipped { .. }
            | MemberState::Withdrawn
            | MemberState::Failed { .. } => {}
        }
    }
    go_on(&mut next, None, now);
    next.updated_at = now;
    Ok(next)
}

fn must_go_on(sprint: &Sprint) -> Result<(), NotNow> {
    if sprint.is_over() {
        let sentence = format!(
            "sprint {} of {} is over already",
            sprint.number, sprint.repo
        );
        return Err(NotNow::new("ended", sentence));
    }
    Ok(())
}

/// A sprint whose source is paused: the time of the pause is no time of waiting.
pub fn held(sprint: &Sprint, now: Timestamp) -> Sprint {
    let mut held = sprint.clone();
    for member in held.members.iter_mut().filter(|it| it.is_awaited()) {
        member.since = now;
    }
    held
}

/// When a sprint is to be read next; none once it is over.
pub fn due(sprint: &Sprint, now: Timestamp) -> Option<Timestamp> {
    let safety = plus(now, SAFETY_TICK);
    let soonest = match sprint.state {
        SprintState::Integrating => None,
        SprintState::Working | SprintState::Fixing | SprintState::Verifying => {
            let late = sprint.members.iter().filter_map(late_at);
            late.min().map(|late| late.max(plus(now, CARRY_OUT_AGAIN)))
        }
        SprintState::Done { .. }
        | SprintState::PartiallyDone { .. }
        | SprintState::Aborted { .. } => return None,
    };
    Some(soonest.map_or(safety, |soonest| soonest.min(safety)))
}

/// When a member is waited for no more; one that has to be sent something is due at once.
fn late_at(member: &SprintMember) -> Option<Timestamp> {
    match member.state {
        MemberState::Waiting => Some(plus(member.since, QUEUED_TIMEOUT)),
        MemberState::Working | MemberState::Rerunning => Some(plus(member.since, MEMBER_TIMEOUT)),
        MemberState::Conflicted => Some(member.since),
        MemberState::PullOpen
        | MemberState::Applied { .. }
        | MemberState::TimedOut
        | MemberState::NoChange
        | MemberState::Skipped { .. }
        | MemberState::Withdrawn
        | MemberState::Failed { .. } => None,
    }
}

fn on(sprint: &mut Sprint, persona: &PersonaName, change: impl FnOnce(&mut SprintMember)) {
    let found = sprint.members.iter_mut().find(|it| it.persona == *persona);
    if let Some(member) = found {
        change(member);
    }
}

fn told(member: &mut SprintMember, shown: &[MessageId], now: Timestamp) {
    if member.state == MemberState::Conflicted {
        member.state = MemberState::Rerunning;
        member.attempts = member.attempts.saturating_add(1);
        member.since = now;
        member.shown = shown.to_vec();
    }
}

fn seen(sprint: &mut Sprint, sights: &Sights, now: Timestamp) {
    for (persona, sight) in &sights.members {
        on(sprint, persona, |member| see(member, sight, now));
    }
    for member in &mut sprint.members {
        if late_at(member).is_some_and(|late| late <= now) {
            late(member, now);
        }
    }
    match sights.landing {
        Some(Landing::Merged) => end(sprint, None, now),
        Some(Landing::Closed) => {
            let reason = "its pull request was closed without a merge";
            end(sprint, Some(reason), now);
        }
        landing @ (Some(Landing::Open | Landing::Stale) | None) => go_on(sprint, landing, now),
    }
}

/// Decides what is next. Nothing is begun while somebody is awaited, and nothing but what was decided while it is woven.
fn go_on(sprint: &mut Sprint, landing: Option<Landing>, now: Timestamp) {
    match sprint.state {
        SprintState::Working | SprintState::Fixing | SprintState::Verifying => {}
        SprintState::Integrating
        | SprintState::Done { .. }
        | SprintState::PartiallyDone { .. }
        | SprintState::Aborted { .. } => return,
    }
    if sprint.members.iter().any(SprintMember::is_awaited) {
        return;
    }
    let is_new = |it: &SprintMember| it.state == MemberState::PullOpen;
    let has_new = sprint.members.iter().any(is_new);
    let is_stale = landing == Some(Landing::Stale) && sprint.state == SprintState::Verifying;
    if (has_new || is_stale) && sprint.ticks < TICKS_MAX {
        sprint.ticks += 1;
        sprint.weaves += 1;
        sprint.state = SprintState::Integrating;
    } else if sprint.woven.is_some() {
        sprint.state = SprintState::Verifying;
    } else {
        end(sprint, None, now);
    }
}

/// What became of each member.
fn woven(sprint: &mut Sprint, report: &Report, now: Timestamp) {
    if sprint.state != SprintState::Integrating || report.weave != sprint.weaves {
        return;
    }
    for member in &mut sprint.members {
        member.place = None;
    }
    let mut place = 0;
    for (number, verdict) in &report.verdicts {
        let its_own = |it: &&mut SprintMember| it.is_offered() && it.number() == Some(*number);
        if let Some(member) = sprint.members.iter_mut().find(its_own) {
            judged(member, (report.weave, verdict), &mut place, now);
        }
    }
    sprint.woven = report.woven.clone().or(sprint.woven.take());
    mend_or_go_on(sprint, now);
}

fn judged(
    member: &mut SprintMember,
    (weave, verdict): (u32, &Verdict),
    place: &mut u32,
    now: Timestamp,
) {
    match verdict {
        Verdict::In { way, .. } => {
            member.state = MemberState::Applied { way: *way };
            member.place = Some(*place);
            // What it was shown is kept: it comes in by its answer in later weaves too.
            *place += 1;
        }
        Verdict::Out {
            head,
            against,
            clashes,
            others,
        } => {
            member.conflicts = member.conflicts.saturating_add(1);
            member.refusal = Some(Refusal {
                weave,
                head: head.clone(),
                against: against.clone(),
                clashes: clashes.clone(),
                others: *others,
            });
            again_or_skip(member, now);
        }
        // It is read again before the next weave.
        Verdict::Moved => {
            member.state = MemberState::Working;
            member.since = now;
        }
        Verdict::Nothing => member.state = MemberState::NoChange,
        Verdict::Skipped { reason } => {
            let reason = presentable(reason, REASON_CHARS_MAX);
            member.state = MemberState::Skipped { reason };
        }
    }
}

/// Members with a conflict mend it while there is time for another weave; without any, the sprint goes on.
fn mend_or_go_on(sprint: &mut Sprint, now: Timestamp) {
    // Mending and the weave after it are a tick each.
    let has_time = sprint.ticks.saturating_add(2) <= TICKS_MAX;
    let conflicted = |it: &&mut SprintMember| it.state == MemberState::Conflicted;
    if !has_time {
        for member in sprint.members.iter_mut().filter(conflicted) {
            member.state = MemberState::Skipped {
                reason: format!("it still conflicts after {TICKS_MAX} ticks"),
            };
        }
    }
    let mends = sprint
        .members
        .iter_mut()
        .any(|it| it.state == MemberState::Conflicted);
    sprint.state = SprintState::Fixing;
    match mends {
        true => sprint.ticks += 1,
        false => go_on(sprint, None, now),
    }
}

/// Somebody else's commit is on the branch, or GitHub refuses the weave: people have to look.
fn weave_failed(sprint: &mut Sprint, (weave, reason): (u32, &str), now: Timestamp) {
    if sprint.state == SprintState::Integrating && weave == sprint.weaves {
        end(sprint, Some(reason), now);
    }
}

/// It is over: done if nothing of it is missing.
fn end(sprint: &mut Sprint, reason: Option<&str>, now: Timestamp) {
    let missing = sprint.members.iter().find_map(|it| {
        let why = it.missing()?;
        Some(format!("{}: {why}", it.persona))
    });
    sprint.state = match reason.map(str::to_owned).or(missing) {
        None => SprintState::Done { at: now },
        Some(reason) => SprintState::PartiallyDone {
            at: now,
            reason: presentable(&reason, REASON_CHARS_MAX),
        },
    };
}
