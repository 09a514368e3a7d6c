//! Deliveries from an issue to their close.

use expect_test::expect;

use super::*;
use crate::merge::Gate;

fn ordinary() -> Rules {
    rules(&[Phase::Plan], "verify", ReviewBy::Nobody)
}

#[test]
fn an_issue_with_one_checkpoint_is_delivered() {
    let mut world = World::new(ordinary());
    assert_eq!(place(&world.delivery), "plan/pending");
    assert_eq!(world.delivery.task.job, None);
    assert_eq!(world.kim(Act::Start), "plan/running");
    assert_eq!(world.sees(SessionWork::Waiting, None), "plan/running");
    assert_eq!(world.sees(planned("p1"), None), "plan/succeeded");
    assert_eq!(world.kim(Act::APPROVE), "implement/running");
    assert_eq!(world.sees(SessionWork::Working, None), "implement/running");
    assert_eq!(world.rests(), "implement/running");
    assert_eq!(world.reads(pull('a', Checks::Unknown)), "verify/pending");
    assert_eq!(gate(&world.delivery, &sha('a')), None);
    assert_eq!(world.reads(pull('a', Checks::Running)), "verify/running");
    assert_eq!(world.reads(merged(None)), "close/succeeded");
    expect![[r#"
        intake/succeeded by system
        plan/pending by system
        plan/running by person kim
        plan/succeeded by system
        implement/running by person kim
        implement/succeeded by system
        review/running by system
        review/succeeded pass by system
        verify/pending by system
        verify/running by system
        verify/succeeded by system
        close/succeeded by system"#]]
    .assert_eq(&world.history().join("\n"));
    let labels: Vec<&str> = world
        .delivery
        .refs
        .iter()
        .map(|it| it.label.as_str())
        .collect();
    assert_eq!(labels, ["#12", "#31"]);
    let performers: Vec<Performer> = world
        .delivery
        .runs
        .iter()
        .map(|run| run.performer)
        .collect();
    assert_eq!(
        performers,
        [
            Performer::Jules,
            Performer::Jules,
            Performer::Nobody,
            Performer::System
        ]
    );
    assert!(
        world
            .delivery
            .runs
            .iter()
            .all(|run| run.status == RunResult::Success)
    );
}

/// X3: without a checkpoint nothing waits for a person.
#[test]
fn without_checkpoints_a_delivery_begins_by_itself() {
    let world = World::new(rules(&[], "verify", ReviewBy::Agent));
    assert_eq!(place(&world.delivery), "plan/running");
    assert!(world.delivery.task.job.is_some());
    let open = World::new(rules(&[Phase::Review], "verify", ReviewBy::Agent));
    assert_eq!(place(&open.delivery), "plan/running");
}

/// X2: an issue that is seen twice is one delivery.
#[test]
fn the_same_trigger_has_the_same_id() {
    let world = World::new(ordinary());
    let mut again = new_delivery();
    again.summary = "Edited since".to_owned();
    assert_eq!(again.id, world.delivery.id);
    assert!(is_same_trigger(&world.delivery, &again));
    again.issue = Some("acme/shop#13".parse().unwrap());
    assert!(!is_same_trigger(&world.delivery, &again));
}

/// X4: what runs is not rejected.
#[test]
fn nothing_is_rejected_while_it_runs() {
    let mut world = World::new(ordinary());
    world.kim(Act::Start);
    assert_eq!(world.orders(kim(), reject("No")), Err("nothing_to_reject"));
    world.sees(SessionWork::Asking, None);
    assert_eq!(place(&world.delivery), "plan/blocked");
    assert_eq!(world.orders(kim(), reject("No")), Err("nothing_to_reject"));
}

/// X5: a verdict is stored, and `not_pass` goes back by itself, a few times.
#[test]
fn a_change_that_does_not_pass_goes_back_a_few_times() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    let session = world.delivery.task.job.clone();
    for (round, head) in ['a', 'b', 'c'].into_iter().enumerate() {
        let next = char::from_u32(u32::from(head) + 1).unwrap();
        let answer = world.orders(zai(), verdict(Verdict::NotPass, head));
        assert_eq!(answer, Ok("implement/running".to_owned()));
        assert_eq!(world.delivery.review_round as usize, round + 1);
        assert_eq!(world.delivery.feedback.as_deref(), Some("Test the cart."));
        // The session has not taken the message up yet.
        let before = SessionWork::Resting(Some(at(world.second - 1)));
        assert_eq!(world.sees(before, Some(pull_ref())), "implement/running");
        world.sees(SessionWork::Working, Some(pull_ref()));
        world.rests();
        assert_eq!(world.reads(pull(head, Checks::Passed)), "implement/running");
        assert_eq!(world.reads(pull(next, Checks::Passed)), "review/running");
    }
    let answer = world.orders(zai(), verdict(Verdict::NotPass, 'd'));
    assert_eq!(answer, Ok("review/failed".to_owned()));
    assert_eq!(
        world.delivery.error.as_ref().unwrap().code,
        Fault::RoundsUsedUp
    );
    assert_eq!(world.delivery.verdict, None);
    // It was one session, and so one task, all along.
    assert_eq!(
        (world.delivery.attempt, &world.delivery.task.job),
        (1, &session)
    );
    assert_eq!(world.kim(RETRY), "review/running");
    let answer = world.orders(zai(), verdict(Verdict::Pass, 'd'));
    assert_eq!(answer, Ok("verify/pending".to_owned()));
}

/// X6: without checks nothing is verified.
#[test]
fn verify_waits_for_checks_and_for_the_merge() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    world.zai(verdict(Verdict::Pass, 'a'));
    for checks in [Checks::Unknown, Checks::Awaited, Checks::Missing] {
        assert_eq!(world.reads(pull('a', checks)), "verify/pending");
    }
    assert_eq!(world.reads(pull('a', Checks::Running)), "verify/running");
    assert_eq!(world.reads(pull('a', Checks::Passed)), "verify/running");
    assert_eq!(world.reads(merged(None)), "close/succeeded");
}

