//! Reviews that failed, and what people can do about them.

use super::*;
use crate::event::{Audience, ErrorCause, Event, Occurrence};
use crate::ids::EventId;

fn retry(reason: Option<&str>) -> Act {
    Act::Retry {
        reason: reason.map(str::to_owned),
    }
}

/// A delivery whose review may send nothing back, and did not pass head `a`.
fn used_up() -> World {
    let mut world = World::in_review(Rules {
        review_rounds: 0,
        ..rules(&[Phase::Review], "verify", ReviewBy::Agent)
    });
    let answer = world.orders(zai(), verdict(Verdict::NotPass, 'a'));
    assert_eq!(answer, Ok("review/failed".to_owned()));
    world
}

/// The session makes another head, which is reviewed next.
fn makes(world: &mut World, head: char) {
    world.sees(SessionWork::Working, Some(pull_ref()));
    world.rests();
    assert_eq!(world.reads(pull(head, Checks::Passed)), "review/running");
}

#[test]
fn a_person_sends_a_change_back_although_its_rounds_are_used_up() {
    let mut world = used_up();
    let session = world.delivery.task.job.clone();
    let before = world.delivery.clone();
    // Rounds are bounded for agents and the system.
    let refused = world.orders(zai(), retry(Some("Once more")));
    assert_eq!(refused, Err("rounds_used_up"));
    let offered = |by| retry_takes_reason(&world.delivery, &by, &world.rules);
    assert!(legal(&world.delivery, &zai(), &world.rules).contains(&CommandKind::Retry));
    assert_eq!((offered(zai()), offered(kim())), (false, true));
    assert_eq!(world.delivery, before);
    for (round, head) in [(1, 'b'), (2, 'c')] {
        let answer = world.kim(retry(Some("Test the empty cart, too.")));
        assert_eq!(answer, "implement/running");
        let delivery = &world.delivery;
        let message = delivery.task.message.as_ref().unwrap();
        let feedback = Some("Test the empty cart, too.");
        assert_eq!(delivery.feedback.as_deref(), feedback);
        assert_eq!(Some(message.text.as_str()), feedback);
        assert_eq!((delivery.review_round, delivery.task.round), (round, round));
        let sent_back = delivery.phase_runs.iter().rev().nth(1).unwrap();
        assert_eq!(sent_back.actor, kim());
        makes(&mut world, head);
        // The order was for one round: the next one needs another order.
        let answer = world.orders(zai(), verdict(Verdict::NotPass, head));
        assert_eq!(answer, Ok("review/failed".to_owned()));
        assert!(world.delivery.has_used_rounds());
    }
    let delivery = &world.delivery;
    assert_eq!((delivery.attempt, &delivery.task.job), (1, &session));
    let why = reasons(delivery, None).remove(0);
    assert_eq!(why.code, "rounds_used_up");
    let way_on = "A person's retry with a reason sends it back to implement;";
    assert!(why.sentence.contains(way_on), "{}", why.sentence);
    // Without a reason the same head is reviewed again.
    assert_eq!(world.kim(retry(None)), "review/running");
    assert_eq!(world.delivery.review_round, 2);
    let pass = world.orders(zai(), verdict(Verdict::Pass, 'c'));
    assert_eq!(pass, Ok("review/succeeded pass".to_owned()));
}

/// A delivery whose review by another session came to nothing.
fn malformed(checkpoints: &[Phase]) -> World {
    let mut world = World::in_review(rules(checkpoints, "verify", ReviewBy::Jules));
    let job = world.delivery.reviewing_job().cloned().unwrap();
    let said = DeliveryInput::Review(ReviewSight {
        job,
        session: None,
        state: ReviewState::Said("Looks good, merge it".to_owned()),
    });
    assert_eq!(world.take(&said).unwrap(), "review/failed");
    world
}

