//! Which steps that failed are told.

use super::*;
use crate::event::Occurrence;

fn failing(number: u32, reason: &str) -> (Pipeline, Pipeline) {
    let mut before = pipeline(Exchange::Human, &[StepKind::Bootstrap, NARRATOR]);
    before.id = format!("01j000000000000000000000{number:02}")
        .parse()
        .unwrap();
    let after = apply(
        &before,
        &PipelineInput::Planned(StepPlan::Fail(reason.to_owned())),
        at(1),
    );
    (before, after)
}

#[test]
fn a_step_that_failed_is_told_with_its_reason() {
    let (before, after) = failing(1, "no such branch");
    let step = failed_step(&before, &after).unwrap();
    assert_eq!(failed_step(&before, &before), None);
    assert_eq!(failed_step(&after, &after), None);
    let told = announcement(&after, step, &"default".parse().unwrap(), at(1));
    let Occurrence::Error { reason, .. } = &told.what else {
        panic!("{told:?}");
    };
    assert_eq!(
        reason,
        "The step bootstrap of pipeline 01j00000000000000000000001 of acme/shop failed: no such branch"
    );
    assert_eq!(told.what.kind(), "pipeline");
    let skipped = apply(
        &before,
        &PipelineInput::Planned(StepPlan::Skip("it is up to date".to_owned())),
        at(1),
    );
    assert_eq!(failed_step(&before, &skipped), None);
}

#[test]
fn the_steps_that_failed_are_those_that_were_not_skipped() {
    let (_, after) = failing(1, "no such branch");
    let failed: Vec<usize> = after.failed_steps().map(|(place, _)| place).collect();
    assert_eq!(failed, [0], "the others are skipped");
}

#[test]
fn what_is_in_the_way_of_each_run_is_told_once() {
    let told = |reason: &str, newest: &[Pipeline]| {
        let (before, after) = failing(3, reason);
        let step = failed_step(&before, &after).unwrap();
        !is_known(&after, step, newest)
    };
    let (_, other) = failing(2, "job 01j2: GitHub refuses to write");
    let reason = "job 01j3: GitHub refuses to write";
    assert!(told(reason, &[]));
    assert!(!told(reason, std::slice::from_ref(&other)));
    assert!(told("no such branch", std::slice::from_ref(&other)));
    // Its own run is in the list, too.
    let (_, own) = failing(3, reason);
    assert!(told(reason, std::slice::from_ref(&own)));
    assert!(!told(reason, &[own, other.clone()]));
    // What came between without that step says nothing, and with it everything.
    let without = pipeline(Exchange::Human, &[NARRATOR]);
    assert!(!told(reason, &[without, other.clone()]));
    let well = play(
        pipeline(Exchange::Human, &[StepKind::Bootstrap]),
        &[run(&[1]), seen(&[(1, AgentState::Merged)])],
    );
    assert!(told(reason, &[well, other]));
}
