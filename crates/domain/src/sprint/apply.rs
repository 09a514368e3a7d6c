//! Decides about a sprint: how far its members are, when to weave, and when it is over.

use jiff::{SignedDuration, Timestamp};

use super::mailing::{begin_rerun, collected, hand_mail, not_taken, shown};
use super::member::{MemberState, Outbox, SprintMember};
use super::one_by_one::{begin_next, is_open, see_alone};
use super::outcome::leave_out_unpushed;
use super::report::{REASON_BYTES_MAX, Report};
use super::resolving::{call_weaver, is_unresolved, leave_out_red, mend, needs_weaver, take_back};
use super::seen::{asked, has_ended_in_time, late, see};
use super::sight::{Landing, Sights, Work};
use super::verdicts::take_up;
use super::{
    ATTEMPTS_MAX, FOREIGN_COMMIT, SAFETY_TICK, Sprint, SprintState, TICKS_MAX, WEAVE_RETRIES_MAX,
};
use crate::ids::{MessageId, PersonaName};
use crate::redact::storable;
use crate::when::plus;

/// How soon what was decided is carried out again, if that was lost.
const CARRY_OUT_AGAIN: SignedDuration = SignedDuration::from_mins(1);

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SprintInput {
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
        /// Whether it may pass by itself.
        may_pass: bool,
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
    /// The mail of an outbox was collected.
    Collected {
        /// Whose.
        persona: PersonaName,
        /// The outbox.
        outbox: Outbox,
        /// Whether it was read; not if it never can be.
        is_read: bool,
        /// Whether it is a patch that changes files besides mail, as far as is known.
        is_unopened: bool,
    },
    /// The session of a member, which ended without a pull request, was asked for one.
    Asked {
        /// Whose.
        persona: PersonaName,
        /// Whether it takes the message.
        is_taken: bool,
    },
    /// The session of a member, which was to read its mail, takes no message.
    MailNotTaken {
        /// Whose.
        persona: PersonaName,
    },
    /// A member asks to be woven before those that are in.
    WantsFirst {
        /// Which.
        persona: PersonaName,
    },
    /// A member takes its change back.
    Withdrawn {
        /// Which.
        persona: PersonaName,
    },
}

/// The sprint after something happened. What comes too late or twice changes nothing.
pub fn apply(sprint: &Sprint, input: &SprintInput, now: Timestamp) -> Sprint {
    let mut next = sprint.clone();
    match input {
        // What its members were shown is marked as read, and their mail is collected, even when it is over.
        SprintInput::Read { persona } => on(&mut next, persona, |it| it.shown.clear()),
        SprintInput::Collected {
            persona,
            outbox,
            is_read,
            is_unopened,
        } => on(&mut next, persona, |it| {
            collected(it, outbox, *is_read, *is_unopened);
        }),
        SprintInput::Seen(sights) if sprint.is_over() => next.hinder(sights),
        _ if sprint.is_over() => {}
        SprintInput::Shown {
            persona,
            shown: ids,
        } => on(&mut next, persona, |it| shown(it, ids)),
        SprintInput::Told { persona, shown } => {
            on(&mut next, persona, |it| begin_rerun(it, shown, now))
        }
        SprintInput::Asked { persona, is_taken } => {
            on(&mut next, persona, |it| asked(it, *is_taken, now));
        }
        SprintInput::MailNotTaken { persona } => {
            on(&mut next, persona, not_taken);
            go_on(&mut next, None, now);
        }
        SprintInput::WantsFirst { persona } => on(&mut next, persona, |it| it.first = true),
        SprintInput::Withdrawn { persona } => {
            take_back(&mut next, persona);
            go_on(&mut next, None, now);
        }
        SprintInput::Seen(sights) => seen(&mut next, sights, now),
        SprintInput::Woven(report) => woven(&mut next, report, now),
        SprintInput::WeaveFailed {
            weave,
            reason,
            may_pass,
        } => weave_failed(&mut next, *weave, reason, *may_pass, now),
    }
    if next != *sprint {
        next.updated_at = now;
    }
    next
}