#[test]
fn a_person_judges_what_no_reviewer_could() {
    let mut world = malformed(&[Phase::Review]);
    world.says("A person may give the verdict");
    assert!(legal(&world.delivery, &kim(), &world.rules).contains(&CommandKind::Verdict));
    assert!(!legal(&world.delivery, &zai(), &world.rules).contains(&CommandKind::Verdict));
    let by_zai = world.orders(zai(), verdict(Verdict::Pass, 'a'));
    assert_eq!(by_zai, Err("not_in_review"));
    let of_another_head = world.orders(kim(), verdict(Verdict::Pass, 'b'));
    assert_eq!(of_another_head, Err("head_moved"));
    let runs = world.delivery.runs.len();
    assert_eq!(world.kim(verdict(Verdict::Pass, 'a')), "verify/pending");
    assert_eq!(world.delivery.error, None);
    assert_eq!(gate(&world.delivery, &sha('a')), None);
    // No check of it has failed.
    assert_eq!(world.why().code, "awaits_checks");
    let run = world.delivery.runs.get(runs).unwrap();
    assert_eq!((run.mode, run.performer), (Mode::Review, Performer::Human));
    assert_eq!(run.verdict, Some(Verdict::Pass));
    assert_eq!(
        (run.status, &run.head),
        (RunResult::Success, &Some(sha('a')))
    );

    let mut world = malformed(&[]);
    assert_eq!(
        world.kim(verdict(Verdict::NotPass, 'a')),
        "implement/running"
    );
    assert_eq!(world.delivery.review_round, 1);
    assert_eq!(world.delivery.feedback.as_deref(), Some("Test the cart."));
}

#[test]
fn an_agents_verdict_is_too_late_once_the_review_has_failed() {
    // It may be under way while a person cancels, or while checks fail.
    let cancelled = |world: &mut World| world.kim(Act::Cancel);
    let checks_failed = |world: &mut World| world.reads(pull('a', Checks::GivenUp));
    let used_up = |world: &mut World| {
        let answer = world.orders(zai(), verdict(Verdict::NotPass, 'a'));
        answer.unwrap_or_default()
    };
    let ways: [&dyn Fn(&mut World) -> String; 3] = [&cancelled, &checks_failed, &used_up];
    for way in ways {
        let mut world = World::in_review(Rules {
            review_rounds: 0,
            ..rules(&[], "verify", ReviewBy::Agent)
        });
        assert_eq!(way(&mut world), "review/failed");
        let before = world.delivery.clone();
        for late in [Verdict::Pass, Verdict::NotPass] {
            assert_eq!(
                world.orders(zai(), verdict(late, 'a')),
                Err("not_in_review")
            );
        }
        assert_eq!(world.delivery, before);
        assert!(!legal(&before, &zai(), &world.rules).contains(&CommandKind::Verdict));
        assert!(legal(&before, &kim(), &world.rules).contains(&CommandKind::Verdict));
    }
}

#[test]
fn a_person_sends_a_change_back_whatever_its_review_failed_by() {
    let mut world = World::in_review(Rules {
        review_rounds: 0,
        ..rules(&[], "verify", ReviewBy::Agent)
    });
    assert_eq!(world.kim(Act::Cancel), "review/failed");
    let answer = world.kim(verdict(Verdict::NotPass, 'a'));
    assert_eq!(answer, "implement/running");
    assert_eq!(world.delivery.review_round, 1);
}

#[test]
fn nothing_is_judged_that_is_gone_or_was_closed() {
    let mut closed = malformed(&[]);
    closed.reads(PullGlimpse {
        end: Some(PullEnd::Closed { by: None }),
        ..pull('a', Checks::Passed)
    });
    let judged = closed.orders(kim(), verdict(Verdict::Pass, 'a'));
    assert_eq!(judged, Err("pull_closed"));
    let mut gone = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    gone.sees(SessionWork::Ended(JobEnd::Lost), None);
    assert_eq!(place(&gone.delivery), "review/failed");
    let judged = gone.orders(kim(), verdict(Verdict::Pass, 'a'));
    assert_eq!(judged, Err("not_in_review"));
}

