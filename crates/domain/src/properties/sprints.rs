//! `sprint::apply` over random histories of one sprint.

use super::*;
use crate::sprint::{
    ATTEMPTS_MAX, MAILS_MAX, MemberState, Sprint, SprintInput, SprintMember, SprintState,
    TICKS_MAX, WEAVE_RETRIES_MAX, abort, apply, due, held, integrate_now, start,
};

mod happenings;
mod simulation;
mod size;

use happenings::{Advance, SprintHappening, begun, happening, input, step};

/// What happened, as it was given to the sprint.
enum Done {
    Applied(Box<SprintInput>),
    Ordered,
}

/// The sprint after something happened to it now.
fn after(sprint: &Sprint, happening: &SprintHappening, now: Timestamp) -> (Sprint, Done) {
    let ordered = match happening {
        SprintHappening::IntegrateNow => integrate_now(sprint, now),
        SprintHappening::Abort => abort(sprint, "kim", now),
        SprintHappening::Held => Ok(held(sprint, now)),
        SprintHappening::Seen(..)
        | SprintHappening::AllReady(_)
        | SprintHappening::Woven { .. }
        | SprintHappening::WeaveFailed { .. }
        | SprintHappening::Told(..)
        | SprintHappening::Shown(..)
        | SprintHappening::Read(_)
        | SprintHappening::Collected(..)
        | SprintHappening::CollectedPatch(..)
        | SprintHappening::Asked(..)
        | SprintHappening::Mail(..)
        | SprintHappening::MailNotTaken(_)
        | SprintHappening::WantsFirst(_)
        | SprintHappening::Withdrawn(_) => {
            let input = input(sprint, happening);
            let next = apply(sprint, &input, now);
            return (next, Done::Applied(Box::new(input)));
        }
    };
    match ordered {
        Ok(next) => (next, Done::Ordered),
        Err(_) => (sprint.clone(), Done::Ordered),
    }
}

/// The counters that limit loops do, and none of them goes back.
fn check_bounds(before: &Sprint, after: &Sprint) {
    let added = after.members.iter().skip(before.members.len());
    assert!(added.clone().count() <= 1 && added.clone().all(|it| it.persona.is_weaver()));
    let weavers = after.members.iter().filter(|it| it.persona.is_weaver());
    assert!(weavers.count() <= 1);
    assert!(after.ticks <= TICKS_MAX && after.weaves < TICKS_MAX + after.weave_retries);
    assert!(after.weave_retries <= WEAVE_RETRIES_MAX);
    assert!(after.ticks >= before.ticks && after.ticks <= before.ticks + 1);
    assert!(after.weaves >= before.weaves);
    for (old, new) in before.members.iter().zip(&after.members) {
        assert_eq!(old.persona, new.persona);
        let is_same_job = old.job == new.job && old.earlier == new.earlier;
        let is_anew = new.earlier.split_last() == Some((&old.job, old.earlier.as_slice()));
        assert!(is_same_job || is_anew, "{old:?} {new:?}");
        assert!(new.attempts <= ATTEMPTS_MAX && new.conflicts <= after.weaves);
        assert!(new.attempts >= old.attempts && new.conflicts >= old.conflicts);
        assert!(new.mails >= old.mails && new.mails <= MAILS_MAX);
    }
}

/// What is over stays as it is, but for what its members were shown, what was collected of them, and what keeps files
/// from being read.
fn check_end(before: &Sprint, after: &Sprint, done: &Done) {
    if before.is_over() {
        let mut same = after.clone();
        for (old, new) in before.members.iter().zip(&mut same.members) {
            let (is_read, is_collected) = match done {
                Done::Applied(input) => match input.as_ref() {
                    SprintInput::Read { persona } => (*persona == old.persona, false),
                    SprintInput::Collected { persona, .. } => (false, *persona == old.persona),
                    SprintInput::Seen(_)
                    | SprintInput::Woven(_)
                    | SprintInput::WeaveFailed { .. }
                    | SprintInput::Told { .. }
                    | SprintInput::Shown { .. }
                    | SprintInput::Asked { .. }
                    | SprintInput::MailNotTaken { .. }
                    | SprintInput::WantsFirst { .. }
                    | SprintInput::Withdrawn { .. } => (false, false),
                },
                Done::Ordered => (false, false),
            };
            if is_read {
                assert!(new.shown.is_empty());
                new.shown.clone_from(&old.shown);
            }
            if is_collected {
                new.collected.clone_from(&old.collected);
                new.unreadable = old.unreadable;
                new.unopened = old.unopened;
            }
        }
        if let Done::Applied(input) = done
            && matches!(input.as_ref(), SprintInput::Seen(_))
        {
            same.hindrance.clone_from(&before.hindrance);
            for (old, new) in before.members.iter().zip(&mut same.members) {
                new.odd_since = old.odd_since;
            }
        }
        same.updated_at = before.updated_at;
        assert_eq!(&same, before);
    }
}

