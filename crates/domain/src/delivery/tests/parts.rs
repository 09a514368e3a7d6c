//! Deliveries that were split, and what of theirs is cancelled.

use super::endings::fault;
use super::*;

#[test]
fn parts_close_their_parent() {
    let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Agent));
    let children = vec![part("Part 1"), part("Part 2")];
    assert_eq!(world.kim(Act::Split { children }), "plan/running");
    assert_eq!(world.delivery.task.job, None);
    // Its parts have runs, it has none.
    assert!(world.delivery.runs.iter().all(|run| run.ended_at.is_some()));
    assert_eq!(world.waits(None), (WaitParty::Gaffer, WaitReason::Parts));
    let ids = world.parts();
    world.child(&ids[0], ChildState::Failed);
    assert_eq!(reasons(&world.delivery, None)[1].code, "part_failed");
    assert_eq!(world.waits(None), (WaitParty::Person, WaitReason::Parts));
    world.child(&ids[0], ChildState::Closed);
    assert_eq!(world.child(&ids[0], ChildState::Open), "plan/running");
    assert_eq!(world.child(&ids[1], ChildState::Closed), "close/succeeded");
    assert_eq!(world.delivery.closed, Some(Closed::PartsClosed));
}

#[test]
fn one_part_is_told_as_one() {
    for (count, told) in [
        (1, "1 part, which is open."),
        (2, "2 parts, 2 of them open."),
    ] {
        let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Agent));
        let children = vec![part("A piece of it"); count];
        world.kim(Act::Split { children });
        let said = world.why().sentence;
        assert!(said.ends_with(told), "{said}");
    }
}

/// A delivery that was split into two parts, with their ids.
fn split_in_two() -> (World, Vec<DeliveryId>) {
    let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Agent));
    let children = vec![part("Half of it"); 2];
    world.kim(Act::Split { children });
    let ids = world.parts();
    (world, ids)
}

#[test]
fn a_requirement_is_implemented_whole() {
    let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Agent));
    assert!(legal(&world.delivery, &kim(), &world.rules).contains(&CommandKind::Split));
    world.delivery.requirement = Some(crate::pipeline::RequirementRef {
        id: "abc123".parse().unwrap(),
        path: ".jules/exchange/requirements/cart-test.yml".to_owned(),
        events: Vec::new(),
    });
    let children = vec![part("Half of it")];
    let split = Act::Split { children };
    assert_eq!(world.orders(kim(), split), Err("requirement_whole"));
    assert!(!legal(&world.delivery, &kim(), &world.rules).contains(&CommandKind::Split));
}

#[test]
fn a_part_that_was_given_up_holds_its_parent_up_no_longer() {
    let (mut world, ids) = split_in_two();
    assert_eq!(world.child(&ids[0], ChildState::Abandoned), "plan/running");
    assert_eq!(world.child(&ids[1], ChildState::Closed), "close/succeeded");

    let (mut world, ids) = split_in_two();
    for id in &ids {
        world.child(id, ChildState::Abandoned);
    }
    assert_eq!(fault(&world), Fault::PartsAbandoned);
    assert_eq!(world.kim(RETRY), "plan/running");
    let anew = world.parts();
    assert!(anew.iter().all(|id| !ids.contains(id)), "{anew:?}");
}

#[test]
fn a_cancelled_split_that_is_tried_again_makes_the_called_off_parts_anew() {
    let (mut world, ids) = split_in_two();
    world.child(&ids[0], ChildState::Closed);
    assert_eq!(world.kim(Act::Cancel), "plan/failed");
    assert_eq!(world.child(&ids[1], ChildState::Cancelled), "plan/failed");
    // It has no session that a reason could be sent to.
    let reason = Some("Smaller, please.".to_owned());
    let refused = world.orders(kim(), Act::Retry { reason });
    assert_eq!(refused, Err("no_reason_taken"));
    assert!(!retry_takes_reason(&world.delivery, &kim(), &world.rules));
    assert_eq!(world.kim(RETRY), "plan/running");
    let anew = world.parts();
    assert_eq!(anew[0], ids[0], "what is done stays done");
    assert_ne!(anew[1], ids[1]);
    let wanted = wants(&world.delivery, &Sight::default());
    let creates = |id: &DeliveryId| {
        let is_it = |want: &Want| matches!(want, Want::CreateChild { child } if child.id == *id);
        wanted.iter().any(is_it)
    };
    assert!(creates(&anew[1]), "{wanted:?}");
    assert_eq!(world.child(&anew[1], ChildState::Closed), "close/succeeded");
}

