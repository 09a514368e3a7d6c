//! Failures, silence, vanished sessions, and everything this version does not know.

use super::*;
use crate::job::{NUDGES_MAX, is_wanted, session_status};
use crate::merge::SessionStatus;
use crate::policy::Answers;

fn failure(id: &str, second: i64) -> Activity {
    let reason = "the machine burned down".to_owned();
    activity(id, second, ActivityKind::Failed { reason })
}

#[test]
fn a_failure_is_told_with_its_reason_and_ends_the_job() {
    let mut story = Story::of(vec![failure("f1", 9)]);
    assert_eq!(
        story.poll(10, "FAILED"),
        ["session_failed: the machine burned down"]
    );
    assert!(story.job.is_ended());
    assert!(story.poll(20, "FAILED").is_empty());
    assert_eq!(story.looks, [FollowUp::Slots("default".parse().unwrap())]);
}

#[test]
fn a_reason_may_come_a_little_late() {
    let mut story = Story::new();
    assert!(story.poll(10, "FAILED").is_empty());
    assert_eq!(story.due, Some(at(40)));
    story.log = vec![failure("f1", 9)];
    assert_eq!(
        story.poll(39, "FAILED"),
        ["session_failed: the machine burned down"]
    );
}

#[test]
fn a_failure_without_a_reason_is_told_too() {
    let mut story = Story::new();
    assert!(story.poll(10, "FAILED").is_empty());
    assert_eq!(
        story.poll(40, "FAILED"),
        [
            "session_failed: Jules gave no reason; nothing was done before it. Look at the session's page, then retry the job, with a reason if one can be seen."
        ]
    );
}

#[test]
fn a_failure_whose_reason_is_empty_tells_what_was_done_last() {
    let mut story = Story::new();
    let reason = "  ".to_owned();
    let empty = activity("f1", 9, ActivityKind::Failed { reason });
    story.log = vec![worked("w1", 8), empty];
    let told = story.poll(10, "FAILED");
    let start = "session_failed: Jules gave no reason; the last thing in its log: Running tests.";
    assert!(told[0].starts_with(start), "{told:?}");
    let JobPhase::Ended(Ending {
        how: EndReason::Failed { reason },
        ..
    }) = &story.job.phase
    else {
        panic!("{:?}", story.job.phase);
    };
    assert!(reason.contains("gave no reason"));
}

#[test]
fn stuck_is_told_after_exactly_a_window_and_again_only_after_another() {
    let mut story = Story::polled(vec![worked("w1", 0)], 0, WORKING);
    assert_eq!(story.due, Some(at(90 * MINUTE)));
    assert!(story.poll(15 * MINUTE - 1, WORKING).is_empty());
    assert_eq!(story.poll(15 * MINUTE, WORKING), ["stuck: Running tests"]);
    assert!(story.poll(15 * MINUTE + 1, WORKING).is_empty());
    assert!(story.poll(30 * MINUTE - 1, WORKING).is_empty());
    assert_eq!(story.poll(30 * MINUTE, WORKING), ["stuck: Running tests"]);
    assert_ne!(story.events[0].id, story.events[1].id);
}

#[test]
fn the_row_of_a_session_stays_where_it_is_when_it_begins_to_work() {
    let mut story = Story::polled(vec![], 0, "QUEUED");
    let begun = story.due;
    story.log = vec![worked("w1", MINUTE)];
    story.poll(MINUTE, WORKING);
    // Its row is earlier than necessary, so it is left there.
    assert_eq!(begun, Some(at(90 * MINUTE)));
    assert_eq!(story.due, Some(at(91 * MINUTE)));
}

#[test]
fn a_queued_session_has_an_hour() {
    let mut story = Story::new();
    assert!(story.poll(60 * MINUTE - 1, "QUEUED").is_empty());
    assert_eq!(story.poll(60 * MINUTE, "QUEUED"), ["stuck: -"]);
}

