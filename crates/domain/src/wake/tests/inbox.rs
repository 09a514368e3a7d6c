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
    assert!(wake().lapsed(at(HOLD * 2)).is_none());
}

#[test]
fn a_wake_is_taken_by_one_for_as_long_as_its_lease() {
    let wake = fetched();
    assert!(wake.taken(at(-1)).is_none());
    let taken = wake.taken(at(0)).unwrap();
    assert_eq!(taken.state, leased(1, 600));
    assert!(taken.taken(at(599)).is_none());
    let again = taken.taken(at(600)).unwrap();
    assert_eq!(again.state, leased(2, 1_200));
    // Whoever was slow learns that it is not theirs any more, and takes nothing from who has it.
    let lost = again.extended(1, at(601)).unwrap_err().to_string();
    assert!(lost.contains("held by another taker, at try 2"), "{lost}");
    let late = again.extended(2, at(1_200)).unwrap_err().to_string();
    assert!(late.contains("is over"), "{late}");
    assert_eq!(
        again.extended(2, at(1_000)).unwrap().state,
        leased(2, 1_600)
    );
    let over = again.acknowledged(at(700));
    for lost in [
        over.extended(2, at(701)),
        over.given_back(2, ("late", None), at(701)),
        wake.extended(1, at(0)),
    ] {
        lost.unwrap_err();
    }
}

#[test]
fn what_is_given_back_comes_again_on_the_schedule_and_ends() {
    let (mut wake, mut now, mut waits) = (fetched(), at(0), Vec::new());
    while let Some(taken) = wake.taken(now) {
        let WakeState::Leased { attempt, .. } = taken.state else {
            panic!("{taken:?}")
        };
        wake = taken
            .given_back(attempt, ("exit code 1", None), now)
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
fn a_wait_that_is_asked_for_is_kept() {
    let taken = fetched().taken(at(0)).unwrap();
    let after = Some(SignedDuration::from_secs(900));
    let back = taken.given_back(1, ("busy", after), at(10)).unwrap();
    assert_eq!(back.state, pending(2, 910));
}

#[test]
fn nobody_takes_it_for_days_and_a_person_sees_it() {
    let wake = fetched();
    assert_eq!(wake.due(), Some(at(HOLD)));
    assert!(wake.lapsed(at(HOLD - 1)).is_none());
    let dead = wake.lapsed(at(HOLD)).unwrap();
    let why = "nobody took it out of the inbox for 3 days".to_owned();
    assert_eq!(dead.state, WakeState::Dead { at: at(HOLD), why });
    assert!(dead.taken(at(HOLD)).is_none());
    assert_eq!(dead.revived(at(HOLD)).state, pending(1, HOLD));
}

#[test]
fn a_taker_that_dies_every_time_ends_too() {
    let (mut wake, mut now, mut taken) = (fetched(), at(0), 0);
    while !wake.is_settled() {
        if let Some(next) = wake.taken(now) {
            wake = next;
            taken += 1;
        }
        now = wake.due().unwrap();
        wake = wake.lapsed(now).unwrap();
    }
    assert_eq!(taken, SCHEDULE.len());
}

#[test]
fn the_next_way_begins_where_the_one_before_ends() {
    let both = wake().by(&[Channel::Http, Channel::Inbox]);
    let sending = both.begin(at(0)).unwrap();
    let in_inbox = |wake: &Wake| wake.is_in_inbox() && wake.then.is_empty();
    // Gone, the last try, and a lease that lapsed.
    let gone = sending.tried(&TryOutcome::Gone, at(1));
    assert!(in_inbox(&gone));
    assert_eq!(gone.state, pending(1, 1));
    let mut failing = both.clone();
    while let Some(next) = failing.begin(failing.due().unwrap()) {
        failing = next.tried(&failed(None), failing.due().unwrap());
    }
    assert!(in_inbox(&failing), "{failing:?}");
    let accepted = sending.tried(&TryOutcome::Accepted, at(1));
    assert!(accepted.begin(at(600)).is_none());
    assert!(in_inbox(&accepted.begin(at(601)).unwrap()));
    // The other way round.
    let first_fetched = wake().by(&[Channel::Inbox, Channel::Http]);
    let sent = first_fetched.lapsed(at(HOLD)).unwrap();
    assert_eq!((sent.channel, sent.due()), (Channel::Http, Some(at(HOLD))));
    assert!(sent.begin(at(HOLD)).is_some());
}

#[test]
fn records_of_the_first_version_go_by_http() {
    let mut old = serde_json::to_value(wake()).unwrap();
    let fields = old.as_object_mut().unwrap();
    assert!(!fields.contains_key("channel") && !fields.contains_key("then"));
    let read: Wake = serde_json::from_value(old).unwrap();
    assert_eq!(read, wake());
}
