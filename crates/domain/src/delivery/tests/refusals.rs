//! What a delivery needs and does not get.

use super::endings::fault;
use super::*;
use crate::ids::AgentName;
use crate::job::RefusedApproval;

/// It was asked for some minutes later, and refused for a reason.
fn asked_for(world: &mut World, minutes: i64, why: Option<&str>) -> String {
    world.second += minutes * 60;
    let input = DeliveryInput::AskedFor(why.map(str::to_owned));
    world.take(&input).unwrap()
}

fn times(world: &World) -> Option<u32> {
    world.delivery.refused.as_ref().map(|it| it.times)
}

#[test]
fn what_is_refused_again_and_again_is_told_and_fails_its_phase() {
    let mut world = World::new(rules(&[], "verify", ReviewBy::Agent));
    let job = world.delivery.task.job.clone();
    let why = Some("acme/shop has no branch `main`");
    assert_eq!(asked_for(&mut world, 0, why), "plan/running");
    let said = world.why();
    assert_eq!(said.code, "refused");
    assert!(said.sentence.contains("no branch"), "{}", said.sentence);
    // Looks that come in a row are one.
    asked_for(&mut world, 1, why);
    assert_eq!(times(&world), Some(1));
    for count in 2..REFUSALS_MAX {
        assert_eq!(asked_for(&mut world, 10, why), "plan/running");
        assert_eq!(times(&world), Some(count));
    }
    assert_eq!(asked_for(&mut world, 10, why), "plan/failed");
    assert_eq!(fault(&world), Fault::NotBegun);
    let error = world.delivery.error.clone().unwrap();
    assert!(error.text.contains("no branch"), "{}", error.text);
    let told = wants(&world.delivery, &Sight::default());
    let tells = |want: &Want| matches!(want, Want::TellFailed { .. });
    assert!(told.iter().any(tells), "{told:?}");
    // Whether the job was made is not known, so another one is asked for, without a message before its time.
    assert_eq!(world.kim(RETRY), "plan/running");
    let task = &world.delivery.task;
    assert_ne!(task.job, job);
    assert_eq!((task.attempt, &task.message), (1, &None));
    assert_eq!(times(&world), None);
}

#[test]
fn what_is_granted_after_all_is_as_if_it_had_never_been_refused() {
    let mut world = World::new(rules(&[], "verify", ReviewBy::Agent));
    asked_for(&mut world, 0, Some("busy"));
    asked_for(&mut world, 10, None);
    assert_eq!(world.delivery.refused, None);
    asked_for(&mut world, 10, Some("busy"));
    assert_eq!(times(&world), Some(1));
    // So it is when the delivery goes on.
    world.sees(planned("p1"), None);
    assert_eq!(world.delivery.phase, Phase::Implement);
    assert_eq!(times(&world), None);
}

#[test]
fn a_review_that_cannot_begin_leaves_the_change_alone() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Jules));
    for _ in 0..REFUSALS_MAX {
        asked_for(&mut world, 10, Some("busy"));
    }
    assert_eq!(fault(&world), Fault::ReviewFailed);
    assert_eq!(world.kim(RETRY), "review/running");
    assert_eq!(world.delivery.attempt, 1);
}

#[test]
fn an_issue_that_could_not_be_closed_is_asked_for_again_and_told_of() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Nobody));
    assert_eq!(world.reads(merged(None)), "close/succeeded");
    let now = at(world.second);
    let left = with_issue_left(&world.delivery, Some("GitHub refused it"), now);
    assert!(left.due.is_some());
    let codes = |delivery: &Delivery| {
        let said = reasons(delivery, None).into_iter();
        said.map(|it| it.code).collect::<Vec<_>>()
    };
    assert_eq!(codes(&left.aggregate), ["closed", "issue_left_open"]);
    let sight = Sight {
        issue_open: true,
        ..Sight::default()
    };
    let issue = issue();
    let wanted = wants(&left.aggregate, &sight);
    assert!(wanted.contains(&Want::CloseIssue { issue }), "{wanted:?}");
    let done = with_issue_left(&left.aggregate, None, now);
    assert_eq!(codes(&done.aggregate), ["closed"]);
    let again = with_issue_left(&done.aggregate, None, now);
    assert_eq!(again.aggregate, done.aggregate);
}

#[test]
fn a_job_that_waits_for_its_slot_waits_by_the_priority_that_was_edited() {
    let mut world = World::new(rules(&[], "verify", ReviewBy::Agent));
    let job = world.delivery.task.job.clone().unwrap();
    let usual = world.delivery.priority;
    let priority: Priority = 9.try_into().unwrap();
    world.kim(Act::Edit(Edit {
        priority: Some(priority),
        ..Edit::default()
    }));
    let wanted = |waits_by| {
        let sight = Sight {
            waits_by,
            ..Sight::default()
        };
        let want = Want::PrioritiseJob {
            job: job.clone(),
            priority,
        };
        wants(&world.delivery, &sight).contains(&want)
    };
    assert!(wanted(Some(usual)));
    // It does already, or it has its session.
    assert!(!wanted(Some(priority)) && !wanted(None));
}

