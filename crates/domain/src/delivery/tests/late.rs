//! What comes late or from an earlier attempt: pull requests that were closed or merged before the issue was, plans that are
//! replaced, and reviews that are asked for once more.

use super::*;

fn issue_closed(second: i64) -> DeliveryInput {
    issue_read(second, IssueState::Closed(Some("ann".to_owned())))
}

fn read(glimpse: PullGlimpse, second: i64) -> DeliveryInput {
    DeliveryInput::Pull(Box::new(glimpse), at(second))
}

fn ended(end: PullEnd) -> PullGlimpse {
    PullGlimpse {
        end: Some(end),
        ..pull('a', Checks::Passed)
    }
}

fn closed() -> PullGlimpse {
    ended(PullEnd::Closed { by: None })
}

#[test]
fn an_issue_that_is_closed_after_its_pull_request_closes_the_delivery() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    assert_eq!(world.take(&read(closed(), 20)).unwrap(), "review/failed");
    let unnamed = "review/failed by person on GitHub";
    assert_eq!(world.history().last().unwrap(), unnamed);
    assert_eq!(world.take(&issue_closed(900)).unwrap(), "review/failed");
    // A pull request that is over is read no more.
    assert_eq!(world.take(&read(closed(), 20)).unwrap(), "close/succeeded");
    assert_eq!(world.delivery.closed, Some(Closed::IssueClosed));
}

/// A change that was rejected, whose next session waits for a slot.
fn rejected() -> World {
    let mut world = World::new(rules(&[Phase::Implement], "deploy", ReviewBy::Nobody));
    world.sees(planned("p1"), None);
    world.rests();
    world.reads(pull('a', Checks::Passed));
    assert_eq!(world.kim(reject("Another way")), "plan/running");
    assert_eq!(world.delivery.task.earlier_pull, Some(pull_ref()));
    world
}

#[test]
fn the_merge_of_the_attempt_before_is_waited_for_when_the_issue_is_closed() {
    let mut world = rejected();
    assert_eq!(world.take(&issue_closed(900)).unwrap(), "plan/running");
    let sight = Sight {
        earlier_pull_open: true,
        ..Sight::default()
    };
    let reads = wants(&world.delivery, &sight);
    assert!(
        reads.contains(&Want::ReadPull { pull: pull_ref() }),
        "{reads:?}"
    );
    assert_eq!(
        world.take(&read(pull('a', Checks::Passed), 20)).unwrap(),
        "plan/running"
    );
    let merged = ended(PullEnd::Merged {
        commit: Some(sha('f')),
        by: Some("ann".to_owned()),
    });
    // Nothing is deployed, so that was its end.
    assert_eq!(world.take(&read(merged, 901)).unwrap(), "close/succeeded");
    assert_eq!(world.delivery.closed, Some(Closed::Finished));
}

#[test]
fn a_closed_issue_closes_once_the_attempt_before_was_read_and_is_not_merged() {
    for (glimpse, read_at) in [(pull('a', Checks::Passed), 901), (closed(), 20)] {
        let mut world = rejected();
        assert_eq!(world.take(&issue_closed(900)).unwrap(), "plan/running");
        assert_eq!(
            world.take(&read(glimpse, read_at)).unwrap(),
            "close/succeeded"
        );
        assert_eq!(world.delivery.closed, Some(Closed::IssueClosed));
    }
}

fn plan_of((id, content): (&str, &str)) -> DeliveryPlan {
    DeliveryPlan {
        id: id.parse().unwrap(),
        content: content.to_owned(),
        generated_at: at(1),
        model: None,
        cwd: None,
        target_files: Vec::new(),
    }
}

/// The job at some work, with the newest plan that its session showed.
fn shows(world: &World, work: SessionWork, plan: (&str, &str)) -> DeliveryInput {
    let mut sight = job_sight(&world.delivery, work, None);
    sight.plan = Some(plan_of(plan));
    DeliveryInput::Job(Box::new(sight), None)
}

#[test]
fn another_plan_is_asked_about_anew() {
    let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Nobody));
    world.kim(Act::Start);
    let first = shows(&world, planned("p1"), ("p1", "1. All of it"));
    assert_eq!(world.take(&first).unwrap(), "plan/succeeded");
    let asked = open_events(&world.delivery);
    assert_eq!(world.take(&first).unwrap(), "plan/succeeded");
    assert_eq!(open_events(&world.delivery), asked);
    let second = shows(&world, planned("p2"), ("p2", "1. Half of it"));
    assert_eq!(world.take(&second).unwrap(), "plan/succeeded");
    assert_ne!(open_events(&world.delivery), asked, "nobody has seen it");
    // A page that shows the first one approves that one only.
    let approve = |id: &str| Act::Approve {
        head: None,
        plan: Some(id.parse().unwrap()),
    };
    assert_eq!(world.orders(kim(), approve("p1")), Err("plan_moved"));
    assert_eq!(world.kim(approve("p2")), "implement/running");
}

#[test]
fn a_rejected_plan_does_not_come_back() {
    let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Nobody));
    world.kim(Act::Start);
    let first = shows(&world, planned("p1"), ("p1", "1. All of it"));
    world.take(&first).unwrap();
    assert_eq!(world.kim(reject("Smaller, please")), "plan/running");
    // The session takes up the reason, and shows no other plan yet.
    let works = shows(&world, SessionWork::Working, ("p1", "1. All of it"));
    assert_eq!(world.take(&works).unwrap(), "plan/running");
    assert_eq!(world.delivery.plan, None);
    let other = shows(&world, planned("p2"), ("p2", "1. Half of it"));
    assert_eq!(world.take(&other).unwrap(), "plan/succeeded");
    let present = plan_of(("p2", "1. Half of it"));
    assert_eq!(world.delivery.plan, Some(present));
}

#[test]
fn a_review_that_is_tried_again_is_asked_for_anew_and_a_question_leaves_it_open() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    let asked = open_events(&world.delivery);
    assert_eq!(asked.len(), 1);
    assert_eq!(
        world.sees(SessionWork::Asking, Some(pull_ref())),
        "review/blocked"
    );
    assert_eq!(open_events(&world.delivery), asked);
    assert_eq!(world.rests(), "review/running");
    assert_eq!(world.kim(Act::Cancel), "review/failed");
    assert_eq!(open_events(&world.delivery), []);
    world.kim(RETRY);
    let again = world.reads(pull('a', Checks::Passed));
    assert_eq!(again, "review/running");
    let again = open_events(&world.delivery);
    assert_eq!(again.len(), 1);
    assert_ne!(again, asked, "its reviewer is woken once more");
}

#[test]
fn a_merged_change_can_be_ended_wherever_its_delivery_is() {
    let mut world = World::in_review(rules(&[], "deploy", ReviewBy::Agent));
    world.kim(Act::Cancel);
    assert_eq!(world.orders(kim(), Act::Cancel), Err("not_running"));
    world.delivery.seen.pull = Some(ended(PullEnd::Merged {
        commit: None,
        by: None,
    }));
    assert_eq!(world.kim(Act::Cancel), "close/succeeded");
    assert_eq!(world.delivery.closed, Some(Closed::MergedOnly));
}
