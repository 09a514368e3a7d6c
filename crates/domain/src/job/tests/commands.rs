//! What people, agents and performed effects do to a job.

use jiff::SignedDuration;

use super::*;
use crate::effect::{Effect, EffectState};
use crate::event::{Audience, ErrorCause};
use crate::facts::PullState;
use crate::failure::{Failure, FailureClass};
use crate::refusal::{About, NotNow};

fn archive(session: &str) -> Vec<Action> {
    vec![Action::Jules(JulesAction::Archive {
        session: session.parse().unwrap(),
    })]
}

fn sha() -> CommitSha {
    "0123456789abcdef0123456789abcdef01234567".parse().unwrap()
}

fn prompted(prompt: &str) -> NewJob {
    let prompt = prompt.to_owned();
    NewJob {
        prompt,
        ..new_job()
    }
}

fn code<T: std::fmt::Debug>(refused: Result<T, NotNow>) -> &'static str {
    refused.unwrap_err().code
}

#[test]
fn a_new_job_waits_for_a_slot_and_is_named_by_its_first_line() {
    let step = create(new_job(), at(0)).unwrap();
    assert_eq!(step.aggregate.title, "Fix the cart");
    assert_eq!(step.due, Some(at(0)));
    assert_eq!(step.follow_ups, [FollowUp::Job(step.aggregate.id.clone())]);
    let prompt = |prompt: String| create(prompted(&prompt), at(0));
    assert_eq!(code(prompt("  \n".to_owned())), "prompt_empty");
    assert_eq!(
        code(prompt("x".repeat(PROMPT_BYTES_MAX + 1))),
        "prompt_too_long"
    );
    assert!(prompt("x".repeat(PROMPT_BYTES_MAX)).is_ok());
}

#[test]
fn a_text_that_is_refused_is_named_by_its_field() {
    let create = |prompt: &str| create(prompted(prompt), at(0));
    let (job, timing) = (watched_job(), Timing::default());
    let say = |text: &str| say(&job, None, (text, "c1"), (at(0), &timing));
    let long = "x".repeat(PROMPT_BYTES_MAX.max(MESSAGE_BYTES_MAX) + 1);
    for (refused, code, field) in [
        (create(" "), "prompt_empty", "prompt"),
        (create(&long), "prompt_too_long", "prompt"),
        (say(" "), "message_empty", "message"),
        (say(&long), "message_too_long", "message"),
        (retry(&job, Some(&long), at(0)), "reason_too_long", "reason"),
    ] {
        let refused = refused.unwrap_err();
        let named = (refused.code, refused.about);
        assert_eq!(named, (code, About::Field(field)));
    }
}

#[test]
fn started_once() {
    let step = start(&queued(), at(5)).unwrap();
    assert_eq!(
        step.effects[0].to_string(),
        format!("create:{}#1", queued().id)
    );
    assert!(step.due.is_some());
    assert_eq!(code(start(&step.aggregate, at(6))), "not_queued");
}

#[test]
fn a_session_created_after_a_cancel_is_put_away() {
    let timing = Timing::default();
    let cancelled = cancel(&creating(), "me", at(1)).unwrap().aggregate;
    let step = created(&cancelled, &view(SESSION, "QUEUED"), at(2), &timing);
    assert_eq!(step.effects, archive(SESSION));
    assert!(step.aggregate.is_ended());
}

#[test]
fn a_session_of_an_earlier_attempt_is_not_taken_for_the_present_one() {
    let timing = Timing::default();
    let cancelled = cancel(&creating(), "me", at(1)).unwrap().aggregate;
    let second = start(&retry(&cancelled, None, at(2)).unwrap().aggregate, at(3))
        .unwrap()
        .aggregate;
    let mut late = view(SESSION, "QUEUED");
    late.title = format!("{} Fix the cart", creating().marker());
    let step = created(&second, &late, at(4), &timing);
    assert_eq!(
        (step.effects, step.aggregate),
        (archive(SESSION), second.clone())
    );
    let mut own = view("222222222222", "QUEUED");
    own.title = format!("{} Fix the cart", second.marker());
    let step = created(&second, &own, at(5), &timing);
    assert_eq!(step.aggregate.session().unwrap().as_str(), "222222222222");
}