#[test]
fn a_person_lets_a_change_pass_whose_checks_failed_and_they_are_waited_for_once_more() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    assert_eq!(world.reads(pull('a', Checks::GivenUp)), "review/failed");
    assert_eq!(world.kim(verdict(Verdict::Pass, 'a')), "verify/pending");
    let soon = due(&world.delivery, at(world.second)).unwrap();
    assert!(
        soon <= at(world.second + 60),
        "whether they still fail is looked for soon"
    );
    let told = |world: &World| {
        let of_pull = WaitsFor::new(WaitParty::Person, WaitReason::Blocked, at(0));
        world.waits(Some(of_pull))
    };
    let read_again = (WaitParty::Gaffer, WaitReason::Reading);
    assert_eq!(told(&world), read_again);
    // What was read before that says nothing of it.
    let before = DeliveryInput::Pull(Box::new(pull('a', Checks::GivenUp)), at(0));
    assert_eq!(world.take(&before).unwrap(), "verify/running");
    assert_eq!(told(&world), read_again);
    assert!(!is_told_by_pull(&world.delivery));
    assert_eq!(world.why().code, "checks_read_again");
    let mut ran_again = world.clone();
    assert_eq!(world.reads(pull('a', Checks::GivenUp)), "verify/failed");
    assert_eq!(told(&world), (WaitParty::Person, WaitReason::Failure));
    ran_again.reads(pull('a', Checks::Running));
    assert_eq!(told(&ran_again).1, WaitReason::Blocked);
    assert_eq!(ran_again.reads(pull('a', Checks::GivenUp)), "verify/failed");
    // So it does after a retry without a reason.
    assert_eq!(world.kim(RETRY), "verify/pending");
    assert_eq!(world.reads(pull('a', Checks::GivenUp)), "verify/failed");
}

#[test]
fn the_reason_of_a_retry_is_sent_or_refused() {
    let retry = || retry(Some("Rename the file."));
    let mut cancelled = World::in_review(rules(&[], "verify", ReviewBy::Human));
    assert_eq!(cancelled.kim(Act::Cancel), "review/failed");
    assert_eq!(cancelled.kim(retry()), "implement/running");
    let feedback = cancelled.delivery.feedback.as_deref();
    assert_eq!(feedback, Some("Rename the file."));
    // Its pull request tells of what was before.
    let before = WaitsFor::new(WaitParty::Person, WaitReason::Blocked, at(0));
    assert_eq!(
        cancelled.waits(Some(before)),
        (WaitParty::Jules, WaitReason::Answered)
    );
    let mut verifying = World::in_review(rules(&[], "verify", ReviewBy::Nobody));
    assert_eq!(
        verifying.reads(pull('a', Checks::Running)),
        "verify/running"
    );
    assert_eq!(verifying.kim(Act::Cancel), "verify/failed");
    assert_eq!(verifying.kim(retry()), "implement/running");
}

#[test]
fn a_red_head_passes_where_nobody_reviews_and_its_merge_fails() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Nobody));
    assert_eq!(world.reads(pull('a', Checks::Running)), "verify/running");
    assert_eq!(world.kim(Act::Cancel), "verify/failed");
    let retried = world.kim(retry(Some("Rename the file.")));
    assert_eq!(retried, "implement/running");
    // Its checks have failed before the session is seen to rest.
    world.reads(pull('b', Checks::GivenUp));
    assert_eq!(world.rests(), "verify/failed");
    let reviewed = world.delivery.runs.last().unwrap();
    let passed = (Mode::Review, Some(Verdict::Pass));
    assert_eq!((reviewed.mode, reviewed.verdict), passed);
}

/// An error of the job at the beginning.
fn error(world: &World, cause: ErrorCause) -> Event {
    Event {
        job: world.delivery.task.job.clone(),
        attempt: 1,
        ..Event::new(
            EventId::from_name("it"),
            "default".parse().unwrap(),
            at(0),
            Occurrence::Error {
                cause,
                reason: "It is red.".to_owned(),
            },
        )
    }
}

