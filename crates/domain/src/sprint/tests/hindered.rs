//! Files that cannot be read now.

use super::*;
use crate::failure::FailureClass;

/// Both members are ready, and the mail of the first could not be read.
fn ready_but_unread(sprint: &Sprint, hindrance: ReadAgain) -> Sights {
    let Input::Seen(mut sights) =
        seen(&[("curator", ready(101, 'a')), ("refactor", ready(102, 'b'))])
    else {
        panic!("what is seen");
    };
    sights.hold_back(&sprint.members[0].job, hindrance);
    sights
}

#[test]
fn a_member_whose_mail_cannot_be_read_is_waited_for_and_holds_up_no_other() {
    let sprint = begun(&["curator", "refactor"]);
    let sights = ready_but_unread(&sprint, ReadAgain::Passing);
    assert_eq!(soon(&sights, at(1)), Some(at(61)));
    let unread = Input::Seen(sights);
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
fn an_odd_answer_is_believed_once_no_other_came_for_a_while() {
    let sprint = begun(&["curator", "refactor"]);
    let odd = Input::Seen(ready_but_unread(&sprint, ReadAgain::Odd));
    let passing = Input::Seen(ready_but_unread(&sprint, ReadAgain::Passing));
    for class in [FailureClass::NotFound, FailureClass::Garbled] {
        let first = at(100);
        assert_eq!(sprint.hindrance(class, first), Some(ReadAgain::Odd));
        let mut doubts = apply(&sprint, &odd, first);
        for (input, now) in [(&odd, at(160)), (&passing, at(220)), (&odd, at(280))] {
            doubts = apply(&doubts, input, now);
            assert_eq!(doubts.odd_since, Some(first));
        }
        assert_eq!(doubts.hindrance(class, at(699)), Some(ReadAgain::Odd));
        assert_eq!(doubts.hindrance(class, at(700)), None);
        let all_read = apply(&doubts, &seen(&[]), at(300));
        assert_eq!(all_read.odd_since, None);
        assert_eq!(held(&doubts, at(300)).odd_since, None, "a pause is no time");
    }
}

#[test]
fn what_passes_is_read_again_and_what_never_can_be_is_not() {
    let mut sprint = begun(&["curator"]);
    sprint.odd_since = Some(at(0));
    for (class, hindrance) in [
        (FailureClass::Unauthorized, Some(ReadAgain::Passing)),
        (FailureClass::Forbidden, Some(ReadAgain::Passing)),
        (FailureClass::Throttled, Some(ReadAgain::Passing)),
        (FailureClass::Unavailable, Some(ReadAgain::Passing)),
        (FailureClass::Network, Some(ReadAgain::Passing)),
        (FailureClass::Invalid, None),
        (FailureClass::Conflict, None),
        (FailureClass::Precondition, None),
    ] {
        assert_eq!(sprint.hindrance(class, at(9_999)), hindrance, "{class:?}");
    }
}

#[test]
fn odd_answers_are_doubted_in_a_sprint_that_is_over_as_well() {
    let sprint = begun(&["curator", "refactor"]);
    let over = abort(&sprint, "kim", at(1)).unwrap();
    let odd = Input::Seen(ready_but_unread(&over, ReadAgain::Odd));
    let doubts = apply(&over, &odd, at(2));
    assert_eq!(doubts.odd_since, Some(at(2)));
    assert_eq!(doubts.members, over.members);
    assert_eq!(doubts.state, over.state);
}