#[test]
fn a_question_blocks_and_its_answer_lets_it_go_on() {
    let mut world = World::new(ordinary());
    world.kim(Act::Start);
    assert_eq!(world.sees(SessionWork::Asking, None), "plan/blocked");
    assert_eq!(world.sees(SessionWork::Asking, None), "plan/blocked");
    assert_eq!(world.sees(SessionWork::Working, None), "plan/running");
    let running = world.delivery.runs.len();
    assert_eq!(running, 1);
    world.sees(SessionWork::Asking, None);
    assert_eq!(world.kim(Act::Cancel), "plan/failed");
    let error = world.delivery.error.clone().unwrap();
    assert_eq!(
        (error.code, error.text.as_str()),
        (Fault::Canceled, "Canceled by user")
    );
}

#[test]
fn a_rejected_plan_is_made_again_by_the_same_session() {
    let mut world = World::new(ordinary());
    world.kim(Act::Start);
    world.sees(planned("p1"), None);
    world.delivery.plan = Some(DeliveryPlan {
        id: "p1".parse().unwrap(),
        content: "1. All of it".to_owned(),
        generated_at: at(1),
        model: None,
        cwd: None,
        target_files: Vec::new(),
    });
    assert_eq!(world.kim(reject("Smaller, please")), "plan/running");
    assert_eq!(
        world.delivery.plan, None,
        "what was rejected is not its plan"
    );
    assert_eq!(
        world.delivery.task.message.as_ref().unwrap().text,
        "Smaller, please"
    );
    // Its job shows that plan until the session has taken up the reason.
    let of_job = WaitsFor::new(WaitParty::Gaffer, WaitReason::Plan, None);
    let told = |world: &World| world.waits(Some(of_job.clone()));
    let answered = (WaitParty::Jules, WaitReason::Answered);
    assert_eq!(told(&world), answered);
    assert_eq!(world.sees(planned("p1"), None), "plan/running");
    assert_eq!(told(&world), answered);
    assert_eq!(world.sees(planned("p2"), None), "plan/succeeded");
    assert_eq!(told(&world), (WaitParty::Person, WaitReason::Checkpoint));
    assert_eq!(world.delivery.attempt, 1);
}

