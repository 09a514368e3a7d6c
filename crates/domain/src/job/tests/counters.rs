//! How often the same thing is announced: as often as useful, then to a person once, then not at all.

use super::*;
use crate::effect::Effect;
use crate::event::Audience;
use crate::failure::{Failure, FailureClass};

fn whom(story: &Story) -> Vec<Audience> {
    story.events.iter().map(|event| event.audience).collect()
}

/// The last event says that the announcements end, and goes to a person.
fn ends_with_a_person(story: &Story, topic: AnnouncementTopic) {
    let most = usize::try_from(topic.most()).unwrap();
    assert_eq!(story.events.len(), most + 1, "{:?}", story.announced());
    let last = story.events.last().unwrap();
    assert_eq!(last.what.kind(), "too_often");
    assert_eq!(last.audience, Audience::Human);
    let others = &story.events[..most];
    assert!(others.iter().all(|event| event.what.kind() != "too_often"));
}

#[test]
fn a_silence_is_told_with_growing_gaps_and_then_to_a_person() {
    let mut story = Story::new();
    let told_at: Vec<i64> = (0..=10_000)
        .filter(|minute| !story.poll(minute * MINUTE, WORKING).is_empty())
        .collect();
    assert_eq!(told_at, [15, 30, 60, 120]);
    let (agent, human) = (Audience::Agent, Audience::Human);
    assert_eq!(whom(&story), [agent, agent, agent, human]);
    assert!(story.due.unwrap() > at(0));
    // It moves and falls silent again.
    story.log.push(worked("w1", 10_001 * MINUTE));
    assert!(story.poll(10_001 * MINUTE, WORKING).is_empty());
    assert_eq!(story.poll(10_016 * MINUTE, WORKING).len(), 1);
    assert_eq!(story.events[4].audience, agent);
}

#[test]
fn a_silence_that_nobody_is_told_of_any_more_is_looked_at_once_a_week() {
    let mut story = Story::new();
    for minute in [0, 15, 30, 60, 120] {
        story.poll(minute * MINUTE, WORKING);
    }
    let week = 7 * 24 * 60;
    for looked in (1..=4).map(|weeks| 120 + weeks * week) {
        assert_eq!(story.due, Some(at(looked * MINUTE)));
        assert!(story.poll(looked * MINUTE, WORKING).is_empty());
    }
    assert_eq!(whom(&story).len(), 4);
}

#[test]
fn whatever_is_open_for_weeks_is_looked_at_once_a_week() {
    let (day, week) = (24 * 60 * MINUTE, 7 * 24 * 60 * MINUTE);
    let stories = [
        (agent("a1", 5), ASKING),
        (planned("p1", 5), "AWAITING_PLAN_APPROVAL"),
        (done("d1", 5), "COMPLETED"),
    ];
    for (first, state) in stories {
        let mut story = Story::of(vec![first]);
        story.pulls = vec!["acme/shop#7".parse().unwrap()];
        story.poll(5, state);
        story.poll(day, state);
        let told = story.events.len();
        let mut looked = 5;
        for _ in 0..4 {
            looked += week;
            assert_eq!(story.due, Some(at(looked)), "{state}");
            // A poll that does not read the log is no such look.
            assert!(story.glance(looked, state).is_empty());
            assert_eq!(story.due, Some(at(looked)), "{state}");
            looked += 10;
            assert!(story.poll(looked, state).is_empty());
        }
        assert_eq!(story.due, Some(at(looked + week)), "{state}");
        assert_eq!(story.events.len(), told, "{state}");
    }
}

#[test]
fn a_silence_waits_for_a_day_at_most() {
    let mut story = Story::new();
    story.timing.stuck_after = jiff::SignedDuration::from_hours(15);
    let told_at: Vec<i64> = (0..=400)
        .filter(|hour| !story.poll(hour * 60 * MINUTE, WORKING).is_empty())
        .collect();
    assert_eq!(told_at, [15, 30, 54, 78]);
}

#[test]
fn a_session_that_moves_only_to_fall_silent_again_is_told_a_few_times() {
    let mut story = Story::new();
    for n in 0..100 {
        let minute = n * 21;
        story.log = vec![worked(&format!("w{n}"), minute * MINUTE)];
        story.poll(minute * MINUTE, WORKING);
        story.poll((minute + 20) * MINUTE, WORKING);
    }
    ends_with_a_person(&story, AnnouncementTopic::Stuck);
    // The merge logic can still see that the session rests.
    let job = &story.job;
    let now = at((99 * 21 + 20) * MINUTE);
    let session = SESSION.parse().unwrap();
    let rests = session_status(job, Some(&session), &story.timing, now);
    assert_eq!(rests, crate::merge::SessionStatus::Resting);
}

#[test]
fn a_session_that_asks_in_a_loop_is_told_a_few_times() {
    let mut story = Story::new();
    for n in 0..60 {
        let second = n * 100;
        story.log = vec![agent(&format!("a{n}"), second)];
        story.poll(second + 1, ASKING);
        story.log.push(user(&format!("u{n}"), second + 10));
        story.poll(second + 11, ASKING);
        story.log.push(worked(&format!("w{n}"), second + 20));
        story.poll(second + 21, WORKING);
    }
    ends_with_a_person(&story, AnnouncementTopic::Question);
    assert!(story.announced()[20].contains("text of a20"));
    // It is open all the same, for a reader who asks.
    story.log = vec![agent("a99", 9_000)];
    assert!(story.poll(9_001, ASKING).is_empty());
    assert!(pending_answer(&story.job).is_some_and(|asked| asked.turn.is_none()));
    assert!(story.poll(9_001 + 60 * 60 * 24, ASKING).is_empty());
}

