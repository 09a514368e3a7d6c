//! Files that cannot be read now.

use super::*;
use crate::failure::{Failure, FailureClass};

/// What a first failure of this class means at this second.
fn found(class: FailureClass, second: i64) -> Hindrance {
    let failure = Failure::new(class, "GitHub answered so");
    Hindrance::of(&failure, None, at(second)).unwrap()
}

/// Both members are ready, and the mail of the first could not be read.
fn ready_but_unread(sprint: &Sprint, hindrance: Hindrance) -> Sights {
    let works = [("curator", ready(101, 'a')), ("refactor", ready(102, 'b'))];
    let mut sights = sights_of(&works);
    sights.hold_back(&sprint.members[0].job, hindrance);
    sights
}

/// Whether files are not read, and since when the mail of each member is doubted.
fn doubts(sprint: &Sprint) -> (bool, Vec<Option<Timestamp>>) {
    let members = sprint.members.iter().map(|it| it.odd_since);
    (sprint.hindrance.is_some(), members.collect())
}

#[test]
fn a_member_whose_mail_cannot_be_read_is_waited_for_and_holds_up_no_other() {
    let sprint = begun(&["curator", "refactor"]);
    let sights = ready_but_unread(&sprint, found(FailureClass::Unavailable, 1));
    assert_eq!(soon(&sights, at(1)), Some(at(61)));
    let unread = SprintInput::Seen(sights);
    let waits = apply(&sprint, &unread, at(1));
    assert_eq!(
        words(&waits),
        "working 1: curator working, refactor pr_open"
    );
    let late = at(1) + MEMBER_TIMEOUT;
    let mut late = apply(&waits, &unread, late);
    assert_eq!(
        words(&late),
        "integrating 2: curator timed_out, refactor pr_open"
    );
    let shown = play(
        &mut late,
        &[
            woven(1, vec![(102, is_in('b'))]),
            unread,
            seen(&[("curator", ready(101, 'a'))]),
        ],
    );
    assert_eq!(
        shown[1..],
        [
            "verifying 2: curator timed_out, refactor applied",
            "integrating 3: curator pr_open, refactor applied"
        ]
    );
}

#[test]
fn what_keeps_files_from_being_read_is_kept_until_all_were_read_or_there_is_a_pause() {
    let sprint = begun(&["curator", "refactor"]);
    let odd = found(FailureClass::NotFound, 100);
    let unread = SprintInput::Seen(ready_but_unread(&sprint, odd));
    let waits = apply(&sprint, &unread, at(100));
    assert_eq!(doubts(&waits), (true, vec![Some(at(100)), None]));
    let without = (false, vec![None, None]);
    assert_eq!(doubts(&apply(&waits, &seen(&[]), at(160))), without);
    assert_eq!(
        doubts(&held(&waits, at(160))),
        without,
        "a pause is no time"
    );
}

#[test]
fn a_sprint_that_only_waits_for_files_is_not_looked_at_again_at_once() {
    let sprint = begun(&["curator", "refactor"]);
    let only_hindered = SprintInput::Seen(Sights {
        hindrance: Some(found(FailureClass::Garbled, 1)),
        doubts: vec![(sprint.members[0].job.clone(), at(1))],
        ..Sights::default()
    });
    let waits = apply(&sprint, &only_hindered, at(1));
    assert_ne!(waits, sprint);
    assert!(!waits.has_moved_since(&sprint));
    let moved = apply(&waits, &seen(&[("curator", ready(101, 'a'))]), at(2));
    assert!(moved.has_moved_since(&waits));
}

#[test]
fn an_odd_answer_about_the_mail_of_one_member_says_nothing_of_other_files() {
    let sprint = begun(&["curator", "refactor"]);
    let passing = found(FailureClass::Network, 1);
    for (both, since) in [
        (
            [100, 640].map(|second| found(FailureClass::NotFound, second)),
            [Some(at(100)), Some(at(640))],
        ),
        (
            [passing.clone(), found(FailureClass::Garbled, 640)],
            [None, Some(at(640))],
        ),
        (
            [found(FailureClass::Forbidden, 100), passing],
            [Some(at(100)), None],
        ),
    ] {
        let [first, second] = both;
        let mut sights = ready_but_unread(&sprint, first);
        sights.hold_back(&sprint.members[1].job, second);
        let waits = apply(&sprint, &SprintInput::Seen(sights), at(640));
        assert_eq!(doubts(&waits), (true, since.to_vec()));
        let of_all = waits.hindrance.unwrap();
        assert_eq!(of_all.odd_since, None, "files of all are not doubted");
    }
    let of_all = found(FailureClass::Garbled, 1);
    let mut sights = Sights {
        hindrance: Some(of_all.clone()),
        ..Sights::default()
    };
    sights.hold_back(&sprint.members[0].job, found(FailureClass::NotFound, 640));
    assert_eq!(sights.hindrance, Some(of_all), "their doubt goes on");
}

#[test]
fn what_keeps_mail_from_being_read_is_kept_in_a_sprint_that_is_over_as_well() {
    let sprint = begun(&["curator", "refactor"]);
    let over = abort(&sprint, "kim", at(1)).unwrap();
    let odd = found(FailureClass::Garbled, 2);
    let unread = SprintInput::Seen(ready_but_unread(&over, odd));
    let mut unsure = apply(&over, &unread, at(2));
    assert_eq!(doubts(&unsure), (true, vec![Some(at(2)), None]));
    unsure.members[0].odd_since = None;
    assert_eq!(unsure.members, over.members);
    assert_eq!(unsure.state, over.state);
}
