//! Logs as tables, look by look; and what must hold for every log there may be.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::facts::fixture::at;
use crate::failure::FailureClass;

const CALM: RedeliveryContext = RedeliveryContext {
    may_ask: true,
    in_doubt: false,
};

fn attempt(id: u64, guid: &str, second: i64, status: Option<u16>) -> DeliveryAttempt {
    DeliveryAttempt {
        id: DeliveryId(id),
        hook: Some(HookId(1)),
        guid: guid.parse().unwrap(),
        at: at(second),
        redelivery: false,
        status,
        event: "pull_request".to_owned(),
    }
}

fn again(id: u64, guid: &str, second: i64, status: Option<u16>) -> DeliveryAttempt {
    DeliveryAttempt {
        redelivery: true,
        ..attempt(id, guid, second, status)
    }
}

fn new() -> RedeliveryState {
    RedeliveryState::new(WebhookLog::App)
}

fn minutes(count: i64) -> i64 {
    count * 60
}

fn asked(look: &RedeliveryPlan) -> Vec<&str> {
    look.ask.iter().map(|failed| failed.guid.as_str()).collect()
}

#[test]
fn every_wait_belongs_to_a_try() {
    assert_eq!(RETRY_DELAYS.len(), usize::from(MAX_ATTEMPTS));
}

#[test]
fn what_came_of_a_try_decides_whether_it_is_asked_for_again() {
    let table = [
        (Some(200), AttemptOutcome::Arrived),
        (Some(202), AttemptOutcome::Arrived),
        (Some(301), AttemptOutcome::Arrived),
        (Some(400), AttemptOutcome::Unwanted),
        (Some(413), AttemptOutcome::Unwanted),
        (Some(422), AttemptOutcome::Unwanted),
        (Some(401), AttemptOutcome::Failed),
        (Some(404), AttemptOutcome::Failed),
        (Some(429), AttemptOutcome::Failed),
        (Some(500), AttemptOutcome::Failed),
        (Some(503), AttemptOutcome::Failed),
        (Some(0), AttemptOutcome::Failed),
        (None, AttemptOutcome::Failed),
    ];
    for (status, outcome) in table {
        let log = [attempt(1, "a", 0, status), attempt(2, "b", 1, Some(202))];
        assert_eq!(log[0].outcome(), outcome, "{status:?}");
        let look = plan_redeliveries(&new(), &log, CALM, at(minutes(5)));
        let expected = (outcome == AttemptOutcome::Failed).then_some("a");
        assert_eq!(asked(&look), Vec::from_iter(expected), "{status:?}");
    }
}

#[test]
fn only_events_that_wake_something_are_asked_for() {
    for event in ["ping", "deployment", "installation", "star", "unheard_of"] {
        let mut log = [attempt(1, "a", 0, None), attempt(2, "b", 1, Some(202))];
        log[0].event = event.to_owned();
        assert_eq!(
            asked(&plan_redeliveries(&new(), &log, CALM, at(minutes(9)))),
            [""; 0]
        );
    }
}

#[test]
fn every_event_that_wakes_something_is_asked_for() {
    for event in HANDLED_EVENTS {
        let mut log = [attempt(1, "a", 0, None), attempt(2, "b", 1, Some(202))];
        log[0].event = event.to_owned();
        let look = plan_redeliveries(&new(), &log, CALM, at(minutes(9)));
        assert_eq!(asked(&look), ["a"], "{event}");
    }
}

#[test]
fn a_delivery_is_asked_for_three_times_further_and_further_apart_and_then_given_up() {
    let lost = attempt(1, "a", 0, None);
    let mut repair = new();
    let mut log = vec![lost];
    let mut asks = Vec::new();
    for minute in 0..=120 {
        // Something else gets through all the time.
        let id = 100 + u64::try_from(minute).unwrap();
        log.push(attempt(
            id,
            &format!("other-{id}"),
            minutes(minute),
            Some(202),
        ));
        let look = plan_redeliveries(&repair, &log, CALM, at(minutes(minute)));
        if !look.ask.is_empty() {
            asks.push(minute);
            log.push(again(1_000 + id, "a", minutes(minute) + 1, Some(500)));
        }
        repair = look.repair;
    }
    assert_eq!(asks, [5, 20, 80]);
    assert_eq!(
        (repair.asked, repair.given_up, repair.failed.len()),
        (3, 1, 0)
    );
}

