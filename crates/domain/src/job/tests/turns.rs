//! The answer chain: the agent, then the next one that the source names, and at last a person.

use super::*;
use crate::effect::Effect;
use crate::event::Audience;
use crate::failure::{Failure, FailureClass};
use crate::job::turns::{answered, is_wanted, unanswered};
use crate::job::{adds_to, answered_at, say};
use crate::policy::{Answer, Answerer, Answers};
use crate::refusal::NotNow;

/// A session that asks at second 5, under a source with this chain.
fn asking(steps: &[&str]) -> Story {
    let mut story = Story::new();
    let steps: Vec<Answer> = steps.iter().map(|step| step.parse().unwrap()).collect();
    story.policy.answers = Answers::new(steps).unwrap();
    story.log = vec![agent("a1", 5)];
    story
}

/// The outcome of one poll of an asking session: events with their receivers, and messages to the session.
fn poll(story: &mut Story, second: i64) -> Vec<String> {
    see(story, second, ASKING)
}

fn see(story: &mut Story, second: i64, state: &str) -> Vec<String> {
    let (events, effects) = (story.events.len(), story.effects.len());
    story.poll(second, state);
    let told = story.events[events..].iter().map(|event| {
        let whom = match event.audience {
            Audience::Agent => "agent",
            Audience::Human => "human",
            Audience::Nobody => "nobody",
        };
        format!("{whom}: {}", label(event))
    });
    let said = story.effects[effects..].iter().map(|effect| {
        if matches!(effect, Action::Jules(JulesAction::Say { .. })) {
            "nudge".to_owned()
        } else {
            effect.to_string()
        }
    });
    told.chain(said).collect()
}

fn turn(story: &Story) -> (Answerer, Option<Timestamp>) {
    let asked = pending_answer(&story.job).unwrap();
    (asked.turn.unwrap().who, asked.until)
}

#[test]
fn each_has_their_turn_until_its_deadline() {
    let mut story = asking(&["agent:2h", "nudge:20m", "human"]);
    assert_eq!(poll(&mut story, 10), ["agent: question: text of a1"]);
    let first = 10 + 2 * HOUR;
    assert_eq!(turn(&story), (Answerer::Agent, Some(at(first))));
    assert_eq!(story.due, Some(at(first)));
    assert!(poll(&mut story, first - 1).is_empty());
    assert_eq!(poll(&mut story, first), ["nudge"]);
    let second = first + 20 * MINUTE;
    assert_eq!(turn(&story), (Answerer::Nudge, Some(at(second))));
    assert!(poll(&mut story, second - 1).is_empty());
    assert_eq!(poll(&mut story, second), ["human: question: text of a1"]);
    assert_eq!(turn(&story), (Answerer::Human, None));
    assert_ne!(story.events[0].id, story.events[1].id);
    assert!(poll(&mut story, second + 200 * HOUR).is_empty());
}

#[test]
fn a_deadline_passes_only_for_whoever_has_read_the_log() {
    let mut story = asking(&["agent:2h", "human"]);
    poll(&mut story, 10);
    assert!(story.glance(3 * HOUR, ASKING).is_empty());
    // The answer was in the log all the time.
    story.log.push(user("u1", 3 * HOUR - 60));
    assert!(poll(&mut story, 3 * HOUR).is_empty());
    assert!(story.is_answered());
}

#[test]
fn an_answer_from_anywhere_ends_the_chain() {
    let mut story = asking(&["agent:2h", "human"]);
    poll(&mut story, 10);
    story.log.push(user("u1", HOUR));
    poll(&mut story, HOUR + 1);
    assert_eq!(pending_answer(&story.job), None);
    assert!(poll(&mut story, HOUR + 2 * MINUTE).is_empty());
    assert!(see(&mut story, HOUR + 3 * MINUTE, WORKING).is_empty());
    // Another question begins a chain of its own.
    story
        .log
        .extend([worked("w1", HOUR + 200), agent("a2", HOUR + 300)]);
    let asked_at = HOUR + 310;
    assert_eq!(poll(&mut story, asked_at), ["agent: question: text of a2"]);
    assert_eq!(turn(&story).1, Some(at(asked_at + 2 * HOUR)));
}