#[test]
fn a_rejected_change_is_made_again_from_its_plan_by_another_session() {
    let mut world = World::new(rules(&[Phase::Implement], "verify", ReviewBy::Agent));
    world.sees(planned("p1"), None);
    world.rests();
    assert_eq!(
        world.reads(pull('a', Checks::Passed)),
        "implement/succeeded"
    );
    let job = world.delivery.task.job.clone();
    assert_eq!(world.kim(reject("Another way")), "plan/running");
    let task = world.delivery.task.clone();
    assert_eq!((&task.job, task.attempt, task.pull), (&job, 2, None));
    assert_eq!(task.earlier_pull, Some(pull_ref()));
    assert_eq!(world.delivery.attempt, 2);
    let named = |world: &World| {
        let said = reasons(&world.delivery, None);
        said.iter().any(|it| it.code == "earlier_pull_request")
    };
    assert!(named(&world));
    let newer: PullRef = "acme/shop#32".parse().unwrap();
    world.sees(SessionWork::Working, Some(newer.clone()));
    assert!(!named(&world));
    let sight = Sight {
        earlier_pull_open: true,
        ..Sight::default()
    };
    let closes = Want::ClosePull {
        pull: pull_ref(),
        newer,
    };
    assert!(wants(&world.delivery, &sight).contains(&closes));
}

#[test]
fn a_person_who_merges_what_the_attempt_before_made_ends_the_present_one() {
    let mut world = World::new(rules(&[Phase::Implement], "verify", ReviewBy::Agent));
    world.sees(planned("p1"), None);
    world.rests();
    world.reads(pull('a', Checks::Passed));
    world.kim(reject("Another way"));
    let newer: PullRef = "acme/shop#32".parse().unwrap();
    world.sees(SessionWork::Working, Some(newer.clone()));
    // As long as it is open it says nothing about this attempt.
    assert_eq!(world.reads(pull('a', Checks::Passed)), "plan/running");
    assert_eq!(world.reads(merged(Some("eve"))), "close/succeeded");
    let history = world.history();
    let verified = "verify/succeeded by person eve".to_owned();
    assert!(history.contains(&verified), "{history:?}");
    assert_eq!(world.delivery.closed, Some(Closed::Finished));
    world.says("its change is merged");
    let job = world.delivery.task.job.clone().unwrap();
    let sight = Sight {
        leftovers_open: world.delivery.leftovers.clone(),
        earlier_pull_open: true,
        ..Sight::default()
    };
    let wanted = wants(&world.delivery, &sight);
    let by = Actor::System;
    assert!(wanted.contains(&Want::CancelJob { job, by }), "{wanted:?}");
    let closes = Want::ClosePull {
        pull: newer,
        newer: pull_ref(),
    };
    assert!(wanted.contains(&closes), "{wanted:?}");
}

#[test]
fn a_pull_request_of_an_attempt_that_failed_is_named_until_the_next_one_is_there() {
    let mut world = World::new(ordinary());
    world.kim(Act::Start);
    world.sees(planned("p1"), None);
    world.kim(Act::APPROVE);
    world.sees(SessionWork::Working, Some(pull_ref()));
    world.sees(SessionWork::Ended(JobEnd::Lost), Some(pull_ref()));
    assert_eq!(world.kim(RETRY), "implement/running");
    let refs = world.delivery.refs.iter();
    let labels: Vec<&str> = refs.map(|it| it.label.as_str()).collect();
    assert_eq!(labels, ["#12", "#31"]);
    let mut said = reasons(&world.delivery, None);
    let named = said.remove(1);
    assert_eq!(named.code, "earlier_pull_request");
    assert!(
        named.sentence.contains("acme/shop#31"),
        "{}",
        named.sentence
    );
    // What was closed by hand waits for nothing.
    world.delivery.seen.pull = Some(PullGlimpse {
        end: Some(PullEnd::Closed { by: None }),
        ..pull('a', Checks::Passed)
    });
    assert_eq!(reasons(&world.delivery, None).len(), 1);
}