/// The message of a round to its resting session is given up; the one of another arrived, if any did.
fn message_refused(world: &mut World, round: u32, told: Option<u32>) -> String {
    let (work, pull) = (SessionWork::Resting(None), world.delivery.task.pull.clone());
    let mut sight = job_sight(&world.delivery, work, pull);
    sight.glimpse.message_sent = told;
    sight.glimpse.message_refused = Some(round);
    world.shows(sight)
}

#[test]
fn a_session_that_takes_no_message_fails_its_phase_and_calls_a_person() {
    let mut rejected = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Agent));
    rejected.kim(Act::Start);
    rejected.sees(planned("p1"), None);
    rejected.kim(reject("Test the cart."));
    let mut reviewed = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    let zai: AgentName = "zai".parse().unwrap();
    let not_pass = verdict(Verdict::NotPass, 'a');
    reviewed.zai(not_pass);
    for (mut world, phase) in [(rejected, "plan"), (reviewed, "implement")] {
        let round = world.delivery.task.round;
        // It was a message before this one, or this one arrived after all.
        for (refused, told) in [(round - 1, Some(round - 1)), (round, Some(round))] {
            let place = message_refused(&mut world.clone(), refused, told);
            assert_eq!(place, format!("{phase}/running"), "{refused} {told:?}");
        }
        // One before it arrived late.
        let place = message_refused(&mut world, round, Some(round - 1));
        assert_eq!(place, format!("{phase}/failed"));
        assert_eq!(fault(&world), Fault::MessageRefused);
        let told = waits(&world.delivery, None, Some(&zai));
        let person = (WaitParty::Person, WaitReason::Failure);
        assert_eq!((told.who, told.what), person);
        let said = reasons(&world.delivery, Some(&zai)).remove(0);
        assert_eq!(said.code, "message_refused");
        assert!(said.sentence.contains("10 attempts"), "{}", said.sentence);
        let tells = |want: &Want| {
            matches!(
                want,
                Want::TellFailed {
                    audience: Audience::Human,
                    ..
                }
            )
        };
        let told = wants(&world.delivery, &Sight::default());
        assert!(told.iter().any(tells), "{told:?}");
        // Another session is told the same, as it begins.
        let place = world.kim(RETRY);
        assert_eq!(place, format!("{phase}/running"));
        let delivery = &world.delivery;
        assert_eq!((delivery.attempt, &delivery.task.message), (2, &None));
        assert_eq!(delivery.feedback.as_deref(), Some("Test the cart."));
    }
}

/// Jules refuses the approval of the plan, which is tried again at a second, or was given up.
fn approval_refused(world: &mut World, again_at: Option<i64>) -> String {
    let mut sight = job_sight(&world.delivery, SessionWork::Working, None);
    sight.glimpse.approval_refused = Some(RefusedApproval {
        plan: "p1".parse().unwrap(),
        why: "not now".to_owned(),
        at: at(world.second),
        again_at: again_at.map(at),
    });
    world.shows(sight)
}

#[test]
fn a_refused_approval_is_told_while_it_is_tried_again_and_then_fails_its_phase() {
    let mut world = World::new(rules(&[Phase::Plan], "verify", ReviewBy::Agent));
    let zai: AgentName = "zai".parse().unwrap();
    let waited = |world: &World| {
        let told = waits(&world.delivery, None, Some(&zai));
        (told.who, told.what)
    };
    world.kim(Act::Start);
    world.sees(planned("p1"), None);
    assert_eq!(world.kim(Act::APPROVE), "implement/running");
    assert_eq!(approval_refused(&mut world, Some(500)), "implement/running");
    let refused = (WaitParty::Jules, WaitReason::ApprovalRefused);
    assert_eq!(waited(&world), refused);
    let said = reasons(&world.delivery, Some(&zai)).remove(0);
    assert_eq!(said.code, "approval_refused");
    let again = format!("tried again at {}: not now", at(500));
    assert!(said.sentence.contains(&again), "{}", said.sentence);
    // It was taken after all.
    world.sees(SessionWork::Working, None);
    assert_eq!(waited(&world), (WaitParty::Jules, WaitReason::Work));
    assert_eq!(approval_refused(&mut world, None), "implement/failed");
    assert_eq!(fault(&world), Fault::ApprovalRefused);
    let person = (WaitParty::Person, WaitReason::Failure);
    assert_eq!(waited(&world), person);
    let said = reasons(&world.delivery, Some(&zai)).remove(0);
    assert!(said.sentence.contains("10 attempts"), "{}", said.sentence);
    let place = world.kim(RETRY);
    assert_eq!(place, "implement/running");
    assert_eq!(world.delivery.attempt, 2);
}
