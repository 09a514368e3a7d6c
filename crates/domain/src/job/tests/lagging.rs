//! Sessions that said they are done and whose state never follows.

use super::*;
use crate::merge::SessionStatus;

/// The setting's default, in seconds.
const QUIET: i64 = 300;

/// When a word of second 9 is announced by itself.
const DUE: i64 = 9 + QUIET;

/// Said at 9 that it is done; its state still says that it works.
fn lagging(pulls: &[&str]) -> Story {
    let mut story = Story::new();
    story.pulls = pulls.iter().map(|pull| pull.parse().unwrap()).collect();
    story.poll(5, WORKING);
    story.log = vec![done("d1", 9)];
    assert!(story.poll(10, WORKING).is_empty());
    story.looks.clear();
    story
}

fn rest_at(story: &Story, second: i64) -> SessionStatus {
    let session: SessionId = SESSION.parse().unwrap();
    session_status(&story.job, Some(&session), &story.timing, at(second))
}

#[test]
fn its_word_is_announced_once_nothing_has_happened_for_a_while() {
    let mut story = lagging(&["acme/shop#7"]);
    assert_eq!(story.due, Some(at(DUE)));
    assert!(story.poll(DUE - 1, WORKING).is_empty());
    // Only a read of the log just now proves that nothing came after it.
    assert!(story.glance(DUE, WORKING).is_empty());
    assert_eq!(rest_at(&story, DUE), SessionStatus::Working);
    let announced = story.poll(DUE, WORKING);
    assert_eq!(announced, ["completed: acme/shop#7"]);
    assert_eq!(
        story.looks,
        [FollowUp::Pull("acme/shop#7".parse().unwrap())]
    );
    assert_eq!(rest_at(&story, DUE), SessionStatus::Resting);
    // It rests: neither stuck nor completed again, whatever its state says now.
    let week = story.timing.watch_completed.as_secs();
    assert_eq!(story.due, Some(at(DUE + week)));
    assert!(story.poll(DUE + 5_000, WORKING).is_empty());
    assert!(story.poll(DUE + 6_000, "COMPLETED").is_empty());
    assert!(story.poll(DUE + 6_100, "COMPLETED").is_empty());
    assert!(!story.job.is_ended());
}

#[test]
fn outputs_that_come_late_join_it() {
    let mut story = lagging(&[]);
    assert_eq!(story.poll(DUE, WORKING), ["completed: "]);
    story.pulls = vec!["acme/shop#7".parse().unwrap()];
    let joined = story.poll(DUE + 10, WORKING);
    assert_eq!(joined, ["+completed: acme/shop#7"]);
    assert!(story.poll(DUE + 20, WORKING).is_empty());
}

#[test]
fn what_it_says_or_does_afterwards_puts_it_off() {
    let mut story = lagging(&["acme/shop#7"]);
    story.log.push(agent("a1", 200));
    assert!(story.poll(201, WORKING).is_empty());
    assert!(story.poll(DUE, WORKING).is_empty());
    assert_eq!(story.poll(200 + QUIET, WORKING).len(), 1);
    assert_eq!(rest_at(&story, 201 + QUIET), SessionStatus::Resting);
    // Work that goes on is work, and its silence is announced.
    story.log.push(worked("w1", 1_000));
    assert!(story.poll(1_001, WORKING).is_empty());
    assert_eq!(rest_at(&story, 1_002), SessionStatus::Working);
    assert_eq!(story.poll(1_000 + 900, WORKING).len(), 1);
    assert_eq!(rest_at(&story, 2_201), SessionStatus::Resting);
}

#[test]
fn one_that_was_spoken_to_says_so_again() {
    let mut story = lagging(&["acme/shop#7"]);
    story.poll(DUE, WORKING);
    let session: SessionId = SESSION.parse().unwrap();
    let step = said(&story.job, &session, Some(at(400)), &story.timing);
    story.take(step);
    assert_eq!(rest_at(&story, 401), SessionStatus::Working);
    story.log.push(user("u1", 400));
    assert!(story.poll(410, WORKING).is_empty());
    assert!(story.poll(400 + QUIET, WORKING).is_empty());
    assert_eq!(rest_at(&story, 401 + QUIET), SessionStatus::Working);
    story.log.push(done("d2", 800));
    assert!(story.poll(801, WORKING).is_empty());
    let again = story.poll(800 + QUIET, WORKING);
    assert_eq!(again, ["completed: acme/shop#7"]);
    assert_ne!(story.events[0].id, story.events[1].id);
}