#[test]
fn a_session_that_is_created_twice_over_changes_nothing() {
    let timing = Timing::default();
    let again = created(&watched_job(), &view(SESSION, "QUEUED"), at(9), &timing);
    assert_eq!((again.effects, again.aggregate), (vec![], watched_job()));
}

#[test]
fn refusals_wait_longer_each_time_and_end_after_more_than_a_day() {
    let later = Failure::new(FailureClass::Precondition, "quota");
    let (mut job, mut now, mut waits) = (creating(), 0, Vec::new());
    let last = loop {
        let step = creation_failed(&job, &later, at(now));
        let JobPhase::Queued { not_before, .. } = step.aggregate.phase else {
            break step;
        };
        assert!(step.events.is_empty());
        assert_eq!(step.due, Some(not_before));
        waits.push(not_before.duration_since(at(now)).as_secs());
        now = not_before.duration_since(at(0)).as_secs();
        job = start(&step.aggregate, not_before).unwrap().aggregate;
    };
    assert_eq!(&waits[..7], [40, 80, 160, 320, 640, 1280, 1800]);
    assert_eq!(waits.len(), REFUSALS_MAX as usize);
    assert!(waits.iter().sum::<i64>() > 24 * 3600);
    assert_eq!(
        last.events.iter().map(label).collect::<Vec<_>>(),
        ["create_refused: quota"]
    );
    assert!(
        matches!(&last.aggregate.phase, JobPhase::Ended(ending) if matches!(ending.how, EndReason::Refused { .. }))
    );
}

#[test]
fn a_wait_that_jules_asks_for_is_kept_but_not_for_ever() {
    let asked = |wait| Failure::new(FailureClass::Throttled, "slow").after(Some(wait));
    let due = |wait| {
        creation_failed(&creating(), &asked(wait), at(0))
            .due
            .unwrap()
    };
    assert_eq!(due(SignedDuration::from_mins(45)), at(45 * 60));
    assert_eq!(due(SignedDuration::MAX), at(24 * 3600));
    assert_eq!(due(SignedDuration::MIN), at(0));
}

#[test]
fn what_jules_will_never_take_is_refused_at_once() {
    for class in [
        FailureClass::Invalid,
        FailureClass::Forbidden,
        FailureClass::NotFound,
        FailureClass::Conflict,
    ] {
        let step = creation_failed(&creating(), &Failure::new(class, "no"), at(0));
        assert!(step.aggregate.is_ended());
        assert_eq!(step.events.len(), 1);
    }
    let step = creation_failed(
        &watched_job(),
        &Failure::new(FailureClass::Invalid, "no"),
        at(0),
    );
    assert_eq!(step.aggregate, watched_job());
}

#[test]
fn words_go_to_the_current_session_only() {
    let timing = Timing::default();
    let job = watched_job();
    let step = say(&job, None, (" hello ", "c1"), (at(0), &timing)).unwrap();
    let Action::Jules(JulesAction::Say {
        session,
        text,
        cause,
    }) = &step.effects[0]
    else {
        panic!()
    };
    assert_eq!(
        (session.as_str(), text.as_str(), cause.as_str()),
        (SESSION, "hello", "c1")
    );
    let current: SessionId = SESSION.parse().unwrap();
    assert!(say(&job, Some(&current), ("hello", "c1"), (at(0), &timing)).is_ok());
    let other: SessionId = "222222222222".parse().unwrap();
    assert_eq!(
        code(say(&job, Some(&other), ("hello", "c1"), (at(0), &timing))),
        "superseded"
    );
    assert_eq!(
        code(say(&job, None, (" ", "c1"), (at(0), &timing))),
        "message_empty"
    );
    let longest = "x".repeat(MESSAGE_BYTES_MAX);
    assert!(say(&job, None, (&longest, "c1"), (at(0), &timing)).is_ok());
    assert_eq!(
        code(say(
            &job,
            None,
            (&"x".repeat(MESSAGE_BYTES_MAX + 1), "c1"),
            (at(0), &timing)
        )),
        "message_too_long"
    );
    assert_eq!(
        code(say(&queued(), None, ("hello", "c1"), (at(0), &timing))),
        "no_session_yet"
    );
    let ended = cancel(&job, "me", at(1)).unwrap().aggregate;
    assert_eq!(
        code(say(&ended, None, ("hello", "c1"), (at(0), &timing))),
        "ended"
    );
}