#[test]
fn a_head_pushed_after_its_review_is_reviewed_and_a_merge_of_the_base_is_not() {
    let mut world = World::in_review(rules(&[Phase::Review], "verify", ReviewBy::Agent));
    assert_eq!(
        world.zai(verdict(Verdict::Pass, 'a')),
        "review/succeeded pass"
    );
    assert_eq!(world.reads(pull('b', Checks::Passed)), "review/running");
    assert_eq!(
        world.orders(zai(), verdict(Verdict::Pass, 'a')),
        Err("head_moved")
    );
    world.zai(verdict(Verdict::Pass, 'b'));
    let stale = Act::Approve {
        head: Some(sha('a')),
        plan: None,
    };
    assert_eq!(world.orders(kim(), stale), Err("head_moved"));
    assert_eq!(
        world.kim(Act::Approve {
            head: Some(sha('b')),
            plan: None,
        }),
        "verify/pending"
    );
    assert_eq!(gate(&world.delivery, &sha('b')), None);
    assert_eq!(gate(&world.delivery, &sha('c')), Some(Gate::OtherHead));
    let updated = PullGlimpse {
        same_work_as: Some(sha('b')),
        ..pull('c', Checks::Running)
    };
    assert_eq!(world.reads(updated), "verify/running");
    assert_eq!(gate(&world.delivery, &sha('c')), None);
    assert_eq!(world.reads(pull('d', Checks::Passed)), "review/running");
    let waits = gate(&world.delivery, &sha('d')).unwrap().reason();
    assert_eq!(waits.code(), "delivery_not_in_verify");
}

#[test]
fn a_head_that_is_pushed_after_its_checkpoint_comes_back_to_it_although_nobody_reviews() {
    let mut world = World::in_review(rules(&[Phase::Review], "verify", ReviewBy::Nobody));
    assert_eq!(place(&world.delivery), "review/succeeded pass");
    assert_eq!(world.kim(Act::APPROVE), "verify/pending");
    assert_eq!(world.reads(pull('a', Checks::Failed)), "verify/running");
    // The session repairs what failed.
    assert_eq!(
        world.reads(pull('b', Checks::Running)),
        "review/succeeded pass"
    );
    let gated = gate(&world.delivery, &sha('b')).unwrap().reason();
    assert_eq!(gated.code(), "delivery_not_in_verify");
    let seen = Act::Approve {
        head: Some(sha('a')),
        plan: None,
    };
    assert_eq!(world.orders(kim(), seen), Err("head_moved"));
    assert_eq!(world.kim(Act::APPROVE), "verify/pending");
    assert_eq!(gate(&world.delivery, &sha('b')), None);

    // Without the checkpoint no person is asked, before as after.
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Nobody));
    assert_eq!(world.reads(pull('b', Checks::Running)), "verify/running");
    assert_eq!(gate(&world.delivery, &sha('b')), None);
}