#[test]
fn what_arrived_meanwhile_is_not_asked_for() {
    let log = [
        attempt(1, "a", 0, Some(500)),
        attempt(2, "b", 1, Some(500)),
        again(3, "a", 30, Some(202)),
    ];
    let look = plan_redeliveries(&new(), &log, CALM, at(minutes(5) + 1));
    assert_eq!(asked(&look), ["b"]);
    // Also when it arrives while its first failure is still too young to be taken in.
    let log = [
        attempt(4, "c", 290, None),
        again(5, "c", 295, Some(202)),
        attempt(6, "d", 296, None),
    ];
    let repair = look.repair;
    for minute in [6, 10, 15] {
        let look = super::plan_redeliveries(&repair, &log, CALM, at(minutes(minute)));
        assert!(!asked(&look).contains(&"c"), "minute {minute}");
    }
}

#[test]
fn what_may_still_be_on_its_way_is_left_alone() {
    let log = [attempt(1, "a", 0, Some(202)), attempt(2, "b", 100, None)];
    let look = plan_redeliveries(&new(), &log, CALM, at(200));
    assert_eq!(look.repair.seen, Some(log[0].mark()));
    assert!(look.repair.failed.is_empty());
}

#[test]
fn while_nothing_gets_through_one_is_asked_for_now_and_then() {
    let mut log: Vec<DeliveryAttempt> = (0..40)
        .map(|n| attempt(n, &format!("lost-{n}"), i64::try_from(n).unwrap(), None))
        .collect();
    let mut repair = new();
    let mut asks = Vec::new();
    for minute in (5..=60).step_by(5) {
        let look = plan_redeliveries(&repair, &log, CALM, at(minutes(minute)));
        assert_eq!(look.repair.unanswered_since, Some(at(35)));
        asks.extend(asked(&look).iter().map(|guid| (minute, (*guid).to_owned())));
        for failed in &look.ask {
            let id = 1_000 + u64::try_from(minute).unwrap();
            log.push(again(id, failed.guid.as_str(), minutes(minute) + 1, None));
        }
        repair = look.repair;
    }
    let lost = |n: i64| format!("lost-{n}");
    assert_eq!(
        asks,
        [(5, lost(0)), (20, lost(0)), (35, lost(1)), (50, lost(1))]
    );
    // Something gets through: now the others are asked for, as many as one look may.
    log.push(attempt(2_000, "new", minutes(61), Some(202)));
    let look = plan_redeliveries(&repair, &log, CALM, at(minutes(65)));
    assert_eq!(look.repair.unanswered_since, None);
    assert_eq!(look.ask.len(), MAX_REDELIVERIES_PER_PASS);
    // Those that were tried before are first, since what was tried at a dead API need not wait for that.
    let first: Vec<_> = look.ask[..3].iter().map(|it| it.asks).collect();
    assert_eq!((asked(&look)[0], first), ("lost-0", vec![2, 2, 0]));
}

#[test]
fn nothing_is_asked_for_when_nothing_may_be() {
    let log = [attempt(1, "a", 0, None)];
    let around = RedeliveryContext {
        may_ask: false,
        ..CALM
    };
    let look = plan_redeliveries(&new(), &log, around, at(minutes(9)));
    assert_eq!((look.ask.len(), look.repair.asked), (0, 0));
    assert_eq!(
        asked(&super::plan_redeliveries(&look.repair, &[], CALM, at(600))),
        ["a"]
    );
}

#[test]
fn what_leaves_the_log_is_given_up() {
    let log = [attempt(1, "a", 0, None)];
    let around = RedeliveryContext {
        may_ask: false,
        ..CALM
    };
    let known = plan_redeliveries(&new(), &log, around, at(minutes(9))).repair;
    let later = plan_redeliveries(&known, &[], CALM, at(71 * 3_600)).repair;
    assert_eq!((later.failed.len(), later.given_up), (0, 1));
}

