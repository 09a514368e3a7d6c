//! Agents that no run waits for any more: of red pull requests, and of runs that were called off.

use super::super::sight::is_red;
use super::*;
use crate::event::ErrorCause;
use crate::facts::fixture::sha;
use crate::merge::{Judgement, Reason};
use crate::pull::{Alarm, Verdict, track};

fn stays_red(state: MemberState) -> Input {
    let is_red = true;
    Input::Seen(vec![(job(1), Some(MemberSight { state, is_red }))])
}

#[test]
fn a_pull_request_that_stays_red_is_waited_for_no_longer_than_the_settings_say() {
    let begun = apply(&pipeline(Exchange::Human, &[NARRATOR]), &run(&[1]), at(1));
    let open = apply(&begun, &seen(&[(1, MemberState::Merging)]), at(2));
    let late = at(1) + SignedDuration::from_mins(30);
    let early = apply(&open, &stays_red(MemberState::Merging), at(3));
    assert_eq!(early.word(), "waiting_merge");
    let over = apply(&early, &stays_red(MemberState::Merging), late);
    assert_eq!(
        words(&over),
        "narrator failed (it was not through within 30 min (its checks failed))"
    );
    assert_eq!(given_up(&early, &over), [], "people decide about it");
    let green = apply(&early, &seen(&[(1, MemberState::Merging)]), late);
    assert_eq!(green.word(), "waiting_merge");
}

#[test]
fn it_is_red_once_people_were_told_of_that_head() {
    let mut pull = track("acme/shop#7".parse().unwrap(), job(1), None, at(0));
    assert!(!is_red(&pull));
    let reasons = vec![Reason::ChecksFailed {
        names: vec!["jules/scope".to_owned()],
        others_pending: false,
    }];
    let refuse = |reasons| Judgement::Refuse { reasons };
    pull.verdict = Some(Verdict {
        at: at(1),
        sha: sha('a'),
        judgement: refuse(reasons),
        checks: Vec::new(),
    });
    assert!(!is_red(&pull), "its session may repair it");
    for (head, told) in [('b', false), ('a', true)] {
        pull.alarms = vec![Alarm {
            cause: ErrorCause::CiFailed,
            sha: sha(head),
        }];
        assert_eq!(is_red(&pull), told);
    }
    if let Some(verdict) = &mut pull.verdict {
        verdict.judgement = refuse(vec![Reason::NeedsApproval]);
    }
    assert!(!is_red(&pull), "it waits for a person");
}

#[test]
fn a_run_that_was_called_off_is_due_until_all_its_jobs_have_ended() {
    let begun = play(
        pipeline(Exchange::Auto, &[OBSERVERS, StepKind::Requirements]),
        &[run(&[1, 2])],
    );
    let off = cancel(&begun, "ann", at(3)).unwrap();
    assert_eq!(due(&off, at(3)), Some(at(63)));
    let sights = |second: Option<MemberState>| {
        let sight = |state| MemberSight {
            state,
            is_red: false,
        };
        vec![(job(1), Some(sight(failed()))), (job(2), second.map(sight))]
    };
    let half = ended(&off, &sights(Some(MemberState::Working)), at(4));
    assert_eq!(half.open_members().count(), 1);
    assert_eq!(due(&half, at(4)), Some(at(64)));
    let over = ended(&half, &sights(Some(failed())), at(5));
    assert_eq!((over.open_members().count(), due(&over, at(5))), (0, None));
    assert_eq!(words(&over), words(&off));
    // A job that was never made may still be made for a while.
    let unmade = ended(&off, &sights(None), at(4));
    assert_eq!(unmade.open_members().count(), 1);
    let given_up = ended(&off, &sights(None), at(3 + 600));
    assert_eq!(given_up.open_members().count(), 0);
    assert_eq!(ended(&begun, &sights(None), at(900)), begun);
}

#[test]
fn an_agent_that_is_refused_never_had_a_job() {
    let begun = apply(&pipeline(Exchange::Auto, &[NARRATOR]), &run(&[1]), at(1));
    assert_eq!(begun.steps[0].members[0].known_job(), Some(&job(1)));
    let refused = Input::Seen(vec![(job(1), Some(MemberSight::refused("no prompt")))]);
    let late = at(1) + SignedDuration::from_mins(30);
    for when in [at(2), late] {
        let over = apply(&begun, &refused, when);
        assert_eq!(words(&over), "narrator failed (no prompt)");
        assert_eq!(over.steps[0].members[0].known_job(), None);
        assert_eq!(given_up(&begun, &over), [], "there is nothing to cancel");
    }
}