#[test]
fn an_error_of_the_job_is_past_once_the_phase_was_tried_again() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Human));
    assert_eq!(world.reads(pull('a', Checks::GivenUp)), "review/failed");
    let failed = error(&world, ErrorCause::CiFailed);
    let stands = error(&world, ErrorCause::Conflict);
    assert!(!is_past(&world.delivery, &failed), "it waits with that");
    assert_eq!(world.kim(retry(None)), "review/running");
    assert!(is_past(&world.delivery, &failed));
    assert!(!is_past(&world.delivery, &stands), "no phase fails by it");
    let later = Event {
        observed_at: at(world.second + 1),
        ..failed
    };
    assert!(!is_past(&world.delivery, &later));
}

#[test]
fn what_a_collected_session_told_before_is_past() {
    let mut world = World::new(rules(&[], "verify", ReviewBy::Agent));
    let job = JobId::from_ulid(ulid::Ulid(9));
    let completed = Event {
        job: Some(job.clone()),
        what: Occurrence::Completed { pulls: Vec::new() },
        ..error(&world, ErrorCause::CiFailed)
    };
    assert!(!is_past(&world.delivery, &completed));
    world.kim(Act::Collect {
        job,
        session: None,
        result: RunResult::Success,
    });
    assert!(is_past(&world.delivery, &completed));
    let later = Event {
        observed_at: at(world.second + 1),
        ..completed
    };
    assert!(!is_past(&world.delivery, &later));
}

#[test]
fn checks_that_fail_again_after_a_retry_are_announced_by_the_delivery() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Nobody));
    assert_eq!(world.reads(pull('a', Checks::GivenUp)), "verify/failed");
    let told = error(&world, ErrorCause::CiFailed);
    let other = error(&world, ErrorCause::Conflict);
    let announces = |world: &World, event: &Event| {
        announces_failure(&world.delivery, std::slice::from_ref(event))
    };
    assert!(!announces(&world, &told));
    assert!(announces(&world, &other));
    assert_eq!(world.kim(retry(None)), "verify/pending");
    let tried = at(world.second);
    assert!(!announces(&world, &told), "it has not failed");
    assert_eq!(world.reads(pull('a', Checks::GivenUp)), "verify/failed");
    assert!(announces(&world, &told), "that was withdrawn");
    assert!(is_past(&world.delivery, &told));
    let again = Event {
        observed_at: tried,
        ..told
    };
    assert!(!announces(&world, &again));
    assert!(!is_past(&world.delivery, &again));
}

#[test]
fn a_failure_that_only_the_agent_was_told_is_announced_to_the_person_who_is_awaited() {
    for (attempts, is_awaited) in [(1, true), (2, false)] {
        let mut world = World::new(Rules {
            attempts,
            ..rules(&[], "verify", ReviewBy::Agent)
        });
        let ended = SessionWork::Ended(JobEnd::Failed("no disk".to_owned()));
        assert_eq!(world.sees(ended, None), "plan/failed");
        let of_agent = error(&world, ErrorCause::SessionFailed);
        let of_person = Event {
            audience: Audience::Human,
            ..of_agent.clone()
        };
        let announces = |of_job: &[Event]| announces_failure(&world.delivery, of_job);
        assert_eq!(announces(std::slice::from_ref(&of_agent)), is_awaited);
        assert!(!announces(&[of_person, of_agent]), "there is no agent");
        assert!(!announces(&[]), "its job is about to tell");
    }
}

#[test]
fn a_retry_has_a_red_head_reviewed_and_its_reason_sends_it_back() {
    let failed = || {
        let mut world = World::in_review(rules(&[], "verify", ReviewBy::Human));
        assert_eq!(world.reads(pull('a', Checks::GivenUp)), "review/failed");
        world
    };
    let mut reviewed = failed();
    assert_eq!(reviewed.kim(RETRY), "review/running");
    reviewed.reads(pull('a', Checks::GivenUp));
    assert!(
        reviewed.delivery.review.asked.is_some(),
        "a person is asked"
    );
    let mut sent_back = failed();
    let retry = Act::Retry {
        reason: Some("Mend the build.".to_owned()),
    };
    assert_eq!(sent_back.kim(retry), "implement/running");
    let feedback = sent_back.delivery.feedback.as_deref();
    assert_eq!(feedback, Some("Mend the build."));
}

