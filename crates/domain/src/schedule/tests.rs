//! What becomes of a schedule from look to look.

use jiff::SignedDuration;

use super::*;
use crate::facts::fixture::{at, sha};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

fn run(number: u32) -> PipelineId {
    format!("01j000000000000000000000{number:02}")
        .parse()
        .unwrap()
}

fn daily() -> ScheduleSettings {
    ScheduleSettings {
        cron: vec!["0 20 * * *".to_owned()],
        ..ScheduleSettings::default()
    }
}

fn look(schedule: &Schedule, reading: Reading, second: i64) -> Step<Schedule> {
    let (repo, account) = ("acme/shop".parse().unwrap(), "main".parse().unwrap());
    read(schedule, (&repo, &account), reading, at(second))
}

fn settings(tip: char, settings: ScheduleSettings) -> Reading {
    Reading::Settings(sha(tip), settings)
}

fn unreadable(reason: &str) -> Reading {
    Reading::Unreadable {
        reason: reason.to_owned(),
        obstacle: reason.to_owned(),
        is_told: false,
    }
}

/// A schedule that was read at 0.
fn known() -> Schedule {
    look(&Schedule::default(), settings('a', daily()), 0).aggregate
}

/// The reasons that were announced.
fn told(step: &Step<Schedule>) -> usize {
    step.events.len()
}

#[test]
fn a_schedule_is_looked_at_at_its_time_and_at_least_every_quarter_of_an_hour() {
    for (next, due) in [
        (None, 15 * MINUTE),
        (Some(10 * MINUTE), 10 * MINUTE),
        (Some(2 * HOUR), 15 * MINUTE),
    ] {
        let waits = known().waits(next.map(at), at(0));
        assert_eq!(waits.due, Some(at(due)), "{next:?}");
        assert_eq!(waits.next, next.map(at));
        assert_eq!(
            waits.dealt_to,
            Some(at(0)),
            "no time is dealt with by a look"
        );
    }
}

#[test]
fn a_run_is_for_all_times_before_it() {
    let (time, next) = (at(HOUR), Some(at(25 * HOUR)));
    let began = known().began((time, next), run(1), at(3 * HOUR));
    assert_eq!(
        began.dealt_to,
        Some(at(3 * HOUR)),
        "the missed ones are over"
    );
    let begun = BegunRun {
        time,
        at: at(3 * HOUR),
        run: run(1),
    };
    assert_eq!((began.begun, began.next), (Some(begun), next));
}

#[test]
fn a_time_that_is_held_comes_again_and_one_that_is_skipped_does_not() {
    let times = (at(HOUR), Some(at(25 * HOUR)));
    let held = known().held(times, "paused", at(HOUR));
    assert_eq!(held.dealt_to, Some(at(0)));
    let skipped = held.skipped(times, "already running", at(2 * HOUR));
    assert_eq!(skipped.dealt_to, Some(at(2 * HOUR)));
    let why = |schedule: &Schedule| schedule.left_out.clone().map(|it| it.reason);
    assert_eq!(why(&held).as_deref(), Some("paused"));
    assert_eq!(why(&skipped).as_deref(), Some("already running"));
    let made_up = held.began(times, run(1), at(3 * HOUR));
    assert_eq!(why(&made_up), None, "a run makes up for it");
    let later = (at(25 * HOUR), Some(at(49 * HOUR)));
    let began = skipped.began(later, run(1), at(25 * HOUR));
    assert_eq!(why(&began), why(&skipped), "nothing makes up for it");
}

#[test]
fn only_other_settings_begin_anew() {
    let same = look(&known(), settings('b', daily()), HOUR).aggregate;
    assert_eq!(same.dealt_to, Some(at(0)), "a commit changes no time");
    assert!(same.is_read_at(&sha('b')) && !same.is_read_at(&sha('a')));
    let zone = ScheduleSettings {
        timezone: Some("Europe/Berlin".to_owned()),
        ..daily()
    };
    let other = look(&same, settings('c', zone), 2 * HOUR).aggregate;
    assert_eq!(other.dealt_to, Some(at(2 * HOUR)));
    let asked = other.asked_again(at(3 * HOUR));
    assert!(!asked.is_read_at(&sha('c')));
    assert_eq!(asked.due, Some(at(3 * HOUR)));
    assert_eq!(asked.dealt_to, other.dealt_to);
}

#[test]
fn what_passes_by_itself_keeps_the_times_and_is_told_to_nobody() {
    let delayed = look(&known(), Reading::Delayed("502".to_owned()), HOUR);
    assert_eq!(told(&delayed), 0);
    let delayed = delayed.aggregate;
    assert_eq!(delayed.settings, Some(daily()));
    assert!(delayed.is_read_at(&sha('a')));
    let again = look(&delayed, Reading::Delayed("503".to_owned()), 2 * HOUR).aggregate;
    let error = again.error.clone().unwrap();
    assert_eq!((error.since, error.reason.as_str()), (at(HOUR), "503"));
    let over = look(&again, Reading::Unchanged, 3 * HOUR).aggregate;
    assert_eq!(over.error, None);
    assert_eq!(
        over.dealt_to,
        Some(at(0)),
        "what was missed meanwhile is made up"
    );
}

#[test]
fn what_cannot_be_read_is_told_once_and_begins_nothing() {
    let bad = look(&known(), unreadable("line 5"), HOUR);
    assert_eq!(told(&bad), 1);
    let Occurrence::Error { cause, reason } = &bad.events[0].what else {
        panic!("{:?}", bad.events);
    };
    assert_eq!(cause, &ErrorCause::Schedule);
    assert!(reason.contains("acme/shop") && reason.ends_with("line 5"));
    let bad = bad.aggregate;
    assert_eq!((bad.settings.clone(), bad.dealt_to), (None, None));
    let again = look(&bad, unreadable("line 5"), 2 * HOUR);
    assert_eq!(told(&again), 0);
    let between = look(
        &again.aggregate,
        Reading::Delayed("502".to_owned()),
        3 * HOUR,
    );
    let back = look(&between.aggregate, unreadable("line 5"), 4 * HOUR);
    assert_eq!(told(&back), 0, "GitHub was only away in between");
    let other = look(&again.aggregate, unreadable("line 7"), 3 * HOUR);
    assert_eq!(told(&other), 1);
    let same = Reading::Unreadable {
        reason: "line 7 of another commit".to_owned(),
        obstacle: "line 7".to_owned(),
        is_told: false,
    };
    let same = look(&other.aggregate, same, 3 * HOUR);
    assert_eq!(told(&same), 0, "only its words are others");
    let right = look(&other.aggregate, settings('b', daily()), 5 * HOUR).aggregate;
    assert_eq!(right.error, None);
    assert_eq!(
        right.dealt_to,
        Some(at(5 * HOUR)),
        "nothing was asked for until now"
    );
    let elsewhere = Reading::Unreadable {
        reason: "another repository".to_owned(),
        obstacle: "github".to_owned(),
        is_told: true,
    };
    assert_eq!(told(&look(&right, elsewhere, 6 * HOUR)), 0);
}

#[test]
fn the_last_run_is_still_known_when_the_settings_are_not() {
    let began = known().began((at(HOUR), None), run(1), at(HOUR));
    let bad = look(&began, unreadable("line 5"), 2 * HOUR).aggregate;
    assert_eq!(bad.begun, began.begun);
    assert_eq!(
        bad.waits(None, at(2 * HOUR)).due,
        Some(at(2 * HOUR) + ASK_EVERY)
    );
    assert_eq!(ASK_EVERY, SignedDuration::from_mins(15));
}