#[test]
fn the_next_look_is_sooner_while_something_fails_or_is_in_doubt() {
    let now = at(minutes(10));
    let well = [attempt(1, "a", 0, Some(202))];
    let fails = [attempt(1, "a", 0, None)];
    let doubt = RedeliveryContext {
        in_doubt: true,
        ..CALM
    };
    assert_eq!(
        plan_redeliveries(&new(), &well, CALM, now).due,
        plus(now, CHECK_INTERVAL)
    );
    assert_eq!(
        plan_redeliveries(&new(), &[], CALM, now).due,
        plus(now, CHECK_INTERVAL)
    );
    assert_eq!(
        plan_redeliveries(&new(), &well, doubt, now).due,
        plus(now, CHECK_SOON)
    );
    assert_eq!(
        plan_redeliveries(&new(), &fails, CALM, now).due,
        plus(now, CHECK_SOON)
    );
}

#[test]
fn a_log_that_may_not_be_read_is_left_for_a_day_and_told_of() {
    for class in [FailureClass::Forbidden, FailureClass::NotFound] {
        let failure = Failure::new(class, "no");
        let (repair, due) = refused(&new(), &failure, at(0));
        assert_eq!(repair.status, LogStatus::Forbidden { since: at(0) });
        assert_eq!(due, plus(at(0), FORBIDDEN_FOR));
        assert!(problem(&repair).unwrap().contains("may not be read"));
        let (still, _) = refused(&repair, &failure, at(90_000));
        assert_eq!(still.status, repair.status, "since when it is so");
    }
    let asked = Some(SignedDuration::from_mins(20));
    let throttled = Failure::new(FailureClass::Throttled, "later").after(asked);
    let (_, due) = refused(&new(), &throttled, at(0));
    assert_eq!(due, at(minutes(20)));
    let broken = Failure::new(FailureClass::Network, "cut");
    let (repair, due) = refused(&new(), &broken, at(0));
    assert_eq!(due, plus(at(0), CHECK_SOON));
    assert_eq!(
        plan_redeliveries(&repair, &[], CALM, at(9)).repair.status,
        LogStatus::Read
    );
}

#[test]
fn what_was_not_asked_for_after_all_costs_no_try() {
    let log = [attempt(1, "a", 0, None), attempt(2, "b", 1, Some(202))];
    let look = plan_redeliveries(&new(), &log, CALM, at(minutes(5)));
    let mut repair = look.repair;
    assert_eq!((repair.failed[0].asks, repair.asked), (1, 1));
    repair.not_asked(&look.ask);
    repair.not_asked(&look.ask);
    assert_eq!((repair.failed[0].asks, repair.asked), (0, 0));
    repair.gone(&"a".parse().unwrap());
    assert_eq!((repair.failed.len(), repair.given_up), (0, 1));
}

#[test]
fn what_github_s_pace_did_not_allow_is_gone_on_with_for_a_while() {
    let mut log: Vec<DeliveryAttempt> = (0..40)
        .map(|n| attempt(n, &format!("lost-{n}"), 0, None))
        .collect();
    log.push(attempt(99, "arrived", 1, Some(202)));
    let now = at(minutes(5));
    let look = plan_redeliveries(&new(), &log, CALM, now);
    let mut repair = look.repair;
    repair.not_asked(&look.ask[1..]);
    repair.left = 29;
    let on = go_on(&repair, true, at(minutes(5) + 2)).unwrap();
    assert_eq!((on.ask.len(), on.repair.left, on.repair.asked), (29, 0, 30));
    assert!(on.ask.iter().all(|failed| failed.asks == 0));
    assert_eq!(asked(&on)[0], "lost-1");
    assert_eq!(go_on(&repair, false, at(minutes(5) + 2)), None);
    assert_eq!(go_on(&repair, true, at(minutes(10))), None);
    assert_eq!(go_on(&on.repair, true, at(minutes(5) + 2)), None);
}

#[test]
fn logs_are_named_in_one_word() {
    for name in ["app", "Acme/Shop"] {
        let log: WebhookLog = name.parse().unwrap();
        assert_eq!(log.to_string(), name);
    }
    assert!("shop".parse::<WebhookLog>().is_err());
}

/// A GitHub with its log, and an API that answers from some minute on, if ever.
struct Outside {
    log: Vec<DeliveryAttempt>,
    next: u64,
    asked: BTreeMap<String, u8>,
}

impl Outside {
    fn post(&mut self, guid: &str, second: i64, (up, redelivery): (bool, bool)) {
        self.next += 1;
        let status = up.then_some(202);
        let tried = attempt(self.next, guid, second, status);
        self.log.push(DeliveryAttempt {
            redelivery,
            ..tried
        });
    }

