//! When a session will not push by itself any more.

use super::*;
use crate::merge::SessionStatus::{self, Cancelled, Failed, Resting, Working};

fn rest_at(story: &Story, second: i64) -> SessionStatus {
    let session: SessionId = SESSION.parse().unwrap();
    session_status(&story.job, Some(&session), &story.timing, at(second))
}

fn spoken_to(story: &mut Story, second: i64) {
    let session: SessionId = SESSION.parse().unwrap();
    let step = said(&story.job, &session, Some(at(second)), &story.timing);
    story.take(step);
}

/// A session that was announced as silent at 1205.
fn silent() -> Story {
    let mut story = Story::polled(vec![worked("w1", 3)], 5, WORKING);
    assert_eq!(rest_at(&story, 6), Working);
    assert_eq!(story.poll(1205, WORKING).len(), 1);
    story
}

#[test]
fn silence_is_rest_until_somebody_speaks() {
    let mut story = silent();
    assert_eq!(rest_at(&story, 1206), Resting);
    spoken_to(&mut story, 1210);
    assert_eq!(rest_at(&story, 1211), Working);
    // The words were heard of, and nothing has come of them yet.
    story.log.push(user("u1", 1210));
    story.poll(1220, WORKING);
    assert_eq!(rest_at(&story, 1221), Working);
}

#[test]
fn work_after_silence_is_no_rest() {
    let mut story = silent();
    story.log.push(worked("w2", 1300));
    story.poll(1301, WORKING);
    assert_eq!(rest_at(&story, 1302), Working);
}

#[test]
fn a_completion_is_rest_once_it_was_announced() {
    let mut story = Story::polled(vec![], 10, "COMPLETED");
    assert_eq!(rest_at(&story, 11), Working);
    assert_eq!(story.poll(40, "COMPLETED"), ["completed: "]);
    assert_eq!(rest_at(&story, 41), Resting);
}

#[test]
fn a_session_that_was_spoken_to_after_its_completion_is_awaited() {
    let mut story = Story::of(vec![done("d1", 9)]);
    story.pulls = vec!["acme/shop#7".parse().unwrap()];
    story.poll(10, "COMPLETED");
    assert_eq!(rest_at(&story, 11), Resting);
    spoken_to(&mut story, 20);
    assert_eq!(rest_at(&story, 21), Working);
    story.log.push(user("u1", 21));
    story.poll(30, "COMPLETED");
    assert_eq!(story.watch().unconfirmed_since, None);
    assert_eq!(rest_at(&story, 31), Working);
    story.log.push(done("d2", 60));
    story.poll(61, "COMPLETED");
    assert_eq!(rest_at(&story, 62), Resting);
}

#[test]
fn a_word_of_completion_is_rest_once_it_was_announced() {
    let mut story = Story::of(vec![done("d1", 9)]);
    assert!(story.poll(10, WORKING).is_empty());
    assert_eq!(rest_at(&story, 11), Working);
    story.pulls = vec!["acme/shop#7".parse().unwrap()];
    assert_eq!(story.poll(20, "COMPLETED"), ["completed: acme/shop#7"]);
    assert_eq!(rest_at(&story, 21), Resting);
    // The list takes it back for a moment, and the log does not.
    story.poll(30, WORKING);
    assert_eq!(rest_at(&story, 31), Resting);
    spoken_to(&mut story, 35);
    assert_eq!(rest_at(&story, 36), Working);
    story.log.push(user("u1", 40));
    story.poll(41, WORKING);
    assert_eq!(rest_at(&story, 42), Working);
}

#[test]
fn work_after_a_word_of_completion_is_no_rest_before_it_falls_silent_too() {
    let mut story = Story::polled(vec![done("d1", 9)], 10, "COMPLETED");
    story.poll(40, "COMPLETED");
    story.log.push(worked("w2", 50));
    story.poll(51, WORKING);
    assert_eq!(rest_at(&story, 52), Working);
    story.poll(51 + 1200, WORKING);
    assert_eq!(rest_at(&story, 1252), Resting);
}

#[test]
fn whoever_waits_for_an_answer_may_push_once_there_is_one() {
    for state in [ASKING, "AWAITING_PLAN_APPROVAL", "PAUSED", "QUEUED", "NEW"] {
        let story = Story::polled(vec![], 10, state);
        assert_eq!(rest_at(&story, 11), Working, "{state}");
    }
}

#[test]
fn what_ended_its_job_says_what_its_session_does() {
    let mut failed = Story::polled(vec![], 10, "FAILED");
    failed.poll(99, "FAILED");
    assert!(failed.job.is_ended());
    assert_eq!(rest_at(&failed, 100), Failed);
    let mut story = Story::new();
    let cancelled = cancel(&story.job, "me", at(1)).unwrap();
    story.take(cancelled);
    assert_eq!(rest_at(&story, 2), Cancelled);
}

#[test]
fn a_session_of_an_earlier_attempt_answers_to_nobody() {
    let story = Story::new();
    let other: SessionId = "77".parse().unwrap();
    assert_eq!(
        session_status(&story.job, Some(&other), &story.timing, at(1)),
        Cancelled
    );
}

#[test]
fn a_return_is_awaited_after_later_words_and_not_for_ever() {
    let mut story = Story::polled(vec![done("d1", 9), user("u1", 9)], 10, "COMPLETED");
    let awaited =
        |story: &Story, second: i64| story.watch().awaits_return(at(second), &story.timing);
    assert!(!awaited(&story, 11));
    story.log.push(user("u2", 21));
    story.poll(30, "COMPLETED");
    let quiet = story.timing.quiet.as_secs();
    assert!(awaited(&story, 21 + quiet - 1));
    assert!(!awaited(&story, 21 + quiet));
}