#[test]
fn activities_begin_a_new_window() {
    let mut story = Story::polled(vec![], 0, WORKING);
    story.log = vec![worked("w1", 14 * MINUTE)];
    assert!(story.poll(15 * MINUTE, WORKING).is_empty());
    assert!(story.poll(29 * MINUTE - 1, WORKING).is_empty());
    assert_eq!(story.poll(29 * MINUTE, WORKING).len(), 1);
    // Progress after the announcement counts from the progress, not from the announcement.
    story.log.push(worked("w2", 31 * MINUTE));
    story.poll(32 * MINUTE, WORKING);
    assert!(story.poll(46 * MINUTE - 1, WORKING).is_empty());
    assert_eq!(story.poll(46 * MINUTE, WORKING).len(), 1);
}

#[test]
fn a_status_change_begins_a_new_window() {
    let mut story = Story::polled(vec![], 10 * MINUTE, "PLANNING");
    story.poll(20 * MINUTE, WORKING);
    assert!(story.poll(35 * MINUTE - 1, WORKING).is_empty());
    assert_eq!(story.poll(35 * MINUTE, WORKING).len(), 1);
}

#[test]
fn stuck_needs_a_fresh_reading_of_the_log() {
    let mut story = Story::polled(vec![], 0, WORKING);
    for minute in 20..100 {
        assert!(story.glance(minute * MINUTE, WORKING).is_empty());
    }
    assert_eq!(story.poll(100 * MINUTE, WORKING).len(), 1);
}

#[test]
fn nothing_is_stuck_while_a_question_or_a_plan_is_open() {
    let mut story = Story::polled(vec![agent("a1", 5)], 10, ASKING);
    assert!(story.poll(470 * MINUTE, ASKING).is_empty());
    let mut story = Story::polled(vec![planned("p1", 5)], 10, "AWAITING_PLAN_APPROVAL");
    assert!(
        story
            .poll(470 * MINUTE, "AWAITING_PLAN_APPROVAL")
            .is_empty()
    );
}

#[test]
fn an_answer_that_moves_nothing_for_a_window_is_stuck() {
    let mut story = Story::polled(vec![agent("a1", 5)], 10, ASKING);
    story.log.push(user("u1", 60));
    story.poll(70, ASKING);
    assert!(story.poll(70 + 15 * MINUTE - 1, ASKING).is_empty());
    assert_eq!(
        story.poll(70 + 15 * MINUTE, ASKING),
        ["stuck: (message to Jules) answer"]
    );
}

#[test]
fn a_resting_session_is_not_stuck_and_one_in_progress_for_ever_is_told_a_few_times() {
    let mut story = Story::polled(vec![done("d1", 1)], 0, "COMPLETED");
    story.poll(60, "COMPLETED");
    assert!(story.poll(500 * MINUTE, "COMPLETED").is_empty());
    let mut story = Story::new();
    for minute in 0..=200 {
        story.poll(minute * MINUTE, WORKING);
    }
    assert_eq!(story.events.len(), 4);
}

#[test]
fn clocks_ahead_of_ours_neither_postpone_stuck_nor_hide_what_follows() {
    let mut story = Story::new();
    let mut odd = agent("a1", 0);
    odd.at = Timestamp::MAX;
    story.log = vec![odd, worked("w1", 600)];
    story.poll(0, WORKING);
    assert!(story.poll(15 * MINUTE - 1, WORKING).is_empty());
    assert_eq!(story.poll(15 * MINUTE, WORKING).len(), 1);
    story.log.push(agent("a2", 21 * MINUTE));
    assert_eq!(story.poll(21 * MINUTE, ASKING), ["question: text of a2"]);
}

#[test]
fn logs_are_read_in_any_order_and_repetitions_change_nothing() {
    let mut newest_first = Story::polled(
        vec![agent("a2", 30), user("u1", 20), agent("a1", 10)],
        40,
        WORKING,
    );
    let oldest_first = Story::polled(
        vec![agent("a1", 10), user("u1", 20), agent("a2", 30)],
        40,
        WORKING,
    );
    assert_eq!(newest_first.job, oldest_first.job);
    newest_first.log.reverse();
    newest_first.poll(50, WORKING);
    assert_eq!(newest_first.job, oldest_first.job);
}

#[test]
fn twins_in_the_same_second_are_both_read() {
    let mut story = Story::polled(vec![agent("a1", 10)], 11, WORKING);
    story.log = vec![agent("a1", 10), agent("a2", 10)];
    assert_eq!(story.poll(12, ASKING), ["question: text of a2"]);
    // An older one within the overlap does not push a newer one aside.
    story.log.push(Activity {
        at: at(10)
            .checked_sub(jiff::SignedDuration::from_millis(500))
            .unwrap(),
        ..agent("a0", 0)
    });
    assert!(story.poll(13, ASKING).is_empty());
    assert_eq!(story.watch().log.agent.as_ref().unwrap().id.as_str(), "a2");
}