#[test]
fn a_session_that_plans_in_a_loop_is_told_a_few_times() {
    let mut story = Story::new();
    for n in 0..60 {
        let second = n * 100;
        story.log = vec![planned(&format!("p{n}"), second)];
        for later in 1..5 {
            story.poll(second + later, "AWAITING_PLAN_APPROVAL");
        }
    }
    ends_with_a_person(&story, AnnouncementTopic::Plan);
}

#[test]
fn a_session_that_is_done_again_and_again_is_told_a_few_times() {
    let mut story = Story::new();
    story.pulls = vec!["acme/shop#7".parse().unwrap()];
    for n in 0..60 {
        let second = n * 100;
        story.log = vec![done(&format!("d{n}"), second)];
        story.poll(second + 1, "COMPLETED");
        story.log.push(user(&format!("u{n}"), second + 50));
        story.poll(second + 51, WORKING);
    }
    ends_with_a_person(&story, AnnouncementTopic::Completed);
    // What joins an unannounced completion is not announced either.
    story.log = vec![done("d99", 9_000)];
    story.poll(9_001, "COMPLETED");
    story.pulls = vec!["acme/shop#8".parse().unwrap()];
    assert!(story.poll(9_002, "COMPLETED").is_empty());
}

#[test]
fn orders_that_fail_in_a_loop_are_told_a_few_times() {
    let mut story = Story::new();
    for n in 0..60 {
        let cause = format!("c{n}");
        let step = say(&story.job, None, ("Yes", &cause), (at(n), &story.timing)).unwrap();
        let effect = Effect::new(step.effects[0].clone(), at(n));
        let refused = Failure::new(FailureClass::Invalid, "400");
        let step = order_failed(&story.job, &effect, &refused, at(n));
        story.take(step);
    }
    ends_with_a_person(&story, AnnouncementTopic::Order);
}

#[test]
fn another_attempt_counts_anew_but_for_nudges() {
    let mut story = Story::new();
    for minute in 0..=10_000 {
        story.poll(minute * MINUTE, WORKING);
    }
    story.job.nudges = 3;
    assert_eq!(story.watch().announcements.silences, 4);
    let over = cancel(&story.job, "me", at(0)).unwrap().aggregate;
    let queued = retry(&over, None, at(0)).unwrap().aggregate;
    let creating = start(&queued, at(0)).unwrap().aggregate;
    let view = view("222222222222", "QUEUED");
    story.job = created(&creating, &view, at(0), &story.timing).aggregate;
    assert_eq!(story.watch().announcements, AnnouncementCounters::default());
    assert_eq!(story.job.nudges, 3);
}

#[test]
fn words_to_a_silent_session_are_an_answer_until_its_silence_is_announced_again() {
    let mut story = Story::polled(vec![], 0, WORKING);
    assert_eq!(story.poll(15 * MINUTE, WORKING).len(), 1);
    let waits = |job: &Job| waits_for(job, None, None).what;
    assert_eq!(waits(&story.job), WaitReason::Silence);
    let timing = Timing::default();
    let said = |job: &Job, cause| say(job, None, ("Go on", cause), (at(16 * MINUTE), &timing));
    story.job = said(&story.job, "one").unwrap().aggregate;
    assert_eq!(waits(&story.job), WaitReason::Answered);
    assert_eq!(
        said(&story.job, "two").unwrap_err().code,
        "answered_already"
    );
    assert!(story.poll(30 * MINUTE, WORKING).is_empty());
    assert_eq!(story.poll(31 * MINUTE, WORKING).len(), 1);
    assert_eq!(waits(&story.job), WaitReason::Silence);
}

#[test]
fn what_jules_is_not_sent_or_needs_no_more_is_no_answer_to_a_silence() {
    let timing = Timing::default();
    let waits = |job: &Job| waits_for(job, None, None).what;
    // An approval of a plan that is worked on already stays here.
    let mut story = Story::new();
    story.policy.plan_approval = PlanApproval::Human;
    story.log = vec![planned("p1", 5), worked("w1", 10)];
    story.poll(15, WORKING);
    story.poll(20 * MINUTE, WORKING);
    assert_eq!(waits(&story.job), WaitReason::Silence);
    let approved = approve(&story.job, None, None, at(21 * MINUTE), &timing);
    assert_eq!(waits(&approved.unwrap().aggregate), WaitReason::Silence);
    // A session that is done has nothing to take up.
    let said = say(
        &story.job,
        None,
        ("Go on", "one"),
        (at(21 * MINUTE), &timing),
    );
    story.job = said.unwrap().aggregate;
    assert_eq!(waits(&story.job), WaitReason::Answered);
    story.poll(22 * MINUTE, "COMPLETED");
    assert_ne!(waits(&story.job), WaitReason::Answered);
}
