//! Wakes in an inbox, and from one way to the next.

use super::*;

const HOLD: i64 = INBOX_HOLD.as_secs();

fn fetched() -> Wake {
    wake().by(&[Channel::Inbox])
}

fn leased(attempt: u32, until: i64) -> WakeState {
    let until = at(until);
    WakeState::Leased { attempt, until }
}

fn pending(attempt: u32, not_before: i64) -> WakeState {
    let not_before = at(not_before);
    WakeState::Pending {
        attempt,
        not_before,
    }
}

#[test]
fn what_is_fetched_is_never_sent_and_what_is_sent_is_never_fetched() {
    assert!(fetched().begin(at(0)).is_none());
    assert!(wake().taken(at(0)).is_none());
    assert!(wake().expired(at(HOLD * 2)).is_none());
}

#[test]
fn a_wake_is_taken_by_one_for_as_long_as_its_lease() {
    let wake = fetched();
    assert!(wake.taken(at(-1)).is_none());
    let taken = wake.taken(at(0)).unwrap();
    assert_eq!(taken.state, leased(1, 600));
    assert!(
        taken.taken(at(600)).is_none(),
        "it comes again on the schedule"
    );
    let again = taken.taken(at(606)).unwrap();
    assert_eq!(again.state, leased(2, 1_206));
    // A slow taker learns that it lost the wake, and takes nothing from the new holder.
    let lost = again.extended(1, at(607)).unwrap_err();
    assert_eq!(lost.code(), "lease_lost");
    assert!(lost.to_string().contains("held by another taker, at try 2"));
    let late = again.extended(2, at(1_206)).unwrap_err().to_string();
    assert!(late.contains("is over"), "{late}");
    let longer = again.extended(2, at(1_000)).unwrap();
    assert_eq!(longer.state, leased(2, 1_600));
    let over = again.acknowledged(at(700));
    assert_eq!(
        over.extended(2, at(701)).unwrap_err().code(),
        "acknowledged"
    );
    for lost in [
        over.given_back(2, "late", ReturnMode::Untried, at(701)),
        wake.extended(1, at(0)),
    ] {
        lost.unwrap_err();
    }
    // A person's request does not pass it to another one either.
    assert_eq!(again.revived(at(800)), again);
}

#[test]
fn what_is_given_back_comes_again_on_the_schedule_and_ends() {
    let (mut wake, mut now, mut waits) = (fetched(), at(0), Vec::new());
    while let Some(taken) = wake.taken(now) {
        let WakeState::Leased { attempt, .. } = taken.state else {
            panic!("{taken:?}")
        };
        wake = taken
            .given_back(attempt, "exit code 1", ReturnMode::AsPlanned, now)
            .unwrap();
        if let WakeState::Pending { not_before, .. } = wake.state {
            assert!(wake.taken(now).is_none());
            waits.push(not_before.duration_since(now));
            now = not_before;
        }
    }
    assert_eq!(waits.len(), SCHEDULE.len() - 1);
    for (wait, planned) in waits.iter().zip(&SCHEDULE[1..]) {
        assert!(wait >= planned, "{wait} {planned}");
    }
    let why = "exit code 1".to_owned();
    assert_eq!(wake.state, WakeState::Dead { at: now, why });
}

#[test]
fn what_is_given_back_comes_when_it_is_wanted() {
    let second = fetched().taken(at(0)).unwrap();
    let second = second.given_back(1, "exit code 1", ReturnMode::Untried, at(5));
    let second = second.unwrap();
    assert_eq!(second.state, pending(1, 5), "no try is counted");
    let taken = second.taken(at(10)).unwrap();
    let wait = |seconds| ReturnMode::After(SignedDuration::from_secs(seconds));
    let back = |back| taken.given_back(1, "busy", back, at(10)).unwrap().state;
    assert_eq!(back(wait(900)), pending(2, 910));
    assert_eq!(back(wait(0)), pending(2, 10));
    assert_eq!(back(wait(1_000_000)), pending(2, 10 + 24 * 3_600));
    // The last attempt is the last one, whatever is asked for.
    let mut last = taken;
    last.state = leased(10, 600);
    let dead = last.given_back(10, "busy", wait(5), at(10)).unwrap();
    assert!(dead.is_settled());
    let kept = last.given_back(10, "stopped", ReturnMode::Untried, at(10));
    assert_eq!(kept.unwrap().state, pending(10, 10));
}

