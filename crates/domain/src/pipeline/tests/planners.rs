//! Requirements that are thought through first, and deliveries that leave their pull request to people.

use super::*;
use crate::delivery::tests::{World, rules, verdict};
use crate::delivery::{Actor, Closed, ReviewBy, Verdict};
use crate::facts::PullState;
use crate::facts::fixture::sha;
use crate::pull::PullPhase;

#[test]
fn a_requirement_whose_planner_expanded_it_is_ready_without_a_later_run() {
    let planning = requirement(RequirementState::Ready).planned_by(&job(1), at(1));
    assert_eq!(planning.due(at(1)), Some(at(1 + 600)));
    let ready = planning.planner_ended("it is merged", Some(found(false)), at(2));
    assert_eq!(ready.state, RequirementState::Ready);
    assert_eq!((ready.due(at(2)), ready.planners), (None, 1));
    assert_eq!(ready.planner_ended("it is merged", None, at(3)), ready);
}

#[test]
fn a_planner_that_fails_leaves_its_requirement_to_a_later_run() {
    let planning = requirement(RequirementState::Ready).planned_by(&job(1), at(1));
    let failed = planning.planner_ended("its session disappeared", Some(found(true)), at(2));
    assert_eq!(failed.state.word(), "unplanned");
    assert_eq!(failed.state.reason(), Some("its session disappeared"));
    assert!(!failed.is_over() && failed.may_be_planned());
    assert_eq!(failed.start(false, at(3)).unwrap_err().code, "not_ready");
    assert_eq!(failed.seen(found(true), at(3)), failed);
    let ready = failed.seen(found(false), at(3));
    assert_eq!(ready.state, RequirementState::Ready);
    let again = failed.planned_by(&job(2), at(3));
    assert_eq!(again.state.job(), Some(&job(2)));
    let gone = planning.planner_ended("its session disappeared", None, at(2));
    assert_eq!(gone.state.word(), "failed");
    assert_eq!(gone.start(false, at(3)).unwrap_err().code, "gone");
}

#[test]
fn a_requirement_that_no_planner_expands_gets_three_and_is_left_to_people() {
    let mut known = requirement(RequirementState::Ready);
    for number in 1..=3 {
        assert!(known.may_be_planned());
        let planning = known.planned_by(&job(number), at(1));
        assert_eq!(planning.planned_by(&job(number), at(2)), planning);
        known = planning.planner_ended("it left it as it was", Some(found(true)), at(2));
    }
    assert_eq!(known.planners, 3);
    assert_eq!(
        known.state.reason(),
        Some("none of its 3 planners expanded it")
    );
    assert!(!known.may_be_planned());
    assert!(known.start(false, at(3)).is_ok(), "people may want it so");
    assert_eq!(taken(&known), ["start", "plan", "remove"]);
    let again = known.planned_by(&job(4), at(3));
    assert_eq!((again.state.job(), again.planners), (Some(&job(4)), 4));
    let in_vain = again.planner_ended("it left it as it was", Some(found(true)), at(4));
    assert_eq!(
        in_vain.state.reason(),
        Some("none of its 4 planners expanded it")
    );
    for (needs_planning, word) in [(true, "failed"), (false, "ready")] {
        let file = || found(needs_planning);
        for after in [
            again.planner_ended("it is merged", Some(file()), at(5)),
            in_vain.seen(file(), at(5)),
            known.seen(file(), at(5)),
        ] {
            assert_eq!(after.state.word(), word);
        }
    }
    let not_merged = RequirementOutcome::NotMerged {
        reason: "it was closed".to_owned(),
    };
    let begun = known.start(false, at(3)).unwrap();
    let failed = begun.delivered(&not_merged, at(4));
    assert_eq!(failed.planned_by(&job(4), at(5)), failed);
    assert_eq!(failed.seen(found(false), at(5)).state.word(), "failed");
}

#[test]
fn a_delivery_that_ends_before_the_merge_leaves_its_pull_request_to_people() {
    let mut world = World::in_review(rules(&[], "review", ReviewBy::Agent));
    let zai = Actor::agent("zai");
    let settled = |state| PullPhase::Settled {
        state,
        sha: sha('a'),
        at: at(9),
        by: None,
    };
    let word = |world: &World, pull: Option<&PullPhase>| match RequirementOutcome::of(
        &world.delivery,
        pull,
    ) {
        RequirementOutcome::Open => "open",
        RequirementOutcome::Merged => "merged",
        RequirementOutcome::NotMerged { .. } => "not merged",
        RequirementOutcome::NoFile => "no file",
    };
    assert_eq!(word(&world, None), "open");
    world.orders(zai, verdict(Verdict::Pass, 'a')).unwrap();
    assert!(world.delivery.is_terminal());
    assert_eq!(word(&world, Some(&PullPhase::Open)), "open");
    let closed = settled(PullState::Closed);
    assert_eq!(word(&world, Some(&closed)), "not merged");
    assert_eq!(word(&world, None), "not merged");
    let merged = settled(PullState::Merged { commit: None });
    assert_eq!(word(&world, Some(&merged)), "merged");
    world.delivery.closed = Some(Closed::Abandoned);
    assert_eq!(word(&world, Some(&PullPhase::Open)), "not merged");
}
