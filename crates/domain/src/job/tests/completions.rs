//! Completions: announced once each, with the pull request if it comes in time.

use super::*;

fn finished() -> Story {
    let mut story = Story::polled(vec![], 5, WORKING);
    story.log = vec![done("d1", 9)];
    story.pulls = vec!["acme/shop#7".parse().unwrap()];
    story
}

#[test]
fn fifty_polls_of_a_finished_job_are_one_event() {
    let mut story = finished();
    let first = story.poll(10, "COMPLETED");
    assert_eq!(first, ["completed: acme/shop#7"]);
    let job = story.job.clone();
    for second in 11..61 {
        assert!(story.poll(second, "COMPLETED").is_empty());
        assert!(story.glance(second, "COMPLETED").is_empty());
        assert_eq!(story.job, job);
    }
}

#[test]
fn a_session_that_is_done_is_at_work_no_more_while_its_words_are_awaited() {
    let mut story = Story::polled(vec![], 5, WORKING);
    let waits = |story: &Story| waits_for(&story.job, None, None).what;
    assert_eq!(waits(&story), WaitReason::Work);
    assert!(story.poll(10, "COMPLETED").is_empty());
    assert_eq!(waits(&story), WaitReason::Words);
    story.poll(60, "COMPLETED");
    assert_eq!(waits(&story), WaitReason::Result);
}

#[test]
fn a_hundred_polls_in_progress_change_nothing() {
    let mut story = Story::polled(vec![worked("w1", 3)], 5, WORKING);
    let job = story.job.clone();
    for second in 6..106 {
        assert!(story.poll(second, WORKING).is_empty());
        assert_eq!(story.job, job);
    }
    assert!(story.events.is_empty() && story.effects.is_empty());
}

#[test]
fn flapping_is_no_new_completion_but_a_new_word_is() {
    let mut story = finished();
    story.poll(10, "COMPLETED");
    for second in 11..40 {
        let state = if second % 2 == 0 {
            "COMPLETED"
        } else {
            WORKING
        };
        assert!(story.poll(second, state).is_empty());
    }
    story.log.push(done("d2", 50));
    assert_eq!(story.poll(51, "COMPLETED"), ["completed: acme/shop#7"]);
    assert_ne!(story.events[0].id, story.events[1].id);
}

#[test]
fn a_second_word_is_news_although_it_was_written_before_the_first_was_told() {
    let mut story = finished();
    story.poll(10, "COMPLETED");
    story.log.push(done("d2", 10));
    assert_eq!(story.poll(20, "COMPLETED"), ["completed: acme/shop#7"]);
}

#[test]
fn after_a_message_completed_is_news_again_even_without_a_word() {
    let mut story = finished();
    story.poll(10, "COMPLETED");
    story.log.push(user("u1", 100));
    assert!(story.poll(110, "COMPLETED").is_empty());
    assert!(story.poll(195, WORKING).is_empty());
    assert!(story.poll(300, "COMPLETED").is_empty());
    assert_eq!(story.poll(330, "COMPLETED"), ["completed: acme/shop#7"]);
    // The word that belongs to it comes late.
    story.log.push(done("d2", 299));
    assert!(story.poll(340, "COMPLETED").is_empty());
    assert_eq!(story.events.len(), 2);
    assert_ne!(story.events[0].id, story.events[1].id);
}

#[test]
fn a_message_to_a_session_that_had_flapped_is_no_completion() {
    let mut story = finished();
    story.poll(10, "COMPLETED");
    story.poll(20, WORKING);
    story.poll(30, "COMPLETED");
    story.log.push(user("u1", 100));
    for second in [110, 150, 190] {
        assert!(story.poll(second, "COMPLETED").is_empty());
    }
}

#[test]
fn a_message_of_before_the_completion_makes_no_other_of_it() {
    let mut story = finished();
    story.log.insert(0, user("u1", 8));
    assert_eq!(story.poll(10, "COMPLETED"), ["completed: acme/shop#7"]);
    story.poll(20, WORKING);
    for second in [30, 61, 200] {
        assert!(story.poll(second, "COMPLETED").is_empty());
    }
    // Nor does one that is only read later.
    let mut story = finished();
    story.poll(10, "COMPLETED");
    story.log.push(user("u1", 8));
    for second in [20, 50, 200] {
        assert!(story.poll(second, "COMPLETED").is_empty());
    }
}