#[test]
fn unknown_states_and_kinds_are_kept() {
    let mut story = Story::new();
    let label = "hologramRendered".to_owned();
    story.log = vec![activity("x1", 5, ActivityKind::Other { label })];
    assert!(story.poll(10, "MEDITATING").is_empty());
    assert_eq!(story.watch().state.as_str(), "MEDITATING");
    assert_eq!(
        story.watch().log.last_words.as_deref(),
        Some("hologramRendered")
    );
    let told = story.poll(10 + 15 * MINUTE, "MEDITATING");
    assert!(told[0].starts_with("unknown_state: Jules says `MEDITATING` of"));
    assert!(told[0].ends_with("The last thing in its log: hologramRendered"));
    assert!(story.poll(4000, "").is_empty());
}

#[test]
fn an_unknown_state_holds_no_slot_once_it_was_told_and_takes_one_back_when_it_moves() {
    let mut story = Story::polled(vec![], 10, "AWAITING_USER_INPUT");
    assert!(story.job.holds_slot());
    story.poll(10 + 15 * MINUTE, "AWAITING_USER_INPUT");
    assert!(!story.job.holds_slot());
    assert_eq!(story.looks, [FollowUp::Slots("default".parse().unwrap())]);
    story.log.push(worked("w1", 20 * MINUTE));
    story.poll(20 * MINUTE, "AWAITING_USER_INPUT");
    assert!(story.job.holds_slot());
}

#[test]
fn only_activities_of_the_agent_move_the_clock_of_silence() {
    let mut story = Story::polled(vec![worked("w1", 0)], 0, WORKING);
    story.log.push(user("u1", 10 * MINUTE));
    let label = "Session was shown".to_owned();
    story
        .log
        .push(activity("s1", 12 * MINUTE, ActivityKind::Other { label }));
    assert!(story.poll(15 * MINUTE - 1, WORKING).is_empty());
    assert_eq!(story.poll(15 * MINUTE, WORKING).len(), 1);
}

#[test]
fn a_session_that_was_spoken_to_after_its_silence_was_told_does_not_rest() {
    let mut story = Story::polled(vec![worked("w1", 0)], 0, WORKING);
    story.poll(15 * MINUTE, WORKING);
    let rests = |story: &Story, second| {
        let session = SESSION.parse().unwrap();
        session_status(&story.job, Some(&session), &story.timing, at(second))
            == SessionStatus::Resting
    };
    assert!(rests(&story, 16 * MINUTE));
    story.log.push(user("u1", 17 * MINUTE));
    story.poll(17 * MINUTE, WORKING);
    assert!(!rests(&story, 17 * MINUTE));
}

/// A paused session whose source has this chain of answers.
fn paused(answers: &[&str]) -> Story {
    let mut story = Story::new();
    let steps = answers.iter().map(|step| step.parse().unwrap()).collect();
    story.policy.answers = Answers::new(steps).unwrap();
    story.log = vec![worked("w1", 5)];
    story.poll(10, WORKING);
    story
}

#[test]
fn a_pause_is_told_after_two_polls_and_holds_no_slot_from_then_on() {
    let mut story = paused(&["agent:2h", "human"]);
    assert!(story.poll(60, "PAUSED").is_empty());
    assert!(story.job.holds_slot());
    assert!(story.poll(89, "PAUSED").is_empty());
    let told = story.poll(90, "PAUSED");
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("session_paused: Jules has paused the session since"));
    assert!(told[0].contains("A message wakes most paused sessions"));
    assert!(told[0].ends_with("The last thing in its log: Running tests"));
    assert!(!story.job.holds_slot() && story.effects.is_empty());
    assert_eq!(story.looks, [FollowUp::Slots("default".parse().unwrap())]);
    assert!(story.poll(100, "PAUSED").is_empty());
    story.poll(120, WORKING);
    assert!(story.job.holds_slot());
}

