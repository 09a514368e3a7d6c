//! Slots: who may begin, what counts, and what is noted late.

use super::*;
use crate::facts::fixture::at;
use crate::job;

fn id(n: u128) -> JobId {
    JobId::from_ulid(ulid::Ulid(n))
}

fn slots() -> Slots {
    Slots::free("default".parse().unwrap())
}

fn code(admission: &Admission) -> &'static str {
    match admission {
        Admission::Granted(_) => "granted",
        Admission::Later { code, .. } => code,
    }
}

fn started(slots: &Slots, n: u128, now: Timestamp) -> Slots {
    match admit(slots, &id(n), Limits::default(), now) {
        Admission::Granted(granted) => granted.created(&id(n), now),
        Admission::Later { code, .. } => panic!("{code}"),
    }
}

#[test]
fn creates_go_one_at_a_time_with_a_gap() {
    let limits = Limits::default();
    let Admission::Granted(first) = admit(&slots(), &id(1), limits, at(0)) else {
        panic!()
    };
    assert_eq!(
        code(&admit(&first, &id(2), limits, at(0))),
        "create_in_flight"
    );
    let first = first.created(&id(1), at(1));
    assert_eq!(code(&admit(&first, &id(2), limits, at(1))), "create_gap");
    assert_eq!(code(&admit(&first, &id(2), limits, at(3))), "granted");
}

#[test]
fn a_wait_that_jules_asked_for_holds_for_every_job() {
    let limits = Limits::default();
    let Admission::Granted(first) = admit(&slots(), &id(1), limits, at(0)) else {
        panic!()
    };
    let wait = SignedDuration::from_secs(60);
    let refused = first.throttled(&id(1), wait, at(5));
    assert!(refused.taken.is_empty() && refused.created.is_empty());
    for (second, expected) in [(5, "throttled"), (64, "throttled"), (65, "granted")] {
        assert_eq!(code(&admit(&refused, &id(2), limits, at(second))), expected);
    }
    // The clock had run ahead when Jules asked.
    assert_eq!(code(&admit(&refused, &id(2), limits, at(4))), "granted");
}

#[test]
fn concurrency_and_the_rolling_day_are_kept() {
    let limits = Limits::default();
    let mut all = slots();
    for n in 1..=3 {
        all = started(&all, n, at(n as i64 * 10));
    }
    assert_eq!(code(&admit(&all, &id(4), limits, at(100))), "slots_taken");
    assert_eq!(
        code(&admit(&all.release(&id(2)), &id(4), limits, at(100))),
        "granted"
    );
    for n in 4..=15 {
        all = started(
            &all.release(&id(n - 1)).release(&id(1)),
            n,
            at(n as i64 * 10),
        );
    }
    let full = all.release(&id(15));
    let Admission::Later {
        at: again, code, ..
    } = admit(&full, &id(16), limits, at(1000))
    else {
        panic!()
    };
    assert_eq!((code, again), ("daily_quota", Some(at(10) + DAY)));
    assert_eq!(
        self::code(&admit(&full, &id(16), limits, at(10) + DAY)),
        "granted"
    );
}

#[test]
fn a_refusal_teaches_a_lower_limit_for_a_while() {
    let limits = Limits::default();
    let two = started(&started(&slots(), 1, at(0)), 2, at(10));
    let Admission::Granted(three) = admit(&two, &id(3), limits, at(20)) else {
        panic!()
    };
    let taught = three.refused(&id(3), at(21));
    assert_eq!(code(&admit(&taught, &id(3), limits, at(60))), "slots_taken");
    assert_eq!(
        code(&admit(&taught.release(&id(1)), &id(3), limits, at(60))),
        "granted"
    );
    assert_eq!(
        code(&admit(&taught, &id(3), limits, at(21) + LEARNED_LIMIT_TTL)),
        "granted"
    );
}

fn begun(slots: &Slots, job: &JobId, now: Timestamp) -> Slots {
    let limits = Limits {
        concurrent: 3,
        per_day: 2,
    };
    match admit(slots, job, limits, now) {
        Admission::Granted(granted) => granted,
        Admission::Later { code, .. } => panic!("{code}"),
    }
}