#[test]
fn flapping_neither_stops_nor_repeats_a_turn() {
    let mut story = asking(&["agent:2h", "human"]);
    poll(&mut story, 10);
    for second in 11..400 {
        let state = if second % 2 == 0 { ASKING } else { WORKING };
        assert!(see(&mut story, second, state).is_empty());
    }
    assert_eq!(
        poll(&mut story, 10 + 2 * HOUR),
        ["human: question: text of a1"]
    );
    for second in 0..200 {
        let state = if second % 2 == 0 { ASKING } else { WORKING };
        assert!(see(&mut story, 3 * HOUR + second, state).is_empty());
    }
}

#[test]
fn an_answer_on_its_way_is_waited_for() {
    let mut story = asking(&["agent:2h", "human"]);
    poll(&mut story, 10);
    let now = at(2 * HOUR);
    let step = say(&story.job, None, ("Yes", "c1"), (now, &story.timing)).unwrap();
    story.take(step);
    story.effects.clear();
    assert!(poll(&mut story, 10 + 2 * HOUR).is_empty());
    assert_eq!(story.due, Some(at(3 * HOUR)));
    // It never arrived, and no event says so.
    assert_eq!(poll(&mut story, 3 * HOUR), ["human: question: text of a1"]);
}

#[test]
fn an_answer_that_failed_for_good_holds_nobody_up() {
    let mut story = asking(&["agent:2h", "human"]);
    poll(&mut story, 10);
    let step = say(&story.job, None, ("Yes", "c1"), (at(HOUR), &story.timing)).unwrap();
    let effect = Effect::new(step.effects[0].clone(), at(HOUR));
    story.take(step);
    let refused = Failure::new(FailureClass::Invalid, "400");
    let step = order_failed(&story.job, &effect, &refused, at(HOUR + 1));
    assert_eq!(story.take(step).len(), 1);
    assert_eq!(turn(&story).1, Some(at(10 + 2 * HOUR)));
}

#[test]
fn an_answer_that_failed_for_good_calls_back_whoever_has_the_turn() {
    let mut story = asking(&["agent:2h", "human"]);
    poll(&mut story, 10);
    for (second, cause, whom) in [
        (HOUR, "c1", Audience::Agent),
        (3 * HOUR, "c2", Audience::Human),
    ] {
        poll(&mut story, second);
        let now = at(second);
        let step = say(&story.job, None, ("Yes", cause), (now, &story.timing)).unwrap();
        let effect = Effect::new(step.effects[0].clone(), now);
        story.take(step);
        assert!(pending_answer(&story.job).unwrap().is_answered);
        let refused = Failure::new(FailureClass::Invalid, "400");
        let step = order_failed(&story.job, &effect, &refused, at(second + 1));
        assert_eq!(story.take(step).len(), 1);
        assert_eq!(story.events.last().unwrap().audience, whom);
        let asked = pending_answer(&story.job).unwrap();
        assert!(!asked.is_answered, "it is open again");
    }
}

/// An answer is accepted; answers its effect.
fn answer(story: &mut Story, cause: &str, second: i64) -> Effect {
    let when = (at(second), &story.timing);
    let step = say(&story.job, None, ("Yes", cause), when).unwrap();
    let effect = Effect::new(step.effects[0].clone(), at(second));
    story.take(step);
    effect
}

/// What comes after an answer.
type AfterAnswer = fn(&mut Story);

#[test]
fn an_answer_that_failed_is_past_once_something_came_after_it() {
    let cases: [(&str, AfterAnswer, bool); 8] = [
        ("nothing", |_| {}, false),
        (
            "the same question",
            |story| {
                story.poll(HOUR + 60, WORKING);
                story.poll(HOUR + 61, ASKING);
            },
            false,
        ),
        (
            "the next turn",
            |story| {
                story.poll(10 + 2 * HOUR, ASKING);
            },
            true,
        ),
        (
            "another answer",
            |story| drop(answer(story, "c2", HOUR + 5)),
            true,
        ),
        (
            "an answer from elsewhere",
            |story| {
                story.log.push(user("u1", HOUR + 5));
                story.poll(HOUR + 10, ASKING);
            },
            true,
        ),
        (
            "another question",
            |story| {
                story
                    .log
                    .extend([user("u1", HOUR + 5), agent("a2", HOUR + 6)]);
                story.poll(HOUR + 10, ASKING);
            },
            true,
        ),
        (
            "another session",
            |story| {
                watching(&mut story.job).session = "7".parse().unwrap();
            },
            true,
        ),
        (
            "the end",
            |story| {
                let over = cancel(&story.job, "me", at(HOUR + 5)).unwrap();
                story.take(over);
            },
            true,
        ),
    ];
    for (what, happen, is_past) in cases {
        let mut story = asking(&["agent:2h", "human"]);
        poll(&mut story, 10);
        let effect = answer(&mut story, "c1", HOUR - 1);
        let refused = Failure::new(FailureClass::Invalid, "400");
        let step = order_failed(&story.job, &effect, &refused, at(HOUR));
        story.take(step);
        happen(&mut story);
        let told = is_outdated(&story.job, &effect.action, at(HOUR));
        assert_eq!(told, is_past, "{what}");
    }
}