#[test]
fn a_sent_message_is_awaited_in_the_log_for_a_while() {
    let timing = Timing::default();
    let session: SessionId = SESSION.parse().unwrap();
    let mut story = Story::polled(vec![], 10, WORKING);
    let step = said(&story.job, &session, Some(at(20)), &timing);
    story.take(step);
    assert_eq!(story.watch().unconfirmed_since, Some(at(20)));
    story.log = vec![user("u1", 21)];
    story.poll(30, WORKING);
    assert_eq!(story.watch().unconfirmed_since, None);
    // The echo was read before the sending was recorded.
    let step = said(&story.job, &session, Some(at(35)), &timing);
    story.take(step);
    assert_eq!(story.watch().unconfirmed_since, None);
    // A message that was sent by others long before is not ours.
    let step = said(&story.job, &session, Some(at(300)), &timing);
    story.take(step);
    story.log.push(user("u2", 179));
    story.poll(301, WORKING);
    assert_eq!(story.watch().unconfirmed_since, Some(at(300)));
    story.log.push(user("u3", 180));
    story.poll(302, WORKING);
    assert_eq!(story.watch().unconfirmed_since, None);
    // What was found to have arrived is awaited no longer than before.
    let step = said(&story.job, &session, None, &timing);
    assert_eq!((&step.aggregate, step.due.is_some()), (&story.job, true));
    // It never comes.
    let step = said(&story.job, &session, Some(at(400)), &timing);
    story.take(step);
    story.poll(999, WORKING);
    assert!(story.watch().unconfirmed_since.is_some());
    story.poll(1_000, WORKING);
    assert_eq!(story.watch().unconfirmed_since, None);
}

#[test]
fn the_waiting_plan_is_approved_whatever_the_state_says() {
    let timing = Timing::default();
    let mut story = Story::polled(vec![], 5, WORKING);
    assert_eq!(
        code(approve(&story.job, None, None, at(0), &timing)),
        "no_open_plan"
    );
    story.log = vec![planned("p1", 8)];
    for state in ["PLANNING", "AWAITING_PLAN_APPROVAL", "COMPLETED"] {
        story.poll(10, state);
        let step = approve(&story.job, None, None, at(0), &timing).unwrap();
        assert_eq!(step.effects[0].to_string(), format!("approve:{SESSION}:p1"));
    }
    let story = Story::polled(vec![], 10, "AWAITING_PLAN_APPROVAL");
    let step = approve(&story.job, None, None, at(0), &timing).unwrap();
    assert!(
        step.effects[0]
            .to_string()
            .starts_with(&format!("approve:{SESSION}:at-"))
    );
}

#[test]
fn cancelling_puts_the_session_away_and_frees_the_slot() {
    let step = cancel(&watched_job(), "me", at(9)).unwrap();
    assert_eq!(step.effects, archive(SESSION));
    assert_eq!(
        step.follow_ups,
        [FollowUp::Slots("default".parse().unwrap())]
    );
    assert!(step.due.is_none() && step.aggregate.is_ended());
    assert_eq!(code(cancel(&step.aggregate, "me", at(10))), "ended");
    assert!(cancel(&queued(), "me", at(9)).unwrap().effects.is_empty());
}