#[test]
fn who_approved_a_head_is_not_asked_for_the_same_word_again() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Human));
    world.kim(verdict(Verdict::Pass, 'a'));
    assert_eq!(world.delivery.phase, Phase::Verify);
    let asked = WaitsFor::new(WaitParty::Person, WaitReason::Approval, at(0));
    assert_eq!(
        world.waits(Some(asked)),
        (WaitParty::Gaffer, WaitReason::Reading)
    );
}

/// The present job, to which nothing was sent yet: an order is not sent while work is paused.
fn untold(world: &World, work: SessionWork) -> DeliveryInput {
    let mut sight = job_sight(&world.delivery, work, Some(pull_ref()));
    sight.glimpse.message_sent = None;
    DeliveryInput::Job(Box::new(sight), None)
}

#[test]
fn what_was_pushed_before_the_feedback_is_no_answer_to_it() {
    let mut world = World::in_review(rules(&[], "verify", ReviewBy::Agent));
    world.zai(verdict(Verdict::NotPass, 'a'));
    let input = untold(&world, SessionWork::Resting(Some(at(1))));
    world.take(&input).unwrap();
    assert_eq!(world.reads(pull('b', Checks::Passed)), "implement/running");
    let said = wants(
        &world.delivery,
        &Sight {
            job: world.delivery.seen.job.clone(),
            ..Sight::default()
        },
    );
    assert!(said.iter().any(|want| matches!(want, Want::Say { .. })));
    world.rests();
    assert_eq!(place(&world.delivery), "review/running");
}

#[test]
fn a_session_that_reviewed_is_called_off() {
    let rules = rules(&[], "verify", ReviewBy::Jules);
    let mut world = World::in_review(rules);
    let first = world.delivery.reviewing_job().cloned().unwrap();
    world.reads(pull('b', Checks::Running));
    world.reads(pull('b', Checks::Passed));
    assert_eq!(world.delivery.leftovers, std::slice::from_ref(&first));
    let second = world.delivery.reviewing_job().cloned().unwrap();
    assert_ne!(first, second);
    let said = r#"```json
{"verdict": "pass", "summary": "Fine"}
```"#;
    let sight = ReviewSight {
        job: second.clone(),
        session: None,
        state: ReviewState::Said(said.to_owned()),
    };
    assert_eq!(
        world.take(&DeliveryInput::Review(sight)).unwrap(),
        "verify/running"
    );
    assert_eq!(world.delivery.leftovers, [first, second.clone()]);
    let sight = Sight {
        leftovers_open: vec![second.clone()],
        ..Sight::default()
    };
    let by = Actor::System;
    let wanted = wants(&world.delivery, &sight);
    assert!(wanted.contains(&Want::CancelJob { job: second, by }));
}

#[test]
fn what_a_person_let_go_on_goes_on_with_the_base_merged_in() {
    let mut world = World::in_review(rules(&[Phase::Review], "verify", ReviewBy::Agent));
    world.zai(verdict(Verdict::Pass, 'a'));
    world.kim(Act::APPROVE);
    let updated = PullGlimpse {
        same_work_as: Some(sha('a')),
        ..pull('b', Checks::Running)
    };
    assert_eq!(world.reads(updated), "verify/running");
    let approved = |world: &World| world.delivery.review.approved.clone().unwrap().head;
    assert_eq!(approved(&world), sha('b'));
    // What GitHub did not merge itself is other work.
    assert_eq!(world.reads(pull('c', Checks::Running)), "review/running");
    assert_eq!(world.delivery.review.approved, None);
}