#[test]
fn after_a_nudge_that_failed_for_good_people_who_were_asked_before_have_the_turn_again() {
    let mut story = asking(&["human:1h", "nudge:20m"]);
    poll(&mut story, 10);
    assert_eq!(poll(&mut story, 10 + HOUR), ["nudge"]);
    let effect = Effect::new(story.effects[0].clone(), at(10 + HOUR));
    let refused = Failure::new(FailureClass::Invalid, "400");
    let step = order_failed(&story.job, &effect, &refused, at(2 * HOUR));
    assert!(story.take(step).is_empty());
    assert!(poll(&mut story, 2 * HOUR + 1).is_empty());
    assert_eq!(turn(&story), (Answerer::Human, None));
}

#[test]
fn a_nudge_that_failed_for_good_is_the_next_ones_turn() {
    let mut story = asking(&["nudge:20m", "human"]);
    assert_eq!(poll(&mut story, 10), ["nudge"]);
    let effect = Effect::new(story.effects[0].clone(), at(10));
    let refused = Failure::new(FailureClass::Invalid, "400");
    let step = order_failed(&story.job, &effect, &refused, at(60));
    // No one ordered it.
    assert!(story.take(step).is_empty());
    assert_eq!(story.due, Some(at(60)));
    assert_eq!(poll(&mut story, 61), ["human: question: text of a1"]);
}

#[test]
fn late_words_reach_everybody_who_was_asked() {
    let mut story = asking(&["agent:2h", "human"]);
    story.log.clear();
    story.poll(10, ASKING);
    assert_eq!(poll(&mut story, 40), ["agent: question: -"]);
    assert_eq!(poll(&mut story, 40 + 2 * HOUR), ["human: question: -"]);
    story.log = vec![agent("a1", 9)];
    assert_eq!(
        story.poll(3 * HOUR, ASKING),
        ["+question: text of a1", "+question: text of a1"]
    );
    let whom: Vec<_> = story.amended.iter().map(|event| event.audience).collect();
    assert_eq!(whom, [Audience::Agent, Audience::Human]);
    for (amended, told) in story.amended.iter().zip(&story.events) {
        assert_eq!(
            (&amended.id, amended.observed_at),
            (&told.id, told.observed_at)
        );
    }
}

/// The session got the message to go on, and its log shows it.
fn nudged() -> Story {
    let mut story = asking(&["nudge:20m", "human"]);
    assert_eq!(poll(&mut story, 10), ["nudge"]);
    story.log.push(user("u1", 15));
    assert!(poll(&mut story, 20).is_empty());
    story
}

#[test]
fn a_session_that_only_asks_once_more_is_not_told_the_same_again() {
    let mut story = nudged();
    story.log.push(agent("a2", 25));
    assert_eq!(poll(&mut story, 30), ["human: question: text of a2"]);
    assert_eq!(turn(&story), (Answerer::Human, None));
}

#[test]
fn a_session_that_worked_in_between_is_told_to_go_on_a_few_times() {
    let mut story = nudged();
    for n in 2..=NUDGES_MAX + 2 {
        let second = 100 * i64::from(n);
        see(&mut story, second, WORKING);
        story.log.push(worked(&format!("w{n}"), second));
        story.log.push(agent(&format!("a{n}"), second + 5));
        let told = poll(&mut story, second + 10);
        if n <= NUDGES_MAX {
            assert_eq!(told, ["nudge"]);
        } else {
            assert_eq!(told, [format!("human: question: text of a{n}")]);
        }
        story.log.push(user(&format!("u{n}"), second + 15));
        poll(&mut story, second + 20);
    }
    assert_eq!(story.job.nudges, NUDGES_MAX);
}

#[test]
fn every_nudge_is_an_effect_of_its_own() {
    let mut story = nudged();
    see(&mut story, 100, WORKING);
    story.log.extend([worked("w2", 100), agent("a2", 105)]);
    assert_eq!(poll(&mut story, 110), ["nudge"]);
    assert_ne!(story.effects[0].to_string(), story.effects[1].to_string());
}