#[test]
fn retries_are_new_sessions_and_limited() {
    assert_eq!(code(retry(&watched_job(), None, at(1))), "not_ended");
    let mut job = cancel(&watched_job(), "me", at(1)).unwrap().aggregate;
    for attempt in 2..=ATTEMPTS_MAX {
        let step = retry(&job, None, at(2)).unwrap();
        assert_eq!((step.aggregate.attempt, step.due), (attempt, Some(at(2))));
        assert_eq!(step.aggregate.sessions(), attempt - 1, "none of this one");
        let started = start(&step.aggregate, at(3)).unwrap().aggregate;
        let id = format!("{attempt}00000000000");
        let watched = created(&started, &view(&id, "QUEUED"), at(4), &Timing::default()).aggregate;
        job = cancel(&watched, "me", at(5)).unwrap().aggregate;
    }
    assert_eq!((job.earlier.len(), job.sessions()), (2, 3));
    assert_eq!(code(retry(&job, None, at(6))), "attempts_used_up");
    let first: SessionId = SESSION.parse().unwrap();
    assert_eq!(
        code(approve(&job, Some(&first), None, at(0), &Timing::default())),
        "superseded"
    );
}

#[test]
fn adopting_needs_the_same_repository() {
    let step = adopt(new_job(), &view(SESSION, WORKING), at(0)).unwrap();
    assert_eq!(step.aggregate.origin, Origin::Adopted);
    // Silence is news after twenty minutes, which polls notice; the row makes up for them.
    assert_eq!(step.due, Some(at(90 * 60)));
    let mut elsewhere = view(SESSION, WORKING);
    elsewhere.repo = None;
    assert_eq!(
        code(adopt(new_job(), &elsewhere, at(0))),
        "other_repository"
    );
}

#[test]
fn a_session_that_a_delivery_collects_did_nothing_since_it_ended() {
    let ended = SessionView {
        updated_at: Some(at(-600)),
        ..view(SESSION, "COMPLETED")
    };
    for (delivery, progress_at) in [(Some("f11647a73aa0"), at(-600)), (None, at(0))] {
        let new = NewJob {
            delivery: delivery.map(|id| id.parse().unwrap()),
            ..new_job()
        };
        let step = adopt(new, &ended, at(0)).unwrap();
        assert_eq!(watched(&step.aggregate).progress_at, progress_at);
    }
}

#[test]
fn a_completion_that_was_announced_is_not_announced_with_the_merge() {
    let pull: PullRef = "acme/shop#7".parse().unwrap();
    let mut story = Story::new();
    story.pulls = vec![pull.clone()];
    story.poll(10, "COMPLETED");
    assert_eq!(story.poll(600, "COMPLETED"), ["completed: acme/shop#7"]);
    let merged = PullState::Merged { commit: None };
    let step = pull_settled(&story.job, &pull, &merged, &sha(), at(620));
    assert_eq!((step.effects, step.events), (archive(SESSION), vec![]));
}

#[test]
fn a_merge_that_comes_before_the_completion_of_a_deliverys_job_wakes_nobody() {
    let pull: PullRef = "acme/shop#7".parse().unwrap();
    let mut story = Story::new();
    story.job.delivery = Some("0123456789ab".parse().unwrap());
    story.pulls = vec![pull.clone()];
    story.poll(10, "COMPLETED");
    let merged = PullState::Merged { commit: None };
    let step = pull_settled(&story.job, &pull, &merged, &sha(), at(20));
    let [completed] = &step.events[..] else {
        panic!("{:?}", step.events);
    };
    assert_eq!(completed.what, Occurrence::Completed { pulls: vec![pull] });
    assert_eq!(completed.audience, Audience::Nobody);
}

