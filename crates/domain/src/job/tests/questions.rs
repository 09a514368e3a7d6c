//! Questions: one event each, with its text, however the answers of Jules lag and flap.

use super::*;
use crate::ids::EventId;

#[test]
fn a_question_is_announced_once_however_often_it_is_seen() {
    let mut story = Story::of(vec![agent("a1", 5)]);
    assert_eq!(story.poll(10, ASKING), ["question: text of a1"]);
    for second in 11..60 {
        assert!(story.poll(second, ASKING).is_empty());
        assert!(story.glance(second, ASKING).is_empty());
    }
}

#[test]
fn text_that_comes_within_half_a_minute_is_waited_for() {
    let mut story = Story::new();
    assert!(story.poll(10, ASKING).is_empty());
    assert_eq!(story.due, Some(at(40)));
    story.log = vec![agent("a1", 9)];
    assert_eq!(story.poll(39, ASKING), ["question: text of a1"]);
}

#[test]
fn without_text_in_half_a_minute_the_question_goes_out_without() {
    let mut story = Story::new();
    assert!(story.poll(10, ASKING).is_empty());
    assert!(story.poll(39, ASKING).is_empty());
    assert_eq!(story.poll(40, ASKING), ["question: -"]);
    assert!(story.poll(500, ASKING).is_empty());
}

#[test]
fn late_text_joins_the_open_question_under_the_same_id() {
    let mut story = Story::polled(vec![], 10, ASKING);
    story.poll(40, ASKING);
    story.log = vec![agent("a1", 9)];
    assert_eq!(story.poll(50, ASKING), ["+question: text of a1"]);
    assert_eq!(story.amended[0].id, story.events[0].id);
    assert_eq!(story.amended[0].observed_at, story.events[0].observed_at);
    assert!(story.poll(60, ASKING).is_empty());
    // Nor does flapping afterwards make it another question.
    assert!(story.poll(70, WORKING).is_empty());
    assert!(story.poll(80, ASKING).is_empty());
}

#[test]
fn an_old_answered_message_does_not_close_a_question_without_text() {
    let mut story = Story::polled(vec![agent("a1", 1), user("u1", 2)], 10, ASKING);
    assert_eq!(story.poll(40, ASKING), ["question: -"]);
    assert!(story.poll(50, ASKING).is_empty());
    assert!(matches!(
        story.watch().attention,
        Attention::Question { .. }
    ));
    story.log.push(agent("a2", 9));
    assert_eq!(story.poll(60, ASKING), ["+question: text of a2"]);
}

#[test]
fn late_text_after_flapping_still_joins() {
    let mut story = Story::polled(vec![], 10, ASKING);
    story.poll(40, ASKING);
    story.poll(50, WORKING);
    story.log = vec![agent("a1", 9)];
    assert_eq!(story.poll(60, ASKING), ["+question: text of a1"]);
    assert_eq!(story.events.len(), 1);
}

#[test]
fn words_after_the_late_ones_are_another_question() {
    let mut story = Story::polled(vec![], 10, ASKING);
    story.poll(40, ASKING);
    story.log = vec![agent("a1", 9)];
    assert_eq!(story.poll(50, ASKING), ["+question: text of a1"]);
    story.poll(60, WORKING);
    story.log.push(agent("a2", 20));
    assert_eq!(story.poll(70, ASKING), ["question: text of a2"]);
}

#[test]
fn a_question_without_text_that_flaps_is_the_same() {
    let mut story = Story::polled(vec![], 10, ASKING);
    assert_eq!(story.poll(40, ASKING), ["question: -"]);
    for second in 50..90 {
        let state = if second % 2 == 0 { WORKING } else { ASKING };
        assert!(story.poll(second, state).is_empty());
    }
}

#[test]
fn a_question_without_text_that_comes_back_and_stays_is_the_same() {
    let mut story = Story::polled(vec![], 10, ASKING);
    assert_eq!(story.poll(40, ASKING), ["question: -"]);
    assert!(story.poll(50, WORKING).is_empty());
    assert!(story.poll(60, ASKING).is_empty());
    let open = |story: &Story| matches!(&story.watch().attention, Attention::Question { event, .. } if *event == story.events[0].id);
    assert!(open(&story));
    assert!(story.poll(200, ASKING).is_empty());
    assert!(open(&story));
}

#[test]
fn after_jules_went_on_another_question_without_text_is_another() {
    let mut story = Story::polled(vec![], 10, ASKING);
    assert_eq!(story.poll(40, ASKING), ["question: -"]);
    story.log.push(worked("w1", 50));
    assert!(story.poll(51, WORKING).is_empty());
    assert!(story.poll(60, ASKING).is_empty());
    assert_eq!(story.poll(90, ASKING), ["question: -"]);
    assert_ne!(story.events[0].id, story.events[1].id);
}