#[test]
fn words_that_answer_nobody_are_no_completion() {
    let mut story = lagging(&[]);
    story.log.push(user("u1", 20));
    story.poll(21, WORKING);
    assert!(story.poll(20 + QUIET, WORKING).is_empty());
    let stuck = story.poll(20 + 900, WORKING);
    assert_eq!(stuck, ["stuck: (message to Jules) answer"]);
}

#[test]
fn other_states_are_taken_at_their_word() {
    for state in ["PLANNING", "NEW"] {
        let mut story = lagging(&[]);
        assert!(story.poll(20, state).is_empty());
        assert!(story.poll(20 + 899, state).is_empty(), "{state}");
        assert_eq!(story.poll(20 + 900, state).len(), 1, "{state}");
    }
}

#[test]
fn a_state_that_was_left_again_without_a_word_is_not_believed_to_rest() {
    let mut story = lagging(&[]);
    story.poll(20, "COMPLETED");
    assert_eq!(story.poll(50, "COMPLETED"), ["completed: "]);
    story.poll(60, WORKING);
    let stuck = story.poll(60 + 900, WORKING);
    assert_eq!(stuck, ["stuck: said it is done"]);
}

#[test]
fn without_a_pull_request_it_is_left_alone_in_the_end() {
    let mut story = lagging(&[]);
    story.poll(DUE, WORKING);
    let week = story.timing.watch_completed.as_secs();
    story.poll(DUE + week - 1, WORKING);
    assert!(!story.job.is_ended());
    assert!(story.poll(DUE + week, WORKING).is_empty());
    let JobPhase::Ended(ending) = &story.job.phase else {
        panic!("{:?}", story.job.phase);
    };
    assert_eq!(ending.how, EndReason::Completed);
}

#[test]
fn an_archived_session_that_finished_without_a_pull_request_ends_its_job() {
    let pull: PullRef = "acme/shop#7".parse().unwrap();
    let session: SessionId = SESSION.parse().unwrap();
    for (name, archived, pulls, is_written_to, state, is_ended) in [
        ("finished", true, vec![], false, "COMPLETED", true),
        ("not archived", false, vec![], false, "COMPLETED", false),
        ("with a change", true, vec![pull], false, "COMPLETED", false),
        ("written to", true, vec![], true, "COMPLETED", false),
        ("at work", true, vec![], false, WORKING, false),
    ] {
        let mut story = Story::new();
        story.pulls = pulls;
        story.poll(10, state);
        story.poll(40, state);
        if is_written_to {
            let step = said(&story.job, &session, Some(at(45)), &story.timing);
            story.take(step);
        }
        story.archived = archived;
        assert!(story.poll(50, state).is_empty(), "{name}");
        assert_eq!(story.job.is_ended(), is_ended, "{name}");
    }
}

#[test]
fn an_archived_session_that_is_adopted_after_its_end_is_announced_once_and_over() {
    let mut story = Story::new();
    story.archived = true;
    story.poll(10, "COMPLETED");
    assert_eq!(story.poll(40, "COMPLETED"), ["completed: "]);
    assert!(story.job.is_ended());
    assert!(story.poll(50, "COMPLETED").is_empty());
}

#[test]
fn a_time_that_a_fast_clock_has_left_in_the_future_counts_as_now() {
    let timing = Timing::default();
    let session: SessionId = SESSION.parse().unwrap();
    let mut story = Story::new();
    // The clock is an hour ahead, and is then set right.
    story.poll(3_600, WORKING);
    let step = said(&story.job, &session, Some(at(3_620)), &timing);
    story.take(step);
    story.poll(30, WORKING);
    assert_eq!(story.watch().unconfirmed_since, Some(at(30)));
    assert_eq!(story.watch().state_since, at(30));
    assert_eq!(story.watch().progress_at, at(30));
    // From then on everything is as if it had been right.
    story.poll(629, WORKING);
    assert_eq!(story.watch().unconfirmed_since, Some(at(30)));
    story.poll(630, WORKING);
    assert_eq!(story.watch().unconfirmed_since, None);
}