#[test]
fn a_create_counts_in_the_day_from_when_it_is_begun_and_once() {
    let first = begun(&slots(), &id(1), at(0));
    assert_eq!(first.created, [at(0)]);
    // A process that died before the create begins it again: that is no second one.
    let again = begun(&first, &id(1), at(30));
    assert_eq!(
        (&again.created, &again.taken),
        (&vec![at(30)], &[(id(1), at(30))].into())
    );
    assert_eq!(again.created(&id(1), at(33)).created, [at(33)]);
    // It was not created, so it does not count, and what came before it does.
    let second = begun(&again.created(&id(1), at(33)), &id(2), at(60));
    assert_eq!(second.created, [at(33), at(60)]);
    let failed = second.not_created(&id(2));
    assert_eq!((&failed.created, failed.creating), (&vec![at(33)], None));
    assert!(!failed.taken.contains_key(&id(2)));
}

#[test]
fn whoever_wants_a_slot_sees_by_the_job_that_its_session_was_created() {
    let watched = job::tests::watched_job();
    let slots = begun(&slots(), &watched.id, at(-4));
    let seen = slots.seeing(&watched);
    assert_eq!((&seen.created, &seen.creating), (&vec![at(0)], &None));
    assert_eq!(seen.taken, slots.taken, "it holds its slot still");
    // It records no other job's create, and none twice.
    let other = Slots {
        creating: Some(id(9)),
        ..slots.clone()
    };
    assert_eq!(other.seeing(&watched), other);
    assert_eq!(seen.seeing(&watched), seen);
    // Cancelled once it had a session: it counts from when it was begun.
    let over = job::cancel(&watched, "tests", at(50)).unwrap().aggregate;
    assert_eq!(slots.seeing(&over).created, [at(-4)]);
}

#[test]
fn a_job_whose_session_is_not_known_to_be_made_keeps_its_place() {
    let creating = job::tests::creating();
    let slots = begun(&slots(), &creating.id, at(0));
    assert_eq!(slots.seeing(&creating), slots);
    let over = job::cancel(&creating, "tests", at(9)).unwrap().aggregate;
    assert_eq!(slots.seeing(&over), slots);
}

#[test]
fn a_slot_that_was_taken_ahead_is_left_to_its_job_for_a_while() {
    let queued = job::tests::queued();
    let ahead = begun(&slots(), &queued.id, at(5));
    assert_eq!(ahead.seen_with(&queued.id, Some(&queued), at(30)), ahead);
    let long = at(5) + CREATE_HOLD;
    let free = ahead.seen_with(&queued.id, Some(&queued), long);
    assert_eq!(
        free,
        slots(),
        "and a start that got nowhere counts for nothing"
    );
    // It waits again, for another attempt, and the one before counts.
    let again = Job {
        phase: JobPhase::Queued {
            since: at(9),
            not_before: at(9),
            refusals: 0,
        },
        ..queued
    };
    let free = ahead.seen_with(&again.id, Some(&again), at(30));
    assert_eq!((&free.created, free.taken.len()), (&vec![at(5)], 0));
    assert_eq!(free.creating, None);
}

#[test]
fn whoever_is_over_or_gone_holds_no_slot_and_was_counted_once() {
    let creating = job::tests::creating();
    let begun = begun(&slots(), &creating.id, at(0));
    assert_eq!(begun.seen_with(&creating.id, Some(&creating), at(9)), begun);
    let over = job::cancel(&creating, "tests", at(9)).unwrap().aggregate;
    let free = begun.seen_with(&creating.id, Some(&over), at(10));
    assert_eq!((&free.created, free.taken.len()), (&vec![at(0)], 0));
    assert_eq!(begun.seen_with(&creating.id, None, at(10)), free);
    // Its session was made all the same.
    assert_eq!(free.created(&creating.id, at(12)), free);
}

#[test]
fn sessions_are_shared_out_over_slots_and_days() {
    let slots = Slots::free("default".parse().unwrap());
    let left = room(&slots, Limits::default(), at(0));
    assert_eq!((left.slots, left.tasks), (3, 15));
    assert_eq!(left.share(22), (3, 12, 7));
    assert_eq!(left.share(2), (2, 0, 0));
    let job: JobId = "01j00000000000000000000000".parse().unwrap();
    let Admission::Granted(taken) = admit(&slots, &job, Limits::default(), at(0)) else {
        panic!("all slots are free");
    };
    let left = room(&taken, Limits::default(), at(1));
    assert_eq!((left.slots, left.tasks), (2, 14));
    let none = Limits {
        concurrent: 0,
        per_day: 0,
    };
    assert_eq!(room(&taken, none, at(1)).share(4), (0, 0, 4));
}