#[test]
fn a_message_of_the_moment_in_which_a_state_came_back_has_not_caused_it() {
    let mut story = finished();
    story.poll(10, "COMPLETED");
    story.poll(20, WORKING);
    story.poll(30, "COMPLETED");
    story.log.push(user("u1", 30));
    for second in [40, 61, 200] {
        assert!(story.poll(second, "COMPLETED").is_empty());
    }
}

#[test]
fn outputs_are_waited_for_and_join_when_they_come_late() {
    let mut story = finished();
    let pulls = std::mem::take(&mut story.pulls);
    assert!(story.poll(10, "COMPLETED").is_empty());
    assert!(story.poll(39, "COMPLETED").is_empty());
    assert_eq!(story.poll(40, "COMPLETED"), ["completed: "]);
    story.pulls = pulls;
    assert_eq!(story.poll(50, "COMPLETED"), ["+completed: acme/shop#7"]);
    assert_eq!(story.amended[0].id, story.events[0].id);
    assert!(story.poll(60, "COMPLETED").is_empty());
    assert!(
        story
            .looks
            .contains(&FollowUp::Pull("acme/shop#7".parse().unwrap()))
    );
}

#[test]
fn a_known_pull_request_is_not_forgotten_nor_exchanged_for_an_older_one() {
    let mut story = finished();
    story.poll(10, "COMPLETED");
    story.looks.clear();
    for pulls in [
        vec![],
        vec!["acme/shop#3"],
        vec!["acme/shop#7", "acme/shop#3"],
        vec!["acme/other#9"],
    ] {
        story.pulls = pulls.iter().map(|pull| pull.parse().unwrap()).collect();
        story.poll(20, "COMPLETED");
        assert_eq!(story.watch().pull, Some("acme/shop#7".parse().unwrap()));
    }
    assert!(story.looks.is_empty());
    story.pulls = vec![
        "acme/shop#8".parse().unwrap(),
        "acme/shop#7".parse().unwrap(),
    ];
    story.poll(30, "COMPLETED");
    assert_eq!(story.watch().pull, Some("acme/shop#8".parse().unwrap()));
    assert_eq!(
        story.looks,
        [FollowUp::Pull("acme/shop#8".parse().unwrap())]
    );
}

#[test]
fn a_finished_session_without_a_pull_request_is_left_after_a_week() {
    let mut story = Story::polled(vec![done("d1", 9)], 10, "COMPLETED");
    story.poll(40, "COMPLETED");
    let week = 7 * 24 * 3600;
    story.poll(10 + week - 1, "COMPLETED");
    assert!(!story.job.is_ended());
    assert_eq!(story.due, Some(at(10 + week)));
    assert!(story.poll(10 + week, "COMPLETED").is_empty());
    assert!(
        matches!(&story.job.phase, JobPhase::Ended(ending) if ending.how == EndReason::Completed)
    );
    assert_eq!(story.announced(), ["completed: "]);
}

#[test]
fn a_session_that_works_again_is_not_left() {
    let mut story = Story::polled(vec![done("d1", 9)], 10, "COMPLETED");
    assert_eq!(story.poll(40, "COMPLETED"), ["completed: "]);
    story.poll(100, WORKING);
    story.poll(100 + 8 * 24 * 3600, WORKING);
    assert!(!story.job.is_ended());
}

#[test]
fn a_finished_session_with_a_pull_request_is_watched_on() {
    let mut story = finished();
    story.poll(10, "COMPLETED");
    story.poll(30 * 24 * 3600, "COMPLETED");
    assert!(!story.job.is_ended());
    assert!(!story.job.holds_slot());
}

#[test]
fn whoever_works_holds_a_slot_and_whoever_waits_or_rests_does_not() {
    let mut story = finished();
    assert!(story.job.holds_slot());
    let since = at(0);
    let watching = story.job.phase.clone();
    story.job.phase = JobPhase::Creating { since, refusals: 0 };
    assert!(story.job.holds_slot());
    story.job.phase = JobPhase::Queued {
        since,
        not_before: since,
        refusals: 0,
    };
    assert!(!story.job.holds_slot());
    story.job.phase = watching;
    story.poll(10, "COMPLETED");
    assert!(!story.job.holds_slot());
}