#[test]
fn whose_turn_comes_is_held_from_then_on() {
    let wake = fetched();
    let turned = wake.moved_to_front(at(HOLD - 1)).unwrap();
    assert_eq!(turned.due(), Some(at(HOLD * 2 - 1)));
    assert!(turned.moved_to_front(at(HOLD - 1)).is_none());
    let taken = turned.taken(at(HOLD)).unwrap();
    assert!(taken.moved_to_front(at(HOLD + 1)).is_none());
    let back = taken
        .given_back(1, "x", ReturnMode::AsPlanned, at(HOLD))
        .unwrap();
    assert!(
        back.moved_to_front(at(HOLD + 1)).is_none(),
        "it comes at its time"
    );
}

#[test]
fn an_agent_that_loses_its_address_fetches_what_nobody_has() {
    let left = wake().left_in_inbox(at(9)).unwrap();
    assert!(left.is_in_inbox());
    let sending = wake().begin(at(0)).unwrap();
    assert!(sending.left_in_inbox(at(59)).is_none());
    assert!(sending.left_in_inbox(at(60)).unwrap().is_in_inbox());
    let over = sending.acknowledged(at(1));
    assert!(over.left_in_inbox(at(100)).is_none());
}

#[test]
fn a_wake_whose_agent_takes_none_rests_without_a_try() {
    let rests = wake().postponed(at(0)).unwrap();
    assert_eq!(rests.state, pending(1, 3_600));
    assert!(rests.postponed(at(3_599)).is_none());
}

#[test]
fn nobody_takes_it_for_days_and_a_person_sees_it() {
    let wake = fetched();
    assert_eq!(wake.due(), Some(at(HOLD)));
    assert!(wake.expired(at(HOLD - 1)).is_none());
    let dead = wake.expired(at(HOLD)).unwrap();
    let why = "nobody took it out of the inbox for 3 days".to_owned();
    assert_eq!(dead.state, WakeState::Dead { at: at(HOLD), why });
    assert!(dead.taken(at(HOLD)).is_none());
    assert_eq!(dead.revived(at(HOLD)).state, pending(1, HOLD));
}

#[test]
fn a_taker_that_dies_every_time_ends_too() {
    let (mut wake, mut now, mut taken) = (fetched(), at(0), 0);
    loop {
        if let Some(next) = wake.taken(now) {
            wake = next;
            taken += 1;
        }
        now = wake.due().unwrap();
        wake = wake.expired(now).unwrap();
        let WakeState::Pending { not_before, .. } = wake.state else {
            break;
        };
        now = not_before;
    }
    assert_eq!(taken, SCHEDULE.len());
    assert!(wake.is_settled());
}

#[test]
fn the_next_way_begins_where_the_one_before_ends() {
    let both = wake().by(&[Channel::Http, Channel::Inbox]);
    let sending = both.begin(at(0)).unwrap();
    let in_inbox = |wake: &Wake| wake.is_in_inbox() && wake.then.is_empty();
    // Gone, the last attempt, and a lease that lapsed.
    let gone = sending.tried(&DeliveryOutcome::Gone, at(1));
    assert!(in_inbox(&gone));
    assert_eq!(gone.state, pending(1, 1));
    let mut failing = both.clone();
    while let Some(next) = failing.begin(failing.due().unwrap()) {
        failing = next.tried(&failed(None), failing.due().unwrap());
    }
    assert!(in_inbox(&failing), "{failing:?}");
    let accepted = sending.tried(&DeliveryOutcome::Accepted, at(1));
    assert!(accepted.begin(at(600)).is_none());
    assert!(in_inbox(&accepted.begin(at(601)).unwrap()));
    // The other way round.
    let first_fetched = wake().by(&[Channel::Inbox, Channel::Http]);
    let sent = first_fetched.expired(at(HOLD)).unwrap();
    assert_eq!((sent.channel, sent.due()), (Channel::Http, Some(at(HOLD))));
    assert!(sent.begin(at(HOLD)).is_some());
}

