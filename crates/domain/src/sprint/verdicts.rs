//! What a weave says of each member, as the sprint keeps it.

use jiff::Timestamp;

use super::Sprint;
use super::figures::note_ticks;
use super::member::{MemberState, SprintMember, WeaveConflict};
use super::record_size::fit_refusals;
use super::report::{REASON_BYTES_MAX, Report, WeaveVerdict};
use crate::redact::storable;

/// Takes up a report: who is in, and in which place.
pub(super) fn take_up(sprint: &mut Sprint, report: &Report, now: Timestamp) {
    for member in &mut sprint.members {
        member.place = None;
        // It is in only if the report says so again.
        if matches!(member.state, MemberState::Applied { .. }) {
            member.state = MemberState::PullOpen;
        }
    }
    let mut place = 0;
    for (number, verdict) in &report.verdicts {
        let its_own = |it: &&mut SprintMember| it.may_be_judged() && it.number() == Some(*number);
        if let Some(member) = sprint.members.iter_mut().find(its_own) {
            judged(member, report.weave, verdict, &mut place, now);
        }
    }
    note_ticks(sprint, &report.held);
    fit_refusals(&mut sprint.members);
    sprint.woven = report.woven.clone().or(sprint.woven.take());
}

fn judged(
    member: &mut SprintMember,
    weave: u32,
    verdict: &WeaveVerdict,
    place: &mut u32,
    now: Timestamp,
) {
    member.place = None;
    member.first = false;
    if member.state == MemberState::Withdrawn {
        if let WeaveVerdict::In { .. } = verdict {
            member.place = Some(*place);
            *place += 1;
        }
        return;
    }
    match verdict {
        WeaveVerdict::In { way, .. } => {
            member.state = MemberState::Applied { way: *way };
            member.place = Some(*place);
            // What it was shown is kept: it comes in by its answer in later weaves too.
            *place += 1;
        }
        WeaveVerdict::Out {
            head,
            against,
            clashes,
            others,
        } => {
            member.conflicts = member.conflicts.saturating_add(1);
            member.refusal = Some(WeaveConflict {
                weave,
                head: head.clone(),
                against: against.clone(),
                clashes: clashes.clone(),
                others: *others,
            });
            member.state = MemberState::Conflicted;
        }
        // It is read again before the next weave.
        WeaveVerdict::Moved => {
            member.state = MemberState::Working;
            member.since = now;
        }
        WeaveVerdict::Nothing => member.state = MemberState::NoChange,
        WeaveVerdict::Skipped { reason } => {
            let reason = storable(reason, REASON_BYTES_MAX);
            member.state = MemberState::Skipped { reason };
        }
    }
}