/// When a sprint is to be read next; none once it is over.
pub fn due(sprint: &Sprint, now: Timestamp) -> Option<Timestamp> {
    let safety = plus(now, SAFETY_TICK);
    let soonest = match sprint.state {
        SprintState::Integrating => None,
        SprintState::Working | SprintState::Fixing | SprintState::Verifying => {
            let late = sprint.members.iter().filter_map(SprintMember::late_at);
            // A deadline is kept to the second; what is due already is being carried out.
            let due = late.map(|late| match late > now {
                true => late,
                false => plus(now, CARRY_OUT_AGAIN),
            });
            due.min()
        }
        SprintState::Done { .. }
        | SprintState::PartiallyDone { .. }
        | SprintState::Aborted { .. } => return None,
    };
    Some(soonest.map_or(safety, |soonest| soonest.min(safety)))
}

fn on(sprint: &mut Sprint, persona: &PersonaName, change: impl FnOnce(&mut SprintMember)) {
    let found = sprint.members.iter_mut().find(|it| it.persona == *persona);
    if let Some(member) = found {
        change(member);
    }
}

fn seen(sprint: &mut Sprint, sights: &Sights, now: Timestamp) {
    sprint.tasks = sprint.tasks.max(sights.tasks);
    sprint.hinder(sights);
    let is_woven_now = sprint.state == SprintState::Integrating;
    let is_woven = sprint.is_woven();
    for (job, sight) in &sights.members {
        let of_job = sprint.members.iter_mut().find(|it| it.job == *job);
        // What a weave is about stays as it is until its report, which would be lost on a member that moved on.
        let Some(member) = of_job else {
            continue;
        };
        if is_woven_now && member.is_offered() {
            member.closed |= sight.work == Work::Closed;
        } else {
            let is_seen = !is_woven && see_alone(member, &sight.work);
            if !is_seen {
                see(member, sight, now);
            }
        }
    }
    for member in &mut sprint.members {
        let mut sights = sights.members.iter();
        let sight = sights.find(|(job, _)| *job == member.job);
        let is_in_time = sight.is_some_and(|(_, sight)| has_ended_in_time(member, sight, now));
        if member.is_late(now) && !is_in_time {
            late(member, now);
        }
    }
    hand_mail(sprint, sights, now);
    match sights.landing {
        Some(Landing::Merged) => {
            sprint.merged = true;
            end(sprint, None, now);
        }
        // While it is woven, its newest head may be one that no report names yet.
        Some(Landing::MergedOlder) if sprint.state != SprintState::Integrating => {
            let reason = "its pull request was merged before its newest weave";
            end(sprint, Some(reason), now);
        }
        Some(Landing::Closed) => {
            let reason = "its pull request was closed without a merge";
            end(sprint, Some(reason), now);
        }
        // No weave can be pushed any more, also while members mend.
        Some(Landing::Foreign) => end(sprint, Some(FOREIGN_COMMIT), now),
        Some(Landing::Red) => {
            go_on(sprint, None, now);
            if sprint.state == SprintState::Verifying {
                leave_out_red(sprint, sights);
                go_on(sprint, sights.landing, now);
            }
        }
        landing @ (Some(Landing::Open | Landing::Stale | Landing::MergedOlder) | None) => {
            go_on(sprint, landing, now);
        }
    }
}