    fn arrived(&self, guid: &str) -> bool {
        let tries = self.log.iter().filter(|it| it.guid.as_str() == guid);
        tries
            .into_iter()
            .any(|it| it.outcome() == AttemptOutcome::Arrived)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Events over some hours with outages of minutes in between, and passes until long after.
    /// Every delivery that fails within three days is requested in the end, none that arrived ever is, and the bounds
    /// hold.
    #[test]
    fn whatever_fails_is_asked_for_within_bounds(
        events in proptest::collection::btree_set(0i64..20_000, 1..400),
        outages in proptest::collection::vec((0i64..330, 1i64..90), 0..4),
        full in proptest::collection::vec(any::<bool>(), 0..8),
    ) {
        let is_up = |second: i64| !outages.iter().any(|(from, long)| {
            (minutes(*from)..minutes(from + long)).contains(&second)
        });
        let mut outside = Outside { log: Vec::new(), next: 0, asked: BTreeMap::new() };
        let mut repair = new();
        let mut posted: BTreeSet<i64> = BTreeSet::new();
        let mut due = at(0);
        for minute in 0..1_500 {
            let now = minutes(minute);
            for second in events.range(..=now) {
                if posted.insert(*second) {
                    outside.post(&format!("e{second}"), *second, (is_up(*second), false));
                }
            }
            if at(now) < due {
                continue;
            }
            let visible: Vec<DeliveryAttempt> = outside.log.iter()
                .filter(|it| it.at >= since(&repair, at(now)))
                .cloned()
                .collect();
            // Now and then nothing may be asked for.
            let may_ask = full.get(usize::try_from(minute / 30).unwrap()).copied().unwrap_or(true);
            let look = plan_redeliveries(&repair, &visible, RedeliveryContext { may_ask, ..CALM }, at(now));
            prop_assert!(look.ask.len() <= MAX_REDELIVERIES_PER_PASS);
            prop_assert!(look.repair.failed.len() <= FAILED_MAX);
            prop_assert!(may_ask || look.ask.is_empty());
            for failed in &look.ask {
                let guid = failed.guid.to_string();
                prop_assert!(!outside.arrived(&guid), "{guid} had arrived");
                let asks = outside.asked.entry(guid.clone()).or_insert(0);
                *asks += 1;
                prop_assert!(*asks <= MAX_ATTEMPTS, "{guid} was asked for {asks} times");
                outside.post(&guid, now + 1, (is_up(now + 1), true));
            }
            repair = look.repair;
            due = look.due;
        }
        for second in &events {
            let guid = format!("e{second}");
            let asked = outside.asked.contains_key(&guid);
            prop_assert!(asked || is_up(*second), "{guid} was never asked for");
            // The last outage is over for hours: whatever was not probed while it lasted is there.
            let probed = outside.asked.get(&guid).is_some_and(|asks| *asks >= MAX_ATTEMPTS);
            prop_assert!(outside.arrived(&guid) || probed, "{guid} never came");
        }
    }

    /// An API that never answers is asked for no more than a probe at a time.
    #[test]
    fn a_door_that_never_answers_is_not_flooded(events in proptest::collection::btree_set(0i64..200_000, 1..60)) {
        let mut outside = Outside { log: Vec::new(), next: 0, asked: BTreeMap::new() };
        let mut repair = new();
        let mut asks = 0_i64;
        for second in &events {
            outside.post(&format!("e{second}"), *second, (false, false));
        }
        let looks = 4 * 24 * 12;
        for look_number in 0..looks {
            let now = look_number * minutes(5);
            let visible: Vec<DeliveryAttempt> = outside.log.iter()
                .filter(|it| it.at <= at(now) && it.at >= since(&repair, at(now)))
                .cloned()
                .collect();
            let look = plan_redeliveries(&repair, &visible, CALM, at(now));
            for failed in &look.ask {
                asks += 1;
                *outside.asked.entry(failed.guid.to_string()).or_insert(0) += 1;
                outside.post(failed.guid.as_str(), now + 1, (false, true));
            }
            repair = look.repair;
        }
        prop_assert!(asks <= looks / 3 + 1);
        prop_assert!(outside.asked.values().all(|asks| *asks <= MAX_ATTEMPTS));
        prop_assert!(repair.failed.is_empty());
    }
}
