//! What may be kept in memory for a while: progress of a session at work, and nothing else.

use super::*;
use crate::failure::{Failure, FailureClass};
use crate::job::watch::ActivityMark;

/// What makes a case, and its name.
type Edit = (&'static str, fn(&mut Watch));

/// A job whose session works.
fn at_work() -> Job {
    edited(&watched_job(), |watch| {
        watch.state = SessionState::InProgress;
        watch.progress_at = at(60);
    })
}

fn edited(job: &Job, edit: impl FnOnce(&mut Watch)) -> Job {
    let mut job = job.clone();
    if let JobPhase::Watching(watch) = &mut job.phase {
        edit(watch);
    }
    job
}

/// It went on.
fn gone_on(watch: &mut Watch) {
    let mark = ActivityMark {
        id: "a1".parse().unwrap(),
        at: at(90),
    };
    watch.progress_at = mark.at;
    watch.log.through = Some(mark.at);
    watch.log.worked_at = Some(mark.at);
    watch.log.last_words = Some("Running tests".to_owned());
    watch.log.recent = vec![mark];
}

fn step(job: &Job) -> Step<Job> {
    Step::unchanged(edited(job, gone_on))
}

#[test]
fn what_only_goes_on_is_progress() {
    let job = at_work();
    assert!(is_progress(&job, &step(&job)));
    assert!(
        !is_progress(&job, &Step::unchanged(job.clone())),
        "nothing new"
    );
    let mut lasting = step(&job);
    lasting.due = Some(at(1_290));
    assert!(is_progress(&job, &lasting));
}

#[test]
fn whatever_is_open_about_a_session_makes_its_progress_matter() {
    let edits: [Edit; 6] = [
        ("planning", |watch| watch.state = SessionState::Planning),
        ("expecting", |watch| {
            watch.attention = Attention::Expecting { since: at(0) };
        }),
        ("done", |watch| {
            watch.log.completed = Some(ActivityMark {
                id: "c1".parse().unwrap(),
                at: at(30),
            });
        }),
        ("spoken to", |watch| watch.unconfirmed_since = Some(at(0))),
        ("silent", |watch| {
            watch.announced.stuck_at = Some(at(60));
            watch.announced.stuck_announcements = 1;
        }),
        ("missing", |watch| watch.missing_since = Some(at(0))),
    ];
    for (name, edit) in edits {
        let job = edited(&at_work(), edit);
        let mut step = step(&job);
        // A session that answers again is missing no longer.
        step.aggregate = edited(&step.aggregate, |watch| watch.missing_since = None);
        assert!(!is_progress(&job, &step), "{name}");
    }
}

#[test]
fn whatever_else_changes_is_more_than_progress() {
    let job = at_work();
    let edits: [Edit; 5] = [
        ("asks", |watch| {
            watch.state = SessionState::AwaitingUserFeedback;
        }),
        ("said", |watch| watch.log.user_at = Some(at(90))),
        ("planned", |watch| watch.log.plan_approved_at = Some(at(90))),
        ("failed", |watch| watch.log.failed = Some("No".to_owned())),
        ("pull", |watch| watch.pull = "acme/shop#7".parse().ok()),
    ];
    for (name, edit) in edits {
        let step = Step::unchanged(edited(&step(&job).aggregate, edit));
        assert!(!is_progress(&job, &step), "{name}");
    }
    let mut renamed = step(&job);
    renamed.aggregate.title = "Another".to_owned();
    assert!(!is_progress(&job, &renamed));
}

#[test]
fn whatever_is_told_or_done_is_more_than_progress() {
    let job = at_work();
    let session = job.session().cloned().unwrap();
    let archive = Action::Archive { session };
    let event = any_event(&job);
    let told = Step {
        events: vec![event.clone()],
        ..step(&job)
    };
    let amended = Step {
        amended: vec![event],
        ..step(&job)
    };
    let wished = Step {
        effects: vec![archive],
        ..step(&job)
    };
    let looked = Step {
        follow_ups: vec![FollowUp::Job(job.id.clone())],
        ..step(&job)
    };
    for step in [told, amended, wished, looked] {
        assert!(!is_progress(&job, &step), "{step:?}");
    }
}

/// Any event.
fn any_event(job: &Job) -> Event {
    let failure = Failure::new(FailureClass::Invalid, "no");
    let creating = start(&create(new_job(), at(0)).unwrap().aggregate, at(0)).unwrap();
    let mut events = creation_failed(&creating.aggregate, &failure, at(0)).events;
    let event = events.pop().unwrap();
    Event {
        job: Some(job.id.clone()),
        ..event
    }
}
