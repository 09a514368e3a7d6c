//! Agents that no run waits for any more: of red pull requests, and of runs that were called off.

use super::super::sight::{red, unrepaired};
use super::*;
use crate::event::ErrorCause;
use crate::facts::fixture::sha;
use crate::merge::{Judgement, Reason};
use crate::pull::{Alarm, OwnCheck, OwnChecks, OwnOutcome, PullVerdict, track};

fn stays_red(state: AgentState) -> PipelineInput {
    let red = vec!["jules/scope".to_owned()];
    PipelineInput::Seen(vec![(job(1), Some(MemberSight { state, red }))])
}

#[test]
fn an_agent_whose_checks_are_not_repaired_is_waited_for_no_more() {
    let late = at(1) + SignedDuration::from_mins(30);
    for (exchange, when) in [
        (Exchange::Auto, at(2)),
        (Exchange::Human, at(2)),
        (Exchange::Auto, late),
    ] {
        let begun = apply(&pipeline(exchange, &[NARRATOR]), &run(&[1]), at(1));
        let open = apply(&begun, &stays_red(AgentState::Merging), when);
        assert_eq!(open.word(), "waiting_merge", "it is read again at once");
        assert_eq!(given_up(&begun, &open), []);
        let over = apply(&open, &stays_red(AgentState::Merging), when);
        assert_eq!(
            words(&over),
            "narrator failed (its checks failed and were not repaired: jules/scope)"
        );
        assert_eq!(given_up(&open, &over), [], "people decide about it");
        let repaired = seen(&[(1, AgentState::Merged)]);
        assert_eq!(apply(&over, &repaired, late), over);
        assert_eq!(words(&apply(&open, &repaired, at(3))), "narrator done");
    }
}

#[test]
fn a_red_one_that_is_being_repaired_has_the_time_of_its_step() {
    let mut begun = apply(&pipeline(Exchange::Auto, &[NARRATOR]), &run(&[1]), at(1));
    begun.wait_minutes = 2;
    let late = late_at(&begun, at(1));
    assert_eq!(late, at(121));
    let merging = seen(&[(1, AgentState::Merging)]);
    let open = apply(&begun, &merging, at(100));
    assert_eq!(due(&open, at(100)), Some(late));
    let over = apply(&open, &merging, late);
    assert_eq!(
        words(&over),
        "narrator failed (it was not through within 2 min)"
    );
}

#[test]
fn the_others_of_a_step_are_waited_for_when_one_is_not_repaired() {
    let begun = apply(
        &pipeline(Exchange::Auto, &[OBSERVERS]),
        &run(&[1, 2]),
        at(1),
    );
    let both = [(1, AgentState::Merging), (2, AgentState::Working)];
    let open = apply(&begun, &seen(&both), at(2));
    let without = apply(&open, &stays_red(AgentState::Merging), at(3));
    assert_eq!(words(&without), "observers running");
    let over = apply(&without, &seen(&[(2, AgentState::Merged)]), at(4));
    assert_eq!(words(&over), "observers done");
    let stopped = over.steps[0].members[0].state.reason().unwrap();
    assert!(stopped.ends_with("jules/scope"), "{stopped}");
}

#[test]
fn a_pull_request_of_gaffers_own_that_stays_red_has_the_time_of_its_step() {
    let begun = pipeline(Exchange::Human, &[StepKind::Bootstrap]);
    let begun = apply(&begun, &run(&[1]), at(1));
    let open = apply(&begun, &seen(&[(1, AgentState::Merging)]), at(2));
    let late = at(1) + SignedDuration::from_mins(30);
    let early = apply(&open, &stays_red(AgentState::Merging), at(3));
    assert_eq!(early.word(), "waiting_merge");
    let over = apply(&early, &stays_red(AgentState::Merging), late);
    assert_eq!(
        words(&over),
        "bootstrap failed (it was not through within 30 min (its checks failed))"
    );
    assert_eq!(given_up(&early, &over), [job(1)]);
    let green = apply(&early, &seen(&[(1, AgentState::Merging)]), late);
    assert_eq!(green.word(), "waiting_merge");
}

