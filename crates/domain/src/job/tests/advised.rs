//! What is advised of a job is accepted: every state, every order and every advice, by the rules that accept orders.

use super::*;
use crate::acceptance::accepted;
use crate::advice::{Advice, Next};
use crate::facts::PullState;
use crate::facts::fixture::sha;
use crate::pull::{self, MergeApproval, MergeStyle, Pull, SeenHead};
use crate::refusal::NotNow;

/// A job in every state that matters to orders, with a name.
fn jobs() -> Vec<(String, Job)> {
    let mut jobs = vec![
        ("queued".to_owned(), queued()),
        ("creating".to_owned(), creating()),
        ("watched".to_owned(), watched_job()),
    ];
    let asked = Story::polled(vec![agent("a", 10)], 20, ASKING);
    jobs.push(("asked".to_owned(), asked.job.clone()));
    let answered = say(&asked.job, None, ("Blue", "c"), (at(30), &asked.timing));
    jobs.push(("answered".to_owned(), answered.unwrap().aggregate));
    let mut plan = Story::polled(vec![planned("p", 10)], 20, "AWAITING_PLAN_APPROVAL");
    jobs.push(("plan".to_owned(), plan.job.clone()));
    plan.poll(30, WORKING);
    plan.log.push(worked("w", 40));
    plan.poll(50, WORKING);
    jobs.push(("plan worked on".to_owned(), plan.job));
    for state in ["PAUSED", "ON_HOLIDAY", "COMPLETED"] {
        let mut story = Story::polled(vec![], 20, state);
        story.poll(40, state);
        jobs.push((state.to_owned(), story.job));
    }
    jobs.extend(ended());
    jobs
}

/// A job that ended in every way.
fn ended() -> Vec<(String, Job)> {
    let reason = "out of memory".to_owned();
    let hows = [
        EndReason::Merged { sha: sha('a') },
        EndReason::PullClosed,
        EndReason::Completed,
        EndReason::Lost,
        EndReason::Failed {
            reason: reason.clone(),
        },
        EndReason::Refused { reason },
        EndReason::Cancelled {
            by: "me".to_owned(),
        },
    ];
    let origins = [
        (Origin::Created, 1),
        (Origin::Created, ATTEMPTS_MAX),
        (Origin::Adopted, 1),
    ];
    let mut jobs = Vec::new();
    for how in hows {
        for (origin, attempt) in &origins {
            let mut job = cancel(&watched_job(), "me", at(5)).unwrap().aggregate;
            let JobPhase::Ended(ending) = &mut job.phase else {
                panic!()
            };
            ending.how = how.clone();
            (job.origin, job.attempt) = (origin.clone(), *attempt);
            jobs.push((format!("{how:?} {origin:?} {attempt}"), job));
        }
    }
    jobs
}

/// None, one that was never read, one that is open, and one that is merged.
fn pulls() -> Vec<Option<Pull>> {
    let id = watched_job().id;
    let name = "acme/shop#7".parse().unwrap();
    let unread = pull::track(name, id, SESSION.parse().ok(), at(0));
    let mut open = unread.clone();
    open.head = Some(SeenHead {
        sha: sha('a'),
        since: at(1),
    });
    let mut merged = open.clone();
    merged.phase = pull::PullPhase::Settled {
        at: at(2),
        by: None,
        state: PullState::Merged { commit: None },
        sha: sha('a'),
    };
    vec![None, Some(unread), Some(open), Some(merged)]
}

/// What comes of an order, by the rule that takes it.
fn ordered(job: &Job, pull: Option<&Pull>, order: Order) -> Result<(), NotNow> {
    let (now, timing) = (at(100), &Timing::default());
    match order {
        Order::Create | Order::Adopt => panic!("the job is there already"),
        Order::Say => say(job, None, ("Use green", "me"), (now, timing)).map(|_| ()),
        Order::Approve => approve(job, None, None, now, timing).map(|_| ()),
        Order::Merge => {
            let style = &MergeStyle::default();
            let none = || NotNow::new("no_pull_request", "job has no pull request yet");
            may_merge(job)?;
            pull::approve(
                pull.ok_or_else(none)?,
                None,
                &MergeApproval { by: "me", style },
                now,
            )
            .map(|_| ())
        }
        Order::Retry => retry(job, None, now).map(|_| ()),
        Order::Cancel => cancel(job, "me", now).map(|_| ()),
    }
}

#[test]
fn every_refusal_advises_only_what_is_accepted() {
    for (name, job) in jobs() {
        for pull in &pulls() {
            let orders = Advice::ALL.into_iter().filter_map(Advice::order);
            for order in orders {
                let Err(refused) = ordered(&job, pull.as_ref(), order) else {
                    continue;
                };
                let told = &refused.sentence;
                assert!(!told.contains("gaffer "), "{name}: {told}");
                for next in &refused.next {
                    let advised = next.advice.order();
                    let taken = advised.map_or(Ok(()), |it| ordered(&job, pull.as_ref(), it));
                    assert_eq!(taken, Ok(()), "{name}, {order:?}: {told} {next:?}");
                }
            }
        }
    }
}

#[test]
fn of_a_job_that_is_over_the_refusal_says_how_work_goes_on() {
    for (name, job) in ended() {
        for order in [Order::Say, Order::Approve] {
            let refused = ordered(&job, None, order).unwrap_err();
            let advised: Vec<Advice> = refused.next.iter().map(|next| next.advice).collect();
            let expected = match ordered(&job, None, Order::Retry) {
                Ok(()) => Advice::Retry,
                Err(_) => Advice::CreateJob,
            };
            assert_eq!((refused.code, advised), ("ended", vec![expected]), "{name}");
        }
    }
}

#[test]
fn of_everything_that_could_be_advised_what_is_refused_is_left_out() {
    for (name, job) in jobs() {
        for pull in &pulls() {
            let all: Vec<Next> = Advice::ALL.map(|advice| advice.about(&job.id)).to_vec();
            let twice = [all.clone(), all.clone()].concat();
            let timing = Timing::default();
            let kept = accepted(&job, pull.as_ref(), twice, at(100), &timing);
            let expected: Vec<Next> = all
                .into_iter()
                .filter(|next| {
                    let order = next.advice.order();
                    order.is_none_or(|order| ordered(&job, pull.as_ref(), order).is_ok())
                })
                .collect();
            assert_eq!(kept, expected, "{name}");
        }
    }
}

#[test]
fn every_advice_is_read_as_what_it_was_written() {
    for advice in Advice::ALL {
        assert_eq!(Advice::of_word(advice.word()), Some(advice));
    }
    assert_eq!(Advice::of_word("later"), None);
}
