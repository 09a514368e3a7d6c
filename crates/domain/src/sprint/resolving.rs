//! What a sprint does about conflicts, also those that messages do not resolve, and about failing checks of what is woven.

use jiff::Timestamp;

use super::member::{MemberState, SprintMember};
use super::seen::withdraw;
use super::sight::{Landing, Sights};
use super::{LEFTOVERS_MAX, Sprint, SprintState, TICKS_MAX};
use crate::ids::{JobId, PersonaName};

/// Has members with a conflict mend it while there is time for another weave; returns whether any does.
pub(super) fn mend(sprint: &mut Sprint, now: Timestamp) -> bool {
    let has_time = has_time(sprint);
    let conflicted = |it: &&mut SprintMember| it.state == MemberState::Conflicted;
    let mut mends = false;
    for member in sprint.members.iter_mut().filter(conflicted) {
        match has_time {
            true => {
                member.send_back(now);
                mends |= member.is_awaited();
            }
            false => {
                member.state = MemberState::Skipped {
                    reason: format!("it still conflicts after {TICKS_MAX} ticks"),
                };
            }
        }
    }
    sprint.state = SprintState::Fixing;
    if mends {
        sprint.ticks += 1;
    }
    mends
}

/// The checks of what is woven fail: who fails its own checks is the cause, and is left out.
pub(super) fn leave_out_red(sprint: &mut Sprint, sights: &Sights) {
    let is_red = |job: &JobId| {
        let mut of_job = sights.members.iter().filter(|(it, _)| it == job);
        of_job.any(|(_, sight)| sight.is_red)
    };
    for member in &mut sprint.members {
        let is_in = matches!(member.state, MemberState::Applied { .. });
        if is_in && is_red(&member.job) {
            member.state = MemberState::Skipped {
                reason: "its own checks fail by now".to_owned(),
            };
        }
    }
}

/// Whether the weaver's job is to resolve something: what is left of conflicts, or checks that fail although each member's
/// pass. A sprint has one such job; what it cannot resolve is left to people.
pub(super) fn needs_weaver(sprint: &Sprint, landing: Option<Landing>) -> bool {
    let is_red = landing == Some(Landing::Red) && sprint.is_newest_woven();
    let has_task = is_red || sprint.members.iter().any(is_unresolved);
    has_task && sprint.weaver().is_none() && has_time(sprint)
}

pub(super) fn is_unresolved(member: &SprintMember) -> bool {
    member.state == MemberState::Unresolved
}

/// Resolving and the weave after it are a tick each.
fn has_time(sprint: &Sprint) -> bool {
    sprint.ticks.saturating_add(2) <= TICKS_MAX
}

/// Asks for the weaver's job. It is given as many conflicts as its prompt has room for, and the others are left out.
pub(super) fn call_weaver(sprint: &mut Sprint, now: Timestamp) {
    let unresolved = sprint.members.iter_mut().filter(|it| is_unresolved(it));
    for (at, member) in unresolved.enumerate() {
        member.in_since = None;
        member.state = match at < LEFTOVERS_MAX {
            true => MemberState::Delegated,
            false => MemberState::Skipped {
                reason: format!("the weaver's job resolves {LEFTOVERS_MAX} conflicts at most"),
            },
        };
    }
    let weaver = PersonaName::weaver();
    let job = sprint.number.job(&sprint.repo, Some(&weaver), now);
    sprint.members.push(SprintMember::new(weaver, job, now));
    sprint.ticks += 1;
    sprint.state = SprintState::Fixing;
}

/// A member takes its change back. One that the weaver was given may be part of what the weaver makes, of which no part can be taken out:
/// all of that goes with it, unless a weave has shown that it does not hold the change.
pub(super) fn take_back(sprint: &mut Sprint, persona: &PersonaName) {
    let is_shown = sprint.weaver().is_some_and(SprintMember::is_in)
        && sprint.state != SprintState::Integrating;
    let is_joined = |it: &SprintMember| it.persona == *persona && (it.is_in() || !is_shown);
    let with_weaver = sprint.delegated().any(is_joined);
    for member in &mut sprint.members {
        if member.persona == *persona || with_weaver && member.persona.is_weaver() {
            withdraw(member);
        }
    }
}