#[test]
fn checks_are_not_repaired_once_its_session_and_people_were_told_of_that_head() {
    let mut pull = track("acme/shop#7".parse().unwrap(), job(1), None, at(0));
    assert_eq!(unrepaired(&pull), [""; 0]);
    let names = vec!["jules/scope".to_owned()];
    let reasons = vec![Reason::ChecksFailed {
        names: names.clone(),
        others_pending: false,
    }];
    let refuse = |reasons| Judgement::Refuse { reasons };
    pull.verdict = Some(PullVerdict {
        at: at(1),
        sha: sha('a'),
        judgement: refuse(reasons),
        checks: Vec::new(),
    });
    for (told, head, cause, is_it) in [
        (vec![sha('a')], None, ErrorCause::CiFailed, false),
        (vec![sha('a')], Some('b'), ErrorCause::CiFailed, false),
        (vec![sha('b')], Some('a'), ErrorCause::MergeBlocked, false),
        (vec![sha('a')], Some('a'), ErrorCause::WrongBase, false),
        (vec![sha('a')], Some('a'), ErrorCause::CiFailed, true),
        (vec![sha('a')], Some('a'), ErrorCause::MergeBlocked, true),
    ] {
        pull.repairs.ci_sent = told;
        let alarm = head.map(|head| Alarm {
            cause: cause.clone(),
            sha: sha(head),
        });
        pull.alarms = alarm.into_iter().collect();
        assert_eq!(unrepaired(&pull) == names, is_it, "{head:?} {cause:?}");
    }
    if let Some(verdict) = &mut pull.verdict {
        verdict.judgement = refuse(vec![Reason::NeedsApproval]);
    }
    assert_eq!(unrepaired(&pull), [""; 0], "it waits for a person");
}

#[test]
fn an_agent_of_a_red_check_of_our_own_says_what_that_found() {
    let mut pull = track("acme/shop#7".parse().unwrap(), job(1), None, at(0));
    let names = ["build", "jules/scope"].map(str::to_owned);
    let reasons = vec![Reason::ChecksFailed {
        names: names.into(),
        others_pending: false,
    }];
    pull.verdict = Some(PullVerdict {
        at: at(1),
        sha: sha('a'),
        judgement: Judgement::Refuse { reasons },
        checks: Vec::new(),
    });
    pull.repairs.ci_sent = vec![sha('a')];
    pull.alarms = vec![Alarm {
        cause: ErrorCause::CiFailed,
        sha: sha('a'),
    }];
    pull.own_checks = Some(Box::new(OwnChecks {
        head: sha('a'),
        base: sha('b'),
        rules: String::new(),
        results: vec![OwnCheck {
            name: "jules/scope".to_owned(),
            outcome: OwnOutcome::Failed,
            output: "`src/lib.rs`: not yours".to_owned(),
        }],
    }));
    assert_eq!(
        red(&pull),
        ["build", "jules/scope: `src/lib.rs`: not yours"]
    );
}

#[test]
fn a_run_that_was_called_off_is_due_until_all_its_jobs_have_ended() {
    let begun = play(
        pipeline(Exchange::Auto, &[OBSERVERS, StepKind::Requirements]),
        &[run(&[1, 2])],
    );
    let off = cancel(&begun, "ann", at(3)).unwrap();
    assert_eq!(due(&off, at(3)), Some(at(63)));
    let sights = |second: Option<AgentState>| {
        let sight = |state| MemberSight {
            state,
            red: Vec::new(),
        };
        vec![(job(1), Some(sight(failed()))), (job(2), second.map(sight))]
    };
    let half = ended(&off, &sights(Some(AgentState::Working)), at(4));
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
    let refused = PipelineInput::Seen(vec![(job(1), Some(MemberSight::refused("no prompt")))]);
    let late = at(1) + SignedDuration::from_mins(30);
    for when in [at(2), late] {
        let over = apply(&begun, &refused, when);
        assert_eq!(words(&over), "narrator failed (no prompt)");
        assert_eq!(over.steps[0].members[0].known_job(), None);
        assert_eq!(given_up(&begun, &over), [], "there is nothing to cancel");
    }
}