#[test]
fn the_job_ends_with_its_pull_request() {
    let pull: PullRef = "acme/shop#7".parse().unwrap();
    let mut story = Story::new();
    story.pulls = vec![pull.clone()];
    story.poll(10, "COMPLETED");
    let merged = PullState::Merged { commit: None };
    let step = pull_settled(&story.job, &pull, &merged, &sha(), at(20));
    // No poll has announced that it is done, and none will.
    let whats: Vec<_> = step.events.iter().map(|event| &event.what).collect();
    let pulls = vec![pull.clone()];
    assert_eq!(whats, [&Occurrence::Completed { pulls }]);
    assert_eq!(step.effects, archive(SESSION));
    assert!(
        matches!(&step.aggregate.phase, JobPhase::Ended(ending) if ending.how == EndReason::Merged { sha: sha() })
    );
    assert_eq!(code(retry(&step.aggregate, None, at(21))), "merged");
    let again = pull_settled(&step.aggregate, &pull, &merged, &sha(), at(30));
    assert_eq!(again, Step::unchanged(step.aggregate));

    let step = pull_settled(&story.job, &pull, &PullState::Closed, &sha(), at(20));
    assert!(matches!(
        step.events[0].what,
        Occurrence::Error {
            cause: ErrorCause::PullClosed,
            ..
        }
    ));
    assert!(retry(&step.aggregate, None, at(21)).is_ok());

    let other: PullRef = "acme/shop#8".parse().unwrap();
    for (pull, state) in [(&other, &merged), (&pull, &PullState::Open)] {
        let step = pull_settled(&story.job, pull, state, &sha(), at(20));
        assert!(!step.aggregate.is_ended() && step.due.is_some() && step.effects.is_empty());
    }
}

#[test]
fn a_job_that_was_over_before_its_pull_request_was_merged_is_merged() {
    let pull: PullRef = "acme/shop#7".parse().unwrap();
    let other: PullRef = "acme/shop#8".parse().unwrap();
    let mut story = Story::new();
    story.pulls = vec![pull.clone()];
    story.poll(10, "COMPLETED");
    let cancelled = cancel(&story.job, "kim", at(20)).unwrap().aggregate;
    let left = leave(&story.job, at(20)).aggregate;
    let merged = PullState::Merged { commit: None };
    for over in [&cancelled, &left] {
        let step = pull_settled(over, &pull, &merged, &sha(), at(30));
        assert_eq!((step.events, step.effects), (vec![], vec![]));
        let JobPhase::Ended(ending) = &step.aggregate.phase else {
            panic!("{:?}", step.aggregate.phase);
        };
        assert_eq!(ending.how, EndReason::Merged { sha: sha() });
        assert_eq!(ending.at, at(20));
        assert_eq!(code(retry(&step.aggregate, None, at(31))), "merged");
        for (pull, state) in [(&other, &merged), (&pull, &PullState::Closed)] {
            let same = pull_settled(over, pull, state, &sha(), at(30));
            assert_eq!(same.aggregate, *over);
        }
    }
    let mut of_delivery = cancelled;
    of_delivery.delivery = Some("0123456789ab".parse().unwrap());
    let same = pull_settled(&of_delivery, &pull, &merged, &sha(), at(30));
    assert_eq!(same.aggregate, of_delivery);
}

#[test]
fn a_pull_request_that_jules_never_listed_is_linked_from_the_other_side() {
    let timing = Timing::default();
    let (pull, session): (PullRef, SessionId) =
        ("acme/shop#7".parse().unwrap(), SESSION.parse().unwrap());
    let step = linked(&watched_job(), &session, &pull, &timing);
    assert_eq!(step.aggregate.pull(), Some(&pull));
    assert_eq!(step.follow_ups, [FollowUp::Pull(pull.clone())]);
    let again = linked(&step.aggregate, &session, &pull, &timing);
    assert_eq!(
        (again.follow_ups, again.aggregate),
        (vec![], step.aggregate)
    );
    let elsewhere = linked(
        &watched_job(),
        &session,
        &"acme/other#7".parse().unwrap(),
        &timing,
    );
    assert_eq!(elsewhere.aggregate, watched_job());
    let foreign = linked(
        &watched_job(),
        &"222222222222".parse().unwrap(),
        &pull,
        &timing,
    );
    assert_eq!(foreign.aggregate, watched_job());
    let merged = PullState::Merged { commit: None };
    let step = pull_settled(&watched_job(), &pull, &merged, &sha(), at(20));
    assert_eq!(step.aggregate.pull(), Some(&pull));
    assert!(step.aggregate.is_ended());
}

