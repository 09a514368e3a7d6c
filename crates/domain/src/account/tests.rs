//! Polls as tables: gaps, errors announced once, and the counters over all polls.

use super::*;
use crate::facts::fixture::at;

fn account() -> Account {
    Account::new("default".parse().unwrap(), at(0))
}

fn answered(activity: AccountActivity) -> Poll {
    Poll::Answered {
        list: ListWeight::default(),
        reads: BTreeMap::new(),
        activity,
    }
}

fn fail(class: FailureClass) -> Poll {
    Poll::Failed(Failure::new(class, "x"))
}

/// Polls ten times with the same failure and answers the gaps in seconds and the number of events.
fn ten(class: FailureClass) -> (Vec<i64>, usize) {
    let (mut account, mut now, mut gaps, mut events) = (account(), at(0), Vec::new(), 0);
    for _ in 0..10 {
        let step = polled(&account, &fail(class), now);
        gaps.push(step.aggregate.next_poll.duration_since(now).as_secs());
        events += step.events.len();
        now = step.aggregate.next_poll;
        account = step.aggregate;
    }
    (gaps, events)
}

#[test]
fn throttling_grows_the_gaps_and_announces_nothing() {
    let (gaps, events) = ten(FailureClass::Throttled);
    assert_eq!(events, 0);
    assert!(
        gaps.windows(2).take(5).all(|pair| pair[1] > pair[0]),
        "{gaps:?}"
    );
    assert!(gaps.iter().all(|gap| (20..=1125).contains(gap)), "{gaps:?}");
    assert_eq!(ten(FailureClass::Unavailable).1, 0);
}

#[test]
fn the_tally_counts_polls_failures_and_what_was_waited_for_them() {
    let polls = [
        fail(FailureClass::Throttled),
        fail(FailureClass::Throttled),
        fail(FailureClass::Network),
    ];
    let mut account = account();
    let mut waited = 0;
    for poll in &polls {
        account = polled(&account, poll, at(0)).aggregate;
        waited += account.next_poll.duration_since(at(0)).as_secs() - 10;
    }
    let tally = polled(&account, &answered(AccountActivity::Active), at(7))
        .aggregate
        .counters;
    let failed = [(FailureClass::Throttled, 2), (FailureClass::Network, 1)];
    assert_eq!((tally.polls, tally.last), (4, Some(at(7))));
    assert_eq!(tally.failed, failed);
    assert!(waited > 0);
    assert_eq!(i64::try_from(tally.backoff_secs), Ok(waited));
}

#[test]
fn retry_after_is_never_undercut() {
    let failure =
        Failure::new(FailureClass::Throttled, "x").after(Some(SignedDuration::from_mins(40)));
    let step = polled(&account(), &Poll::Failed(failure), at(0));
    assert_eq!(step.aggregate.next_poll, at(2400));
}

#[test]
fn network_trouble_is_announced_once_after_several_failures() {
    assert_eq!(ten(FailureClass::Network).1, 1);
}

#[test]
fn a_dead_key_is_announced_once_and_again_only_after_it_worked() {
    assert_eq!(ten(FailureClass::Unauthorized).1, 1);
    let dead = polled(&account(), &fail(FailureClass::Unauthorized), at(0)).aggregate;
    let alive = polled(&dead, &answered(AccountActivity::Active), at(60)).aggregate;
    assert_eq!(alive.health, Health::Working);
    assert!(alive.next_poll >= at(69) && alive.next_poll <= at(70));
    assert_eq!(
        polled(&alive, &fail(FailureClass::Unauthorized), at(70))
            .events
            .len(),
        1
    );
}

#[test]
fn working_polls_come_within_the_tick_and_never_in_step() {
    let gap = |activity, second| {
        let step = polled(&account(), &answered(activity), at(second));
        step.aggregate.next_poll.duration_since(at(second))
    };
    let gaps: Vec<SignedDuration> = (0..200)
        .map(|second| gap(AccountActivity::Active, second))
        .collect();
    let tick = SignedDuration::from_secs(10);
    let least = SignedDuration::from_secs(9);
    assert!(gaps.iter().all(|gap| (least..=tick).contains(gap)));
    let mean = gaps.iter().map(SignedDuration::as_millis).sum::<i128>() / 200;
    assert!((9_400..9_600).contains(&mean), "{mean} ms");
    assert_eq!(
        gap(AccountActivity::Resting, 0),
        SignedDuration::from_secs(60)
    );
    // Only the second poll in a row that finds nothing lets it rest.
    let first = polled(&account(), &answered(AccountActivity::NoJobs), at(0));
    assert_eq!(first.due, Some(at(60)));
    let second = polled(&first.aggregate, &answered(AccountActivity::NoJobs), at(60));
    assert_eq!(second.due, Some(at(60 + 15 * 60)));
    let third = polled(
        &second.aggregate,
        &answered(AccountActivity::NoJobs),
        at(960),
    );
    assert_eq!(third.due, Some(at(960 + 15 * 60)));
    // A wait after trouble was no rest.
    let dead = Failure::new(FailureClass::Unauthorized, "no");
    let failed = polled(&first.aggregate, &Poll::Failed(dead), at(60)).aggregate;
    let back = polled(&failed, &answered(AccountActivity::NoJobs), at(120));
    assert_eq!(back.due, Some(at(180)));
}