/// What is done holds all that was made, and no end counts what is left to the weaver as in unless that holds it.
fn check_outcome(after: &Sprint) {
    let mut members = after.members.iter();
    match after.state {
        SprintState::Done { .. } => assert!(members.all(|it| it.missing().is_none()), "{after:?}"),
        SprintState::PartiallyDone { .. } => {
            let is_left = |it: &SprintMember| it.state == MemberState::Delegated && !it.is_in();
            assert!(!members.any(is_left), "{after:?}");
        }
        SprintState::Working
        | SprintState::Integrating
        | SprintState::Fixing
        | SprintState::Verifying
        | SprintState::Aborted { .. } => {}
    }
}

fn is_final(member: &SprintMember) -> bool {
    matches!(
        member.state,
        MemberState::Withdrawn | MemberState::Skipped { .. } | MemberState::Failed { .. }
    )
}

/// What is left out comes back only if its pull request was closed, and is ready again, or if it had none.
fn may_come_back(old: &SprintMember, new: &SprintMember) -> bool {
    let is_skipped = matches!(old.state, MemberState::Skipped { .. });
    let had_none = old.closed || old.offer.is_none();
    is_skipped && had_none && new.state == MemberState::PullOpen && !new.closed
}

fn check_members(before: &Sprint, after: &Sprint) {
    for (old, new) in before.members.iter().zip(&after.members) {
        let is_same = old.state == new.state;
        assert!(!is_final(old) || is_same || may_come_back(old, new));
        let is_in = matches!(new.state, MemberState::Applied { .. });
        assert!(!is_in || new.place.is_some(), "{new:?}");
        assert!(!new.is_offered() || new.offer.is_some());
        let is_mending = matches!(new.state, MemberState::Conflicted | MemberState::Rerunning);
        assert!(!is_mending || new.refusal.is_some(), "{new:?}");
    }
    let places = after.members.iter().filter_map(|it| it.place);
    let mut places: Vec<_> = places.collect();
    let count = places.len();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), count, "two members share a place");
}

/// It always goes on by itself: a member is awaited, or a weave, or the merge, or it is over.
fn check_progress(after: &Sprint, now: Timestamp) {
    let is_awaited = after.members.iter().any(SprintMember::is_awaited);
    let goes_on = match after.state {
        SprintState::Working | SprintState::Fixing => is_awaited,
        SprintState::Integrating => !is_awaited,
        SprintState::Verifying => after.woven.is_some(),
        SprintState::Done { .. }
        | SprintState::PartiallyDone { .. }
        | SprintState::Aborted { .. } => true,
    };
    assert!(goes_on, "{after:?}");
    let due = due(after, now);
    assert_eq!(due.is_some(), !after.is_over());
    assert!(due.is_none_or(|due| due > now || now == Timestamp::MAX));
}

/// Only what the newest weave pushed is merged, and it holds no change of a member that took it back or that conflicts.
fn check_merge(after: &Sprint) {
    let Some(woven) = &after.woven else {
        return;
    };
    if after.is_to_be_merged(&woven.commit) {
        assert_eq!(after.state, SprintState::Verifying);
        assert_eq!(woven.weave, after.weaves);
        for member in &after.members {
            assert!(!is_final(member) || member.place.is_none(), "{member:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn sprints_in_every_world(
        count in 1usize..6,
        story in proptest::collection::vec((happening(), step()), 1..60),
    ) {
        let mut now = at(0);
        let mut sprint = begun(count, now);
        for (happening, step) in story {
            now = match step {
                Advance::Onwards(seconds) => crate::when::plus(now, SignedDuration::from_secs(seconds)),
                Advance::Jump(to) => to,
            };
            let (next, done) = after(&sprint, &happening, now);
            if let Done::Applied(input) = &done {
                let again = apply(&next, input, now);
                prop_assert_eq!(&again, &next, "what comes twice changes nothing");
            }
            check_bounds(&sprint, &next);
            check_end(&sprint, &next, &done);
            check_members(&sprint, &next);
            check_progress(&next, now);
            check_merge(&next);
            check_outcome(&next);
            sprint = next;
        }
        let text = serde_json::to_string(&sprint).unwrap();
        prop_assert_eq!(serde_json::from_str::<Sprint>(&text).unwrap(), sprint);
    }
}