#[test]
fn a_paused_session_is_told_to_go_on_first_where_gaffer_may_answer() {
    let mut story = paused(&["nudge:20m", "human"]);
    story.poll(60, "PAUSED");
    assert!(story.poll(90, "PAUSED").is_empty());
    let [Action::Jules(JulesAction::Say { text, cause, .. })] = story.effects.as_slice() else {
        panic!("{:?}", story.effects);
    };
    assert!(text.contains("go on"), "{text}");
    assert!(is_wanted(story.watch(), cause));
    assert!(story.poll(90 + 10 * MINUTE - 1, "PAUSED").is_empty());
    let told = story.poll(90 + 10 * MINUTE, "PAUSED");
    assert!(told[0].contains("It was told to go on at"), "{told:?}");
    assert_eq!(story.effects.len(), 1);
}

#[test]
fn a_pause_that_a_message_ends_is_told_to_nobody() {
    let mut story = paused(&["nudge:20m", "human"]);
    story.poll(60, "PAUSED");
    story.poll(90, "PAUSED");
    let [Action::Jules(JulesAction::Say { cause, .. })] = story.effects.as_slice() else {
        panic!("{:?}", story.effects);
    };
    let cause = cause.clone();
    assert!(story.poll(160, WORKING).is_empty());
    assert!(!is_wanted(story.watch(), &cause));
    assert!(story.events.is_empty());
    // The next pause gets the message to go on as well.
    story.poll(300, "PAUSED");
    story.poll(330, "PAUSED");
    assert_eq!(story.effects.len(), 2);
}

#[test]
fn only_a_paused_session_is_told_to_go_on() {
    for state in ["ON_HOLIDAY", WORKING, "QUEUED", "PLANNING"] {
        let mut story = paused(&["nudge:20m", "human"]);
        story.poll(60, state);
        let told = story.poll(120 * MINUTE, state);
        assert_eq!(told.len(), 1, "{state}: {told:?}");
        assert!(story.effects.is_empty(), "{state}: {:?}", story.effects);
    }
}

#[test]
fn a_session_that_pauses_again_and_again_is_told_to_go_on_a_few_times_and_then_somebody_is_told() {
    let mut story = paused(&["nudge:20m", "human"]);
    let pauses = i64::from(NUDGES_MAX) + 1;
    for n in 0..pauses {
        let begun = n * 10 * MINUTE;
        story.poll(begun + 60, "PAUSED");
        story.poll(begun + 90, "PAUSED");
        story.poll(begun + 120, WORKING);
    }
    assert_eq!(story.effects.len(), usize::try_from(NUDGES_MAX).unwrap());
    assert_eq!(story.events.len(), 1, "{:?}", story.announced());
    assert!(story.announced()[0].starts_with("session_paused"));
}

#[test]
fn a_fresh_session_may_be_invisible_for_the_grace_window() {
    let mut story = Story::new();
    assert!(story.not_found(5).is_empty());
    assert_eq!(story.due, Some(at(125)));
    assert!(story.not_found(124).is_empty());
    story.poll(130, "QUEUED");
    assert_eq!(story.watch().missing_since, None);
}

#[test]
fn a_flicker_is_forgiven_and_a_lasting_404_ends_the_job() {
    let mut story = Story::polled(vec![], 10, WORKING);
    assert!(story.not_found(500).is_empty());
    assert!(story.not_found(600).is_empty());
    story.poll(610, WORKING);
    assert!(story.not_found(620).is_empty());
    assert!(story.not_found(739).is_empty());
    let lost = story.not_found(740);
    assert!(
        lost[0].starts_with("invalid_job: Jules has not known session"),
        "{lost:?}"
    );
    assert!(matches!(&story.job.phase, JobPhase::Ended(ending) if ending.how == EndReason::Lost));
    assert!(story.not_found(900).is_empty());
    assert!(story.poll(910, WORKING).is_empty());
}

#[test]
fn another_session_shown_by_mistake_changes_nothing() {
    let mut story = Story::polled(vec![], 10, WORKING);
    let view = view("999999999999", "FAILED");
    let sight = Observation::Seen(Box::new(Snapshot {
        view,
        activities: Some(vec![failure("f1", 5)]),
    }));
    let job = story.job.clone();
    assert!(story.decide(20, &sight).is_empty());
    assert_eq!(story.job, job);
}