/// Decides what is next. Nothing is begun while a member is awaited, and nothing but what was decided while it is woven.
pub(super) fn go_on(sprint: &mut Sprint, landing: Option<Landing>, now: Timestamp) {
    match sprint.state {
        SprintState::Working | SprintState::Fixing | SprintState::Verifying => {}
        SprintState::Integrating
        | SprintState::Done { .. }
        | SprintState::PartiallyDone { .. }
        | SprintState::Aborted { .. } => return,
    }
    begin_next(sprint, now);
    if sprint.members.iter().any(SprintMember::is_awaited) {
        return;
    }
    if !sprint.is_woven() {
        if !is_open(sprint) {
            end(sprint, None, now);
        }
        return;
    }
    let is_new = |it: &SprintMember| it.state == MemberState::PullOpen;
    let has_new = sprint.members.iter().any(is_new);
    let has_leaving = sprint.members.iter().any(SprintMember::is_to_be_taken_out);
    let is_stale = landing == Some(Landing::Stale);
    let is_to_be_woven = has_new || has_leaving || is_stale;
    if is_to_be_woven && !sprint.offered().is_empty() && sprint.ticks < TICKS_MAX {
        sprint.ticks += 1;
        sprint.weaves += 1;
        sprint.state = SprintState::Integrating;
    } else if needs_weaver(sprint, landing) {
        call_weaver(sprint, now);
    } else if sprint.offered().is_empty() {
        end(sprint, None, now);
    } else if has_leaving {
        let reason = format!("a member has to be taken out after {TICKS_MAX} ticks");
        end(sprint, Some(&reason), now);
    } else if is_stale {
        let reason = format!("its target moved on after {TICKS_MAX} ticks");
        end(sprint, Some(&reason), now);
    } else if sprint.is_newest_woven() {
        sprint.state = SprintState::Verifying;
    } else {
        let reason = leave_out_unpushed(sprint);
        let reason = (!has_new).then_some(reason);
        end(sprint, reason.as_deref(), now);
    }
}

/// What became of each member.
fn woven(sprint: &mut Sprint, report: &Report, now: Timestamp) {
    if sprint.state != SprintState::Integrating || report.weave != sprint.weaves {
        return;
    }
    take_up(sprint, report, now);
    if !mend(sprint, now) {
        go_on(sprint, None, now);
    }
}

/// A sprint that was aborted while its weave was under way: what that pushed is in its one pull request, which may be merged all the
/// same. One that pushed nothing leaves there what was pushed before.
pub fn woven_meanwhile(sprint: &Sprint, report: &Report, now: Timestamp) -> Sprint {
    let mut next = sprint.clone();
    let is_aborted = matches!(sprint.state, SprintState::Aborted { .. });
    let is_awaited = report.weave == sprint.weaves && !sprint.is_newest_woven();
    if is_aborted && is_awaited && report.woven.is_some() {
        take_up(&mut next, report, now);
        next.updated_at = now;
    }
    next
}

/// GitHub is away for long, so another weave tries the same; or a commit of another hand is on the branch, or GitHub refuses
/// the weave: people have to look.
fn weave_failed(sprint: &mut Sprint, weave: u32, reason: &str, may_pass: bool, now: Timestamp) {
    if sprint.state != SprintState::Integrating || weave != sprint.weaves {
        return;
    }
    if may_pass && sprint.weave_retries < WEAVE_RETRIES_MAX {
        sprint.weave_retries += 1;
        sprint.weaves += 1;
    } else {
        end(sprint, Some(reason), now);
    }
}

/// It is over: done if nothing of it is missing.
fn end(sprint: &mut Sprint, reason: Option<&str>, now: Timestamp) {
    let is_weaver_in = sprint.weaver().is_some_and(SprintMember::is_in);
    // What it joined is not in either.
    let leaves = |it: &SprintMember| it.is_to_be_taken_out() && !sprint.merged;
    let is_weaver_leaving = sprint.weaver().is_some_and(leaves);
    for member in &mut sprint.members {
        not_taken(member);
        let is_out = !member.is_in() || is_weaver_leaving;
        let is_left = member.state == MemberState::Delegated && is_out;
        if is_left || is_unresolved(member) {
            let reason = match is_left && is_weaver_in {
                true => "the weaver's change does not hold all lines of it".to_owned(),
                false => format!("it still conflicts after {ATTEMPTS_MAX} attempts"),
            };
            member.state = MemberState::Skipped { reason };
        }
    }
    let missing = sprint.members.iter().find_map(|it| {
        let why = it.missing()?;
        Some(format!("{}: {why}", it.persona))
    });
    sprint.state = match reason.map(str::to_owned).or(missing) {
        None => SprintState::Done { at: now },
        Some(reason) => SprintState::PartiallyDone {
            at: now,
            reason: storable(&reason, REASON_BYTES_MAX),
        },
    };
}
