//! Steps that cannot go on while GitHub does not say what has to be known.

use super::*;
use crate::failure::{Failure, FailureClass};

/// What becomes of a step when calls fail like this, one after the other; none once it is no use to try again.
fn after(classes: &[FailureClass]) -> Option<Hindrance> {
    let mut hindrance = None;
    for class in classes {
        let failure = Failure::new(*class, "GitHub answered 503");
        hindrance = Some(Hindrance::of(&failure, hindrance.as_ref())?);
    }
    hindrance
}

#[test]
fn what_passes_is_waited_for_and_what_does_not_fails_at_once() {
    for class in [
        FailureClass::Unauthorized,
        FailureClass::Throttled,
        FailureClass::Unavailable,
        FailureClass::Network,
        // A commit that is new.
        FailureClass::NotFound,
    ] {
        let hindrance = after(&[class; 100]).unwrap();
        assert_eq!(hindrance.why, "GitHub answered 503");
        assert_eq!(hindrance.garbled, 0, "{class:?}");
    }
    for class in [
        FailureClass::Forbidden,
        FailureClass::Precondition,
        FailureClass::Conflict,
        FailureClass::Invalid,
    ] {
        assert_eq!(after(&[class]), None, "{class:?}");
    }
}

#[test]
fn an_answer_that_cannot_be_read_fails_a_step_only_when_it_comes_again_and_again() {
    let garbled = [FailureClass::Garbled; 5];
    assert_eq!(after(&garbled).map(|it| it.garbled), Some(5));
    let down = [FailureClass::Unavailable; 20];
    let between = [&down[..], &garbled[..2], &down[..], &garbled[2..]].concat();
    assert_eq!(after(&between).map(|it| it.garbled), Some(5));
    let more = [&between[..], &garbled[..1]].concat();
    assert_eq!(after(&more), None);
}

#[test]
fn a_step_that_is_hindered_is_tried_again_soon_and_says_nothing_of_it_once_it_is_over() {
    let hindrance = after(&[FailureClass::Network]);
    let begun = apply(&pipeline(Exchange::Auto, &[NARRATOR]), &run(&[1]), at(1));
    let waits = hindered(begun.clone(), 0, hindrance.clone());
    assert_eq!(waits.steps[0].hindrance, hindrance);
    assert_eq!(due(&waits, at(2)), Some(at(2 + 60)));
    let goes_on = hindered(waits.clone(), 0, None);
    assert_eq!(goes_on, begun);
    assert_eq!(due(&goes_on, at(2)), Some(at(2 + 600)));
    let over = apply(&waits, &seen(&[(1, MemberState::Merged)]), at(3));
    assert_eq!(over.word(), "done");
    assert_eq!(over.steps[0].hindrance, None);
    let off = cancel(&waits, "token zai", at(3)).unwrap();
    assert_eq!(off.steps[0].hindrance, None);
}

#[test]
fn an_agent_whose_job_could_not_be_made_in_time_says_what_was_in_the_way() {
    let begun = pipeline(Exchange::Auto, &[OBSERVERS]);
    let begun = apply(&begun, &run(&[1, 2]), at(1));
    let waits = hindered(begun, 0, after(&[FailureClass::Unavailable]));
    let at_work = MemberSight {
        state: MemberState::Working,
        red: Vec::new(),
    };
    let sights = vec![(job(1), None), (job(2), Some(at_work))];
    let late = at(1) + SignedDuration::from_mins(30);
    let over = apply(&waits, &Input::Seen(sights), late);
    let members = over.steps[0].members.iter();
    let reasons: Vec<_> = members.map(|it| it.state.reason().unwrap()).collect();
    assert_eq!(
        reasons,
        [
            "it was not through within 30 min (GitHub answered 503)",
            "it was not through within 30 min",
        ]
    );
    assert_eq!(over.steps[0].hindrance, None);
}
