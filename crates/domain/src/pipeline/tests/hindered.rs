//! Steps that cannot go on while GitHub does not say what has to be known.

use super::*;
use crate::failure::{Failure, FailureClass};

/// What a first failure of this class means.
fn found(class: FailureClass) -> Option<Hindrance> {
    let failure = Failure::new(class, "GitHub answered 503");
    Hindrance::of(&failure, None, at(2))
}

#[test]
fn a_step_that_is_hindered_is_tried_again_soon_and_says_nothing_of_it_once_it_is_over() {
    let hindrance = found(FailureClass::Network);
    let begun = apply(&pipeline(Exchange::Auto, &[NARRATOR]), &run(&[1]), at(1));
    let waits = hindered(begun.clone(), 0, hindrance.clone());
    assert_eq!(waits.steps[0].hindrance, hindrance);
    assert_eq!(due(&waits, at(2)), Some(at(2 + 60)));
    let goes_on = hindered(waits.clone(), 0, None);
    assert_eq!(goes_on, begun);
    assert_eq!(due(&goes_on, at(2)), Some(at(2 + 600)));
    let paused = held(&waits, 0, at(3));
    assert_eq!(paused.steps[0].hindrance, None, "a pause is no time");
    let over = apply(&waits, &seen(&[(1, AgentState::Merged)]), at(3));
    assert_eq!(over.word(), "done");
    assert_eq!(over.steps[0].hindrance, None);
    let off = cancel(&waits, "token zai", at(3)).unwrap();
    assert_eq!(off.steps[0].hindrance, None);
}

#[test]
fn an_agent_whose_job_could_not_be_made_in_time_says_what_was_in_the_way() {
    let begun = pipeline(Exchange::Auto, &[OBSERVERS]);
    let begun = apply(&begun, &run(&[1, 2]), at(1));
    let waits = hindered(begun, 0, found(FailureClass::Unavailable));
    let at_work = MemberSight {
        state: AgentState::Working,
        red: Vec::new(),
    };
    let sights = vec![(job(1), None), (job(2), Some(at_work))];
    let late = at(1) + SignedDuration::from_mins(30);
    let over = apply(&waits, &PipelineInput::Seen(sights), late);
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
