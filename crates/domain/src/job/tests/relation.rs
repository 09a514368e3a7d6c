//! Sessions with a job's marker that turn up beside its own.

use super::*;

const OTHER: &str = "222222222222";

fn is(job: &Job, session: &str, attempt: u32) -> SessionRelation {
    relation(job, &session.parse().unwrap(), attempt)
}

/// The same job after its session failed and a retry was ordered.
fn tried_again(job: &Job) -> Job {
    let ended = cancel(job, "me", at(1)).unwrap().aggregate;
    retry(&ended, None, at(2)).unwrap().aggregate
}

#[test]
fn a_session_beside_the_one_that_a_job_has_is_a_twin_also_when_it_has_ended() {
    let watched = watched_job();
    let ended = cancel(&watched, "me", at(1)).unwrap().aggregate;
    for job in [watched, ended] {
        assert_eq!(is(&job, SESSION, 1), SessionRelation::Own);
        assert_eq!(is(&job, OTHER, 1), SessionRelation::Duplicate);
        assert_eq!(
            is(&job, OTHER, 2),
            SessionRelation::Ahead,
            "the store was put back"
        );
    }
}

#[test]
fn while_the_own_one_is_not_known_the_one_that_turned_up_may_be_it() {
    for job in [creating(), queued()] {
        assert_eq!(is(&job, OTHER, 1), SessionRelation::Unsettled);
    }
    let cancelled = cancel(&creating(), "me", at(1)).unwrap().aggregate;
    assert_eq!(is(&cancelled, OTHER, 1), SessionRelation::Stray);
}

#[test]
fn of_an_earlier_attempt_only_the_session_that_the_job_had_is_its_own() {
    let again = tried_again(&watched_job());
    let started = start(&again, at(3)).unwrap().aggregate;
    for job in [again, started] {
        assert_eq!(is(&job, SESSION, 1), SessionRelation::Own);
        assert_eq!(is(&job, OTHER, 1), SessionRelation::Duplicate);
        assert_eq!(is(&job, OTHER, 2), SessionRelation::Unsettled);
    }
    let cancelled = tried_again(&creating());
    assert_eq!(is(&cancelled, SESSION, 1), SessionRelation::Duplicate);
}

#[test]
fn what_a_job_has_no_use_for_is_put_away_unless_somebody_has_had_it_adopted() {
    let archived = |job: &Job, session: &str, attempt: u32, owner: Option<&JobId>| {
        let session = session.parse().unwrap();
        let step = session_found(job, &session, attempt, owner, &Timing::default());
        assert_eq!(step.aggregate, *job);
        step.effects
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    let watched = watched_job();
    let cancelled = cancel(&creating(), "me", at(1)).unwrap().aggregate;
    let somebody = JobId::from_ulid(ulid::Ulid(99));
    for job in [&watched, &cancelled] {
        for owner in [None, Some(&job.id)] {
            assert_eq!(archived(job, OTHER, 1, owner), ["archive:222222222222"]);
        }
        assert!(archived(job, OTHER, 1, Some(&somebody)).is_empty());
        assert!(archived(job, OTHER, 2, None).is_empty());
    }
    assert!(archived(&watched, SESSION, 1, None).is_empty());
    assert!(archived(&creating(), OTHER, 1, None).is_empty());
}