#[test]
fn after_an_answer_the_next_question_is_another() {
    let mut story = Story::polled(vec![agent("a1", 5)], 10, ASKING);
    story.log.push(user("u1", 20));
    assert!(story.poll(25, ASKING).is_empty());
    assert!(story.is_answered());
    assert!(story.poll(30, WORKING).is_empty());
    story.log.push(agent("a2", 40));
    assert_eq!(story.poll(45, ASKING), ["question: text of a2"]);
    assert_ne!(story.events[0].id, story.events[1].id);
}

/// What a poll shows to be answered.
fn answered_by(story: &mut Story, second: i64, state: &str) -> Vec<EventId> {
    let before = story.job.clone();
    story.poll(second, state);
    answered_since(&before, &story.job)
}

#[test]
fn words_after_a_question_answer_it_and_flapping_and_late_ones_do_not() {
    let mut story = Story::polled(vec![agent("a1", 5)], 10, ASKING);
    assert_eq!(answered_by(&mut story, 15, WORKING), []);
    assert_eq!(answered_by(&mut story, 18, ASKING), []);
    story.log.push(user("u1", 4));
    assert_eq!(answered_by(&mut story, 20, ASKING), []);
    story.log.push(user("u2", 21));
    let told = |story: &Story, place: usize| story.events[place].id.clone();
    let answered = answered_by(&mut story, 25, WORKING);
    assert_eq!(answered, [told(&story, 0)]);
    story.log.push(agent("a2", 30));
    assert_eq!(answered_by(&mut story, 40, ASKING), []);
    // One that is followed by another is not asked any more, and neither is one whose session is over.
    story.log.push(worked("w1", 45));
    story.poll(46, WORKING);
    story.log.push(agent("a3", 50));
    assert_eq!(answered_by(&mut story, 55, ASKING), [told(&story, 1)]);
    story.poll(60, "FAILED");
    let answered = answered_by(&mut story, 100, "FAILED");
    assert_eq!(answered, [told(&story, 2)]);
}

#[test]
fn answer_and_next_question_between_two_polls_are_two_questions() {
    let mut story = Story::polled(vec![agent("a1", 5)], 10, ASKING);
    story.log.extend([user("u1", 12), agent("a2", 15)]);
    assert_eq!(story.poll(20, ASKING), ["question: text of a2"]);
    assert_eq!(story.events.len(), 2);
}

#[test]
fn next_question_after_one_without_text_is_another() {
    let mut story = Story::polled(vec![], 10, ASKING);
    story.poll(40, ASKING);
    story.log = vec![agent("a1", 9), user("u1", 45), agent("a2", 48)];
    assert_eq!(story.poll(50, ASKING), ["question: text of a2"]);
}

#[test]
fn two_messages_in_one_breath_are_one_question() {
    let mut story = Story::polled(vec![agent("a1", 5)], 10, ASKING);
    story.log.push(agent("a2", 11));
    assert_eq!(
        story.poll(20, ASKING),
        ["+question: text of a1\n\ntext of a2"]
    );
    assert!(story.poll(30, WORKING).is_empty());
    assert!(story.poll(40, ASKING).is_empty());
    assert_eq!(story.events.len(), 1);
}

#[test]
fn a_question_after_jules_went_on_by_itself_is_another() {
    let mut story = Story::polled(vec![agent("a1", 5)], 10, ASKING);
    story.log.push(worked("w1", 20));
    story.poll(20, WORKING);
    assert!(story.poll(30, ASKING).is_empty());
    story.log.push(agent("a2", 29));
    assert_eq!(story.poll(40, ASKING), ["question: text of a2"]);
}

#[test]
fn a_question_already_answered_when_first_seen_is_no_question() {
    let mut story = Story::new();
    story.updated = Some(5);
    story.log = vec![agent("a1", 5), user("u1", 8)];
    for second in [10, 60, 600] {
        assert!(story.poll(second, ASKING).is_empty());
    }
}

#[test]
fn a_message_older_than_the_question_that_turns_up_late_is_no_answer() {
    let mut story = Story::polled(vec![agent("a1", 10)], 11, ASKING);
    story.log.insert(0, user("u0", 10));
    story.log[0].at = at(10)
        .checked_sub(jiff::SignedDuration::from_millis(400))
        .unwrap();
    assert!(story.poll(12, ASKING).is_empty());
    assert!(matches!(
        story.watch().attention,
        Attention::Question { .. }
    ));
}

#[test]
fn flapping_states_announce_nothing_twice() {
    let mut story = Story::of(vec![agent("a1", 5)]);
    for second in 10..60 {
        let state = if second % 3 == 0 { ASKING } else { WORKING };
        story.poll(second, state);
    }
    assert_eq!(story.announced(), ["question: text of a1"]);
}

#[test]
fn secrets_in_a_question_are_neither_kept_nor_told() {
    let mut story = Story::new();
    let text = "Is ghp_0123456789abcdefghijABCDEFGHIJ012345 right?".to_owned();
    story.log = vec![activity("a1", 5, ActivityKind::AgentMessaged { text })];
    assert_eq!(story.poll(10, ASKING), ["question: Is [secret] right?"]);
    let stored = serde_json::to_string(&story.job).unwrap();
    assert!(!stored.contains("ghp_"), "{stored}");
}