#[test]
fn a_part_that_is_merged_is_not_made_anew_after_its_parent_was_cancelled() {
    let mut part = World::deploying("workflow:deploy.yml@main");
    part.take(&DeliveryInput::Cancelled(kim())).unwrap();
    assert_eq!(part.delivery.closed, Some(Closed::MergedOnly));
    assert_eq!(ChildState::of(&part.delivery), ChildState::Closed);
    let mut open = World::in_review(rules(&[], "deploy", ReviewBy::Nobody));
    open.take(&DeliveryInput::Cancelled(kim())).unwrap();
    assert_eq!(open.delivery.closed, Some(Closed::Cancelled));
}

#[test]
fn a_cancelled_split_that_is_tried_again_leaves_a_part_alone_that_was_given_up() {
    let (mut world, ids) = split_in_two();
    world.child(&ids[0], ChildState::Abandoned);
    assert_eq!(world.kim(Act::Cancel), "plan/failed");
    world.child(&ids[1], ChildState::Cancelled);
    assert_eq!(world.kim(RETRY), "plan/running");
    let anew = &world.delivery.children;
    assert_eq!(
        (&anew[0].id, anew[0].state),
        (&ids[0], ChildState::Abandoned)
    );
    assert_ne!(anew[1].id, ids[1]);
    assert_eq!(anew[1].state, ChildState::Open);
    let last = anew[1].id.clone();
    assert_eq!(world.child(&last, ChildState::Closed), "close/succeeded");
}

#[test]
fn a_split_delivery_waits_for_whoever_its_parts_wait_for() {
    let (world, _) = split_in_two();
    let part = |who, second| WaitsFor::new(who, WaitReason::Checkpoint, at(second));
    let parts = [
        part(WaitParty::Nobody, 1),
        part(WaitParty::Jules, 2),
        part(WaitParty::Person, 4),
        part(WaitParty::Person, 3),
    ];
    let told = waits(&world.delivery, waits_of_parts(&parts), None);
    let wanted = WaitsFor::new(WaitParty::Person, WaitReason::Parts, at(3));
    assert_eq!(told, wanted);
    assert_eq!(waits_of_parts(&parts[..1]), None);
}

#[test]
fn a_cancelled_review_goes_on_with_the_same_session() {
    for phase in [Phase::Review, Phase::Verify] {
        let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
        world.delivery.phase = phase;
        let task = world.delivery.task.clone();
        assert_eq!(world.kim(Act::Cancel), format!("{phase}/failed"));
        let seen = world.delivery.seen.job.clone();
        let sight = Sight {
            job: seen,
            ..Sight::default()
        };
        let wanted = wants(&world.delivery, &sight);
        let calls_off = |want: &Want| matches!(want, Want::CancelJob { .. });
        assert!(!wanted.iter().any(calls_off), "{wanted:?}");
        world.kim(RETRY);
        assert!(world.delivery.phase >= Phase::Review);
        assert_eq!(
            (world.delivery.attempt, &world.delivery.task.job),
            (1, &task.job)
        );
    }
}

/// A merge closes the issue that the prompts of all parts name.
#[test]
fn a_closed_issue_calls_the_parts_off_only_if_none_of_them_is_merged() {
    let closed = issue_read(100, IssueState::Closed(Some("eve".to_owned())));
    let parts = |is_any_merged, second| {
        DeliveryInput::Parts(PartsSight {
            is_any_merged,
            read_at: Some(at(second)),
        })
    };
    let (mut merging, ids) = split_in_two();
    assert_eq!(merging.take(&closed).unwrap(), "plan/running");
    let sight = Sight {
        children_open: ids.clone(),
        ..Sight::default()
    };
    let wanted = wants(&merging.delivery, &sight);
    for id in ids {
        assert!(wanted.contains(&Want::ReadPart { id }), "{wanted:?}");
    }
    assert_eq!(merging.take(&parts(true, 99)).unwrap(), "plan/running");
    assert_eq!(merging.delivery.trouble, None);

    let (mut ended, _) = split_in_two();
    ended.take(&closed).unwrap();
    assert_eq!(ended.take(&parts(false, 99)).unwrap(), "plan/running");
    assert_eq!(ended.take(&parts(false, 100)).unwrap(), "close/succeeded");
    assert_eq!(ended.delivery.closed, Some(Closed::IssueClosed));
}