#[test]
fn a_red_head_wakes_no_reviewer() {
    let mut world = World::new(rules(&[], "verify", ReviewBy::Agent));
    world.sees(planned("p1"), None);
    let resting = world.resting();
    world.sees(resting.clone(), Some(pull_ref()));
    for checks in [
        Checks::Unknown,
        Checks::Awaited,
        Checks::Running,
        Checks::Failed,
    ] {
        assert_eq!(world.reads(pull('a', checks)), "review/running");
        assert_eq!(world.delivery.review.asked, None);
    }
    world.sees(SessionWork::Working, Some(pull_ref()));
    world.reads(pull('b', Checks::Passed));
    assert_eq!(world.delivery.review.asked, None);
    world.sees(world.resting(), Some(pull_ref()));
    assert_eq!(world.delivery.review.asked.as_ref().unwrap().head, sha('b'));
    // Without any checks it is called as well.
    world.reads(pull('c', Checks::Missing));
    assert_eq!(world.delivery.review.asked.as_ref().unwrap().head, sha('c'));
    assert_eq!(world.reads(pull('c', Checks::GivenUp)), "review/failed");
    assert_eq!(world.kim(RETRY), "review/running");
    assert_eq!(world.reads(pull('c', Checks::GivenUp)), "review/running");
    world.reads(pull('c', Checks::Running));
    assert_eq!(world.reads(pull('c', Checks::GivenUp)), "review/failed");
}

#[test]
fn deploy_and_observe_are_awaited() {
    let mut world = World::in_review(Rules {
        deploy: "workflow:deploy.yml@main".parse().unwrap(),
        observe: "soak:30m".parse().unwrap(),
        ..rules(&[], "observe", ReviewBy::Nobody)
    });
    assert_eq!(world.reads(merged(None)), "deploy/pending");
    let good = DeliveryInput::Provider(Phase::Observe, ProviderReport::Good);
    assert_eq!(world.take(&good).unwrap(), "deploy/pending");
    assert_eq!(world.deploys(ProviderReport::Nothing), "deploy/pending");
    assert_eq!(world.deploys(ProviderReport::Running), "deploy/running");
    let spans = &world.delivery.phase_runs;
    let awaited_since = spans[spans.len() - 2].started_at;
    let run = world.delivery.runs.last().unwrap();
    assert_eq!(
        run.created_at, awaited_since,
        "what is awaited takes its time"
    );
    let bad = ProviderReport::Bad("no disk".to_owned());
    assert_eq!(world.deploys(bad), "deploy/failed");
    // The run of a later delivery may succeed, and only a retry asks for it.
    assert_eq!(world.deploys(ProviderReport::Good), "deploy/failed");
    // The issue was closed by the merge, which ends nothing.
    let closed = issue_read(1_000, IssueState::Closed(None));
    assert_eq!(world.take(&closed).unwrap(), "deploy/failed");
    let reason = Some("Use another flag.".to_owned());
    let refused = world.orders(kim(), Act::Retry { reason });
    assert_eq!(refused, Err("no_reason_taken"));
    assert_eq!(world.kim(RETRY), "deploy/pending");
    let runs = world.delivery.runs.len();
    assert_eq!(world.deploys(ProviderReport::Good), "observe/running");
    assert_eq!(world.delivery.runs.len(), runs + 2, "one of each phase");
    assert_eq!(world.take(&good).unwrap(), "observe/running");
    world.second += 1_800;
    assert_eq!(world.time_passes(), "observe/running");
    assert_eq!(world.take(&good).unwrap(), "close/succeeded");
    let notes = world.delivery.runs.iter().rev().take(2);
    let notes: Vec<&str> = notes.filter_map(|run| run.summary.as_deref()).collect();
    assert_eq!(
        notes,
        ["observed: soak:30m", "deployed by a run of `deploy.yml`"]
    );
}

#[test]
fn nothing_is_deployed_where_nothing_is_set_and_that_is_said() {
    let mut world = World::in_review(rules(&[], "observe", ReviewBy::Nobody));
    assert_eq!(world.reads(merged(None)), "close/succeeded");
    let notes = world.delivery.runs.iter().rev().take(2);
    let notes: Vec<&str> = notes.filter_map(|run| run.summary.as_deref()).collect();
    assert_eq!(notes, ["nothing was observed", "nothing was deployed"]);
}