#[test]
fn an_answer_ends_what_somebody_has_and_leaves_what_nobody_has_got() {
    let sending = wake().begin(at(0)).unwrap();
    let accepted = sending.tried(&DeliveryOutcome::Accepted, at(1));
    let over = accepted.answered(at(2)).unwrap();
    assert_eq!(over.state, WakeState::Acknowledged { at: at(2) });
    assert_eq!(over.answered(at(3)), None);
    // A wake that is being sent is over with its attempt, and is sent again if the end of that is unknown.
    let answered = sending.answered(at(2)).unwrap();
    assert_eq!(
        (&answered.state, answered.answered(at(3))),
        (&sending.state, None)
    );
    let failed = DeliveryOutcome::Failed {
        why: "503".to_owned(),
        retry_after: None,
    };
    for outcome in [
        DeliveryOutcome::Accepted,
        DeliveryOutcome::Acknowledged,
        failed.clone(),
    ] {
        assert!(answered.tried(&outcome, at(4)).is_settled());
    }
    let again = answered.begin(at(61)).unwrap();
    assert!(!again.answered && !again.tried(&failed, at(62)).is_settled());
    let dead = wake().given_up("nobody", at(1));
    for unheard in [wake(), fetched(), dead] {
        assert_eq!(unheard.answered(at(2)), None);
    }
    let taken = fetched().taken(at(0)).unwrap();
    let answered = taken.answered(at(1)).unwrap();
    assert_eq!(answered.state, taken.state);
    assert_eq!(answered.answered(at(1)), None);
    // The taker goes on with it, and it is over when the taker is done.
    assert!(answered.extended(1, at(2)).is_ok());
    assert!(answered.acknowledged(at(2)).is_settled());
    for back in [ReturnMode::AsPlanned, ReturnMode::Untried] {
        let back = answered.given_back(1, "no", back, at(2)).unwrap();
        assert!(back.is_settled());
    }
    assert!(answered.expired(at(600)).unwrap().is_settled());
    assert_eq!(answered.taken(at(700)), None);
}

#[test]
fn what_is_withdrawn_is_over_also_where_nobody_has_got_it() {
    let over = WakeState::Acknowledged { at: at(2) };
    for unheard in [wake(), fetched()] {
        assert_eq!(unheard.withdrawn(at(2)).unwrap().state, over);
    }
    let taken = fetched().taken(at(0)).unwrap();
    assert_eq!(taken.withdrawn(at(2)), taken.answered(at(2)));
    let dead = wake().given_up("nobody", at(1));
    assert_eq!(dead.withdrawn(at(2)), None);
}

/// What ends a wake.
type Ended = fn(&Wake, Timestamp) -> Option<Wake>;

#[test]
fn a_message_about_a_plan_ends_no_wake_that_its_agent_may_not_have() {
    let plan = Occurrence::PlanApproval { plan: None };
    let question = Occurrence::Question { text: None };
    // What a wake is about, what happens while its agent gets it, and whether it is over once that attempt has failed or was accepted.
    let cases: [(&Occurrence, Ended, bool); 4] = [
        (&plan, Wake::answered, false),
        (&plan, Wake::withdrawn, true),
        (&question, Wake::answered, true),
        (&question, Wake::withdrawn, true),
    ];
    for (what, ended, is_over) in cases {
        let mut about = wake();
        about.event.what = what.clone();
        let sending = about.begin(at(0)).unwrap();
        let held = sending.tried(&DeliveryOutcome::Accepted, at(1));
        assert!(ended(&held, at(2)).unwrap().is_settled(), "{what:?}");
        let after = ended(&sending, at(2)).unwrap_or(sending);
        for outcome in [failed(None), DeliveryOutcome::Accepted] {
            let tried = after.tried(&outcome, at(3));
            assert_eq!(tried.is_settled(), is_over, "{what:?} {outcome:?}");
        }
    }
}

#[test]
fn a_lease_that_lapsed_is_over_also_behind_another_wake() {
    let taken = fetched().taken(at(0)).unwrap();
    assert_eq!(taken.moved_to_front(at(599)), None);
    let free = taken.moved_to_front(at(600)).unwrap();
    assert!(matches!(free.state, WakeState::Pending { attempt: 2, .. }));
    assert_eq!(wake().begin(at(0)).unwrap().moved_to_front(at(9_999)), None);
}