#[test]
fn only_messages_of_its_delivery_count_as_its_own() {
    let mut job = watched_job();
    note_sent(&mut job, "delivery:0123456789ab:1");
    assert_eq!(job.message_sent, None, "it belongs to none");
    job.delivery = Some("0123456789ab".parse().unwrap());
    for cause in ["a question", "delivery:ba9876543210:1"] {
        note_sent(&mut job, cause);
        assert_eq!(job.message_sent, None, "{cause}");
    }
    // The earlier one is found to have arrived only after the later one.
    for (round, told) in [(2, 2), (1, 2), (3, 3)] {
        note_sent(&mut job, &format!("delivery:0123456789ab:{round}"));
        assert_eq!(job.message_sent, Some(told));
    }
}

#[test]
fn only_the_last_attempt_at_a_message_of_its_delivery_gives_that_up_and_none_is_announced() {
    let mut job = watched_job();
    job.delivery = Some("0123456789ab".parse().unwrap());
    let own = "delivery:0123456789ab:7";
    let refused = FailureClass::Invalid;
    for (session, cause, attempt, class, given_up, announced) in [
        (SESSION, own, 9, refused, None, 0),
        (SESSION, "a question", 10, refused, None, 1),
        (SESSION, own, 10, refused, Some(7), 0),
        (SESSION, own, 16, FailureClass::NotFound, Some(7), 0),
        (SESSION, own, 11, FailureClass::Forbidden, Some(7), 0),
        (SESSION, "delivery:ba9876543210:1", 10, refused, None, 1),
        // Another session refused it.
        ("7", own, 10, refused, None, 0),
        // These pass.
        (SESSION, own, 10, FailureClass::Unauthorized, None, 0),
        (SESSION, own, 40, FailureClass::Unavailable, None, 0),
        (SESSION, own, 10, FailureClass::Network, None, 0),
        (SESSION, own, 10, FailureClass::Throttled, None, 0),
    ] {
        let say = Action::Jules(JulesAction::Say {
            session: session.parse().unwrap(),
            text: "Go on".to_owned(),
            cause: cause.to_owned(),
        });
        let failure = Failure::new(class, "no").never_sent();
        let state = EffectState::Failed {
            at: at(3),
            attempt,
            failure: failure.clone(),
        };
        let effect = Effect {
            state,
            ..Effect::new(say, at(1))
        };
        let step = order_failed(&job, &effect, &failure, at(3));
        let refused = step.aggregate.message_refused;
        assert_eq!(refused, given_up, "{session} {cause} {attempt} {class:?}");
        assert_eq!(
            step.events.len(),
            announced,
            "{session} {cause} {attempt} {class:?}"
        );
    }
}

/// A session that is left while it works or asks would keep its slot.
#[test]
fn what_is_not_done_is_under_way() {
    let timing = Timing::default();
    let is_so = |job: &Job| is_under_way(job, &timing, at(100));
    assert!(is_so(&queued()) && is_so(&creating()));
    for (state, expected) in [
        ("QUEUED", true),
        (WORKING, true),
        (ASKING, true),
        ("AWAITING_PLAN_APPROVAL", true),
        ("PAUSED", true),
        ("COMPLETED", false),
    ] {
        let mut job = watched_job();
        watching(&mut job).state = SessionState::from(state.to_owned());
        assert_eq!(is_so(&job), expected, "{state}");
        watching(&mut job).unconfirmed_since = Some(at(99));
        assert!(is_so(&job), "{state} with a message that it has not read");
        assert!(!is_so(&leave(&job, at(100)).aggregate));
    }
}