#[test]
fn a_plan_that_its_agent_leaves_is_shown_to_a_person_and_never_approved_by_itself() {
    let mut story = Story::new();
    story.policy.answers = Answers::new(vec![
        "agent:2h".parse().unwrap(),
        "nudge:1m".parse().unwrap(),
    ])
    .unwrap();
    story.log = vec![planned("p1", 5)];
    let waiting = "AWAITING_PLAN_APPROVAL";
    assert_eq!(see(&mut story, 10, waiting), ["agent: plan: p1"]);
    assert!(see(&mut story, 9 + 2 * HOUR, waiting).is_empty());
    assert_eq!(see(&mut story, 10 + 2 * HOUR, waiting), ["human: plan: p1"]);
    assert_eq!(turn(&story), (Answerer::Human, None));
    assert!(see(&mut story, 100 * HOUR, waiting).is_empty());
    assert!(story.effects.is_empty());
}

#[test]
fn where_nobody_can_be_woken_the_next_one_is_asked_at_once() {
    let source = crate::policy::Source {
        repo: "acme/shop".parse().unwrap(),
        account: "default".parse().unwrap(),
        agent: None,
        paused: false,
        branch: None,
        policy: asking(&["agent:2h", "nudge:20m"]).policy,
        timing: Timing::default(),
        pipeline: None,
        deliveries: crate::delivery::Rules::default(),
        sprints: crate::sprint::SprintRules::default(),
    };
    for (can_be_woken, told) in [(true, "agent: question: text of a1"), (false, "nudge")] {
        let mut story = asking(&["human"]);
        story.policy = source
            .policy_for(can_be_woken, &super::queued())
            .into_owned();
        assert_eq!(poll(&mut story, 10), [told]);
    }
}

/// The chain of a story where its agent takes no wakes any more.
fn falls_asleep(story: &mut Story) {
    story.policy.answers = story.policy.answers.without_agent();
}

#[test]
fn an_agent_that_takes_no_wakes_any_more_loses_its_turn_at_once() {
    for (steps, told) in [
        (&["agent:8h", "human"][..], "human: question: text of a1"),
        (&["agent:8h", "nudge:20m", "human"], "nudge"),
        (
            &["nudge:1m", "agent:8h", "human"],
            "human: question: text of a1",
        ),
        (&["agent"], "human: question: text of a1"),
    ] {
        let mut story = asking(steps);
        poll(&mut story, 10);
        if turn(&story).0 == Answerer::Nudge {
            poll(&mut story, 10 + 11 * 60);
        }
        assert_eq!(turn(&story).0, Answerer::Agent, "{steps:?}");
        falls_asleep(&mut story);
        assert_eq!(poll(&mut story, 800), [told], "{steps:?}");
        // Nothing more comes of it.
        let after = story.job.clone();
        assert!(poll(&mut story, 810).is_empty(), "{steps:?}");
        assert_eq!(story.job, after, "{steps:?}");
    }
}

#[test]
fn the_turn_of_an_agent_that_takes_no_wakes_ends_without_the_log_and_passes_on_with_it() {
    let mut story = asking(&["agent:8h", "human"]);
    poll(&mut story, 10);
    falls_asleep(&mut story);
    assert!(story.glance(20, ASKING).is_empty());
    assert_eq!(story.due, Some(at(20)));
    let ended = story.job.clone();
    assert!(story.glance(30, ASKING).is_empty());
    assert_eq!(story.job, ended, "it ends once");
    assert_eq!(poll(&mut story, 40), ["human: question: text of a1"]);
}

#[test]
fn a_chain_that_was_changed_meanwhile_goes_on_as_it_is_now() {
    let mut story = asking(&["agent:2h", "human"]);
    poll(&mut story, 10);
    story.policy.answers = Answers::new(vec!["agent".parse().unwrap()]).unwrap();
    // Only a person comes after the agent, and a person gets it.
    assert_eq!(poll(&mut story, 3 * HOUR), ["human: question: text of a1"]);
    let mut story = asking(&["human:1h", "agent"]);
    assert_eq!(poll(&mut story, 10), ["human: question: text of a1"]);
    story.policy.answers = Answers::new(vec!["human".parse().unwrap()]).unwrap();
    assert!(poll(&mut story, 3 * HOUR).is_empty());
    assert_eq!(turn(&story), (Answerer::Human, None));
    // The agent had it, and only people are left.
    let mut story = asking(&["agent:2h", "human"]);
    poll(&mut story, 10);
    story.policy.answers = Answers::new(vec!["human".parse().unwrap()]).unwrap();
    assert_eq!(poll(&mut story, 3 * HOUR), ["human: question: text of a1"]);
    assert!(poll(&mut story, 9 * HOUR).is_empty());
}