#[test]
fn an_account_is_busy_from_a_poll_that_saw_work() {
    let busy = polled(&account(), &answered(AccountActivity::Active), at(0)).aggregate;
    assert!(busy.is_busy());
    for activity in [AccountActivity::Resting, AccountActivity::NoJobs] {
        let rests = polled(&account(), &answered(activity), at(0)).aggregate;
        assert!(!rests.is_busy());
    }
    assert!(!account().is_busy(), "it was never polled");
}

#[test]
fn other_trouble_does_not_make_a_dead_key_news_again() {
    let (mut account, mut now, mut events) = (account(), at(0), 0);
    for round in 0..30 {
        let class = [
            FailureClass::Unauthorized,
            FailureClass::Unavailable,
            FailureClass::Network,
            FailureClass::Throttled,
        ][round % 4];
        let step = polled(&account, &fail(class), now);
        events += step.events.len();
        now = step.aggregate.next_poll;
        account = step.aggregate;
    }
    assert_eq!(events, 1);
}

#[test]
fn absurd_waits_end_after_a_day() {
    for wait in [SignedDuration::MAX, SignedDuration::from_hours(9_000)] {
        for class in [FailureClass::Throttled, FailureClass::Unauthorized] {
            let poll = Poll::Failed(Failure::new(class, "x").after(Some(wait)));
            let step = polled(&account(), &poll, at(0));
            assert_eq!(step.aggregate.next_poll, at(24 * 3600));
        }
    }
    let poll =
        Poll::Failed(Failure::new(FailureClass::Throttled, "x").after(Some(SignedDuration::MIN)));
    assert!(polled(&account(), &poll, at(0)).aggregate.next_poll > at(10));
    assert_eq!(
        polled(&account(), &poll, Timestamp::MAX)
            .aggregate
            .next_poll,
        Timestamp::MAX
    );
}

#[test]
fn requests_and_money_of_one_day_are_two_events() {
    let spent = Spent {
        day: day_of(at(0)),
        requests: 100,
        last: 1,
        told: false,
        told_money: false,
    };
    let budget = Budget {
        requests_a_day: Some(100),
        dear_until: Some(at(3_600)),
        spent: Some(spent),
    };
    let short = Account {
        budget,
        ..account()
    };
    let poll = fail(FailureClass::Unavailable);
    let step = polled(&short, &poll, at(0));
    let [money, requests] = &step.events[..] else {
        panic!("{:?}", step.events);
    };
    assert_ne!(money.id, requests.id);
    let says = |event: &Event, words: &str| match &event.what {
        Occurrence::Error { reason, .. } => reason.contains(words),
        Occurrence::Question { .. }
        | Occurrence::PlanApproval { .. }
        | Occurrence::UnreviewedPlan { .. }
        | Occurrence::UnexpectedPush { .. }
        | Occurrence::Completed { .. }
        | Occurrence::Stuck { .. }
        | Occurrence::Delivery { .. }
        | Occurrence::News(_) => false,
    };
    assert!(says(money, "cost of a day"), "{money:?}");
    assert!(says(requests, "requests a day"), "{requests:?}");
    assert!(polled(&step.aggregate, &poll, at(60)).events.is_empty());
}

#[test]
fn a_budget_that_runs_short_slows_polls_that_would_come_sooner() {
    let after_a_poll = |allowed: u32, requests: u64, activity| {
        let spent = Spent {
            day: day_of(at(0)),
            requests,
            last: 1,
            told: false,
            told_money: false,
        };
        let budget = Budget {
            requests_a_day: Some(allowed),
            spent: Some(spent),
            ..Budget::default()
        };
        let account = Account {
            budget,
            ..account()
        };
        polled(&account, &answered(activity), at(0)).aggregate
    };
    let (active, resting) = (AccountActivity::Active, AccountActivity::Resting);
    for (allowed, requests, activity, is_slowed) in [
        (100, 50, active, false),
        (100, 50, resting, false),
        (100, 51, active, true),
        (100, 51, resting, true),
        (100, 100, active, true),
        // What is left allows a poll every 14 s: longer than the tick, and shorter than a rest.
        (10_000, 6_000, active, true),
        (10_000, 6_000, resting, false),
    ] {
        let account = after_a_poll(allowed, requests, activity);
        assert_eq!(account.is_slowed(), is_slowed, "{account:?}");
    }
    assert!(!account().is_slowed());
    let next_poll = at(10);
    let brought_forward = Account {
        next_poll,
        ..after_a_poll(100, 51, resting)
    };
    assert!(!brought_forward.is_slowed());
}