#[test]
fn a_nudge_that_waited_is_not_sent_once_somebody_answered() {
    let mut story = asking(&["nudge:20m", "human"]);
    poll(&mut story, 10);
    let watch = story.watch();
    let mut asked = watch.clone();
    let told = |watch: &Watch| watch.announced.question.clone().unwrap();
    let cause = format!("nudge:{}", told(&asked).event);
    assert!(is_wanted(&asked, &cause) && is_wanted(&asked, "answer"));
    assert!(!is_wanted(&asked, "nudge:of another question"));
    let nudge = Action::Jules(JulesAction::Say {
        session: asked.session.clone(),
        text: "go on".to_owned(),
        cause: cause.clone(),
    });
    let answer = Action::Jules(JulesAction::Say {
        session: asked.session.clone(),
        text: "red".to_owned(),
        cause: "answer".to_owned(),
    });
    answered(&mut asked, &answer, at(300));
    assert!(!is_wanted(&asked, &cause) && is_wanted(&asked, "answer"));
    // A late failure takes nothing back once an answer came.
    assert!(unanswered(&mut asked, &nudge, at(360)));
    assert_eq!(told(&asked).sent.last().unwrap().at, at(300));
}

/// Says something to the session of a story; returns what was refused.
fn say_as(story: &mut Story, second: i64, (text, cause): (&str, &str)) -> Result<(), NotNow> {
    let step = say(&story.job, None, (text, cause), (at(second), &story.timing))?;
    story.take(step);
    Ok(())
}

#[test]
fn the_same_answer_twice_is_refused_with_what_was_sent_and_another_is_an_addition() {
    let mut story = asking(&["human"]);
    poll(&mut story, 10);
    assert_eq!(adds_to(&story.job, "c1"), None);
    say_as(&mut story, 20, ("red", "c1")).unwrap();
    assert_eq!(answered_at(story.watch()), Some(at(20)));
    // A repeated request with the same cause is no second answer.
    say_as(&mut story, 21, ("red", "c1")).unwrap();
    assert_eq!(adds_to(&story.job, "c1"), None);
    let refused = say_as(&mut story, 22, (" red ", "c2")).unwrap_err();
    assert_eq!(refused.code, "answered_already");
    assert!(refused.sentence.contains("\"red\""), "{}", refused.sentence);
    assert_eq!(adds_to(&story.job, "c3"), Some(at(21)));
    say_as(&mut story, 23, ("or blue", "c3")).unwrap();
    // It is in the log, and the state lags.
    story.log.push(user("u1", 24));
    poll(&mut story, 30);
    assert!(story.is_answered());
    assert!(say_as(&mut story, 31, ("red", "c4")).is_err());
    // Once the session goes on, the same words are words like any other.
    see(&mut story, 40, WORKING);
    assert_eq!(answered_at(story.watch()), None);
    say_as(&mut story, 41, ("red", "c5")).unwrap();
}

#[test]
fn an_answer_that_does_not_arrive_in_an_hour_leaves_the_question_open_again() {
    let mut story = asking(&["human"]);
    poll(&mut story, 10);
    say_as(&mut story, 20, ("red", "c1")).unwrap();
    assert_eq!(story.due, Some(at(20 + HOUR)));
    assert!(poll(&mut story, 20 + HOUR - 1).is_empty());
    assert_eq!(answered_at(story.watch()), Some(at(20)));
    assert!(poll(&mut story, 20 + HOUR).is_empty());
    assert_eq!(answered_at(story.watch()), None);
    say_as(&mut story, 21 + HOUR, ("red", "c2")).unwrap();
}

#[test]
fn an_answer_that_failed_leaves_the_question_open_again() {
    let mut story = asking(&["human"]);
    poll(&mut story, 10);
    say_as(&mut story, 20, ("red", "c1")).unwrap();
    say_as(&mut story, 21, ("or blue", "c2")).unwrap();
    for (answer, left) in [(1, Some(at(20))), (0, None)] {
        let action = story.effects[answer].clone();
        let watch = watching(&mut story.job);
        assert!(!unanswered(watch, &action, at(60)));
        assert_eq!(answered_at(story.watch()), left);
    }
}
