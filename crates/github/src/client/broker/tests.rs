//! Who may still spend, and until when not.

use std::collections::BTreeSet;

use super::*;
use crate::client::BETWEEN_WRITES;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(1_800_000_000_000 + millis).unwrap()
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.insert(*name, value.parse().unwrap());
    }
    headers
}

/// The headers of an answer about the hour that ends ten minutes after the beginning.
fn headers_with(remaining: u64) -> HeaderMap {
    let reset = at(600_000).as_second().to_string();
    headers(&[
        ("x-ratelimit-limit", "1000"),
        ("x-ratelimit-remaining", &remaining.to_string()),
        ("x-ratelimit-reset", &reset),
        ("x-ratelimit-resource", "core"),
    ])
}

const MINE: BudgetOwner = BudgetOwner::Installation(1);

fn try_to(broker: &Broker, spend: Spending, millis: i64) -> Result<(), Timestamp> {
    let spent = broker.spend(&MINE, ("core", "doing it", spend), at(millis));
    spent.map_err(|short| short.until)
}

#[test]
fn reads_stop_first_then_what_a_merge_reads_then_writes() {
    let broker = Broker::new(BETWEEN_WRITES);
    let rows = [
        (101, [true, true, true]),
        (100, [false, true, true]),
        (11, [false, true, true]),
        (10, [false, false, true]),
        (1, [false, false, true]),
        (0, [false, false, false]),
    ];
    for (turn, (remaining, expected)) in rows.into_iter().enumerate() {
        broker.note(&MINE, (StatusCode::OK, &headers_with(remaining), ""), at(0));
        let millis = i64::try_from(turn).unwrap() * 2_000;
        for (spend, may) in [Spending::Read, Spending::KeptRead, Spending::Write]
            .into_iter()
            .zip(expected)
        {
            let outcome = try_to(&broker, spend, millis);
            let wanted = if may { Ok(()) } else { Err(at(600_000)) };
            assert_eq!(outcome, wanted, "{remaining} left, {spend:?}");
        }
    }
    assert_eq!(
        try_to(&broker, Spending::Read, 600_000),
        Ok(()),
        "a new hour"
    );
}

#[test]
fn budgets_of_others_and_of_other_resources_are_their_own() {
    let broker = Broker::new(BETWEEN_WRITES);
    broker.note(&MINE, (StatusCode::OK, &headers_with(0), ""), at(0));
    let other = BudgetOwner::Installation(2);
    assert!(
        broker
            .spend(&other, ("core", "reading", Spending::Read), at(0))
            .is_ok()
    );
    assert!(
        broker
            .spend(&MINE, ("graphql", "reading", Spending::Read), at(0))
            .is_ok()
    );
    assert!(
        broker
            .spend(&MINE, ("core", "reading", Spending::Read), at(0))
            .is_err()
    );
    let owners: Vec<String> = broker.all().into_iter().map(|it| it.owner).collect();
    assert_eq!(owners, ["installation 1"]);
}

#[test]
fn writes_are_a_second_apart_and_five_hundred_an_hour() {
    let broker = Broker::new(BETWEEN_WRITES);
    assert_eq!(try_to(&broker, Spending::Write, 0), Ok(()));
    assert_eq!(try_to(&broker, Spending::Write, 999), Err(at(1_000)));
    assert_eq!(try_to(&broker, Spending::Read, 999), Ok(()));
    assert_eq!(try_to(&broker, Spending::Write, 1_000), Ok(()));
    for write in 2..500 {
        assert_eq!(try_to(&broker, Spending::Write, write * 2_000), Ok(()));
    }
    assert_eq!(
        try_to(&broker, Spending::Write, 1_000_000),
        Err(at(3_600_000))
    );
    assert_eq!(try_to(&broker, Spending::Write, 3_600_000), Ok(()));
}

#[test]
fn writes_that_wait_come_back_one_after_the_other() {
    let broker = Broker::new(BETWEEN_WRITES);
    let write = |what: &str, millis| {
        let spent = broker.spend(&MINE, ("core", what, Spending::Write), at(millis));
        spent.map_err(|short| short.until)
    };
    assert_eq!(write("a", 0), Ok(()));
    for (what, turn) in [("b", 1_000), ("c", 2_000), ("d", 3_000)] {
        assert_eq!(write(what, 10), Err(at(turn)));
        assert_eq!(
            write(what, 20),
            Err(at(turn)),
            "asking again keeps the turn"
        );
    }
    assert_eq!(write("b", 1_000), Ok(()));
    assert_eq!(write("d", 1_500), Err(at(3_000)));
    // `c` does not come back: its second passes, and later calls do not wait for it.
    assert_eq!(write("d", 3_000), Ok(()));
    assert_eq!(write("e", 200_000), Ok(()));
}

#[test]
fn a_late_write_takes_one_turn_and_moves_no_other() {
    let broker = Broker::new(BETWEEN_WRITES);
    let write = |what: &str, millis| {
        let spent = broker.spend(&MINE, ("core", what, Spending::Write), at(millis));
        spent.map_err(|short| short.until)
    };
    assert_eq!(write("a", 0), Ok(()));
    for (what, turn) in [("late", 1_000), ("b", 2_000), ("c", 3_000), ("d", 4_000)] {
        assert_eq!(write(what, 10), Err(at(turn)));
    }
    assert_eq!(write("late", 2_000), Ok(()));
    assert_eq!(
        write("b", 2_000),
        Err(at(5_000)),
        "a second later `c` has its turn"
    );
    for (what, turn) in [("c", 3_000), ("d", 4_000), ("b", 5_000)] {
        assert_eq!(write(what, turn), Ok(()), "{what}");
    }
}

/// A write every 900 ms, each of which comes 900 ms after its turn, and one that is always in time: in each of its turns a late one was
/// just made.
#[test]
fn a_write_whose_turns_are_taken_by_late_ones_is_made_all_the_same() {
    let broker = Broker::new(BETWEEN_WRITES);
    let others = (0..500).map(|number| (number * 900, format!("other {number}")));
    let mut asked: BTreeSet<(i64, String)> = others.collect();
    asked.insert((20_010, "mine".to_owned()));
    let mut made = None;
    while let Some((millis, what)) = asked.pop_first() {
        if made.is_some() || millis > 450_000 {
            break;
        }
        let is_mine = what == "mine";
        match broker.spend(&MINE, ("core", what.as_str(), Spending::Write), at(millis)) {
            Ok(()) if is_mine => made = Some(millis),
            Ok(()) => {}
            Err(short) => {
                let late = if is_mine { 0 } else { 900 };
                let turn = short.until.as_millisecond() - at(0).as_millisecond();
                asked.insert((turn + late, what));
            }
        }
    }
    let made = made.expect("it is made");
    assert!((50_010..80_000).contains(&made), "{made}");
}

#[test]
fn a_clock_that_is_set_back_holds_nothing_up() {
    let broker = Broker::new(BETWEEN_WRITES);
    assert_eq!(try_to(&broker, Spending::Write, 3_600_000), Ok(()));
    assert_eq!(
        try_to(&broker, Spending::Write, 3_600_000),
        Err(at(3_601_000))
    );
    assert_eq!(try_to(&broker, Spending::Write, 0), Ok(()));
}

#[test]
fn the_points_of_a_minute_end_for_reads_first() {
    let broker = Broker::new(BETWEEN_WRITES);
    for _ in 0..700 {
        assert_eq!(try_to(&broker, Spending::Read, 0), Ok(()));
    }
    assert_eq!(try_to(&broker, Spending::Read, 59_999), Err(at(60_000)));
    for _ in 0..50 {
        assert_eq!(try_to(&broker, Spending::KeptRead, 0), Ok(()));
    }
    assert_eq!(try_to(&broker, Spending::KeptRead, 0), Err(at(60_000)));
    for write in 0..20 {
        assert_eq!(try_to(&broker, Spending::Write, write * 1_000), Ok(()));
    }
    assert_eq!(try_to(&broker, Spending::Write, 30_000), Err(at(60_000)));
    assert_eq!(try_to(&broker, Spending::Read, 60_000), Ok(()));
}

#[test]
fn a_sandbox_that_wants_writes_closer_has_shorter_minutes() {
    let broker = Broker::new(BETWEEN_WRITES / 10);
    for _ in 0..700 {
        assert_eq!(try_to(&broker, Spending::Read, 0), Ok(()));
    }
    assert_eq!(try_to(&broker, Spending::Read, 5_999), Err(at(6_000)));
    assert_eq!(try_to(&broker, Spending::Read, 6_000), Ok(()));
}

#[test]
fn secondary_limits_without_a_time_double_until_there_was_calm() {
    let broker = Broker::new(BETWEEN_WRITES);
    let (nothing, limit) = (HeaderMap::new(), "You have exceeded a secondary rate limit");
    let mut now = 0;
    for expected in [60, 120, 240, 480, 960, 1_920, 3_600, 3_600] {
        let refuse = |millis| {
            let answer = (StatusCode::FORBIDDEN, &nothing, limit);
            broker.note(&MINE, answer, at(millis))
        };
        assert_eq!(refuse(now).map(|wait| wait.as_secs()), Some(expected));
        // What was on its way at the same time is no second refusal.
        assert_eq!(refuse(now).map(|wait| wait.as_secs()), Some(expected));
        now += expected * 1_000;
        assert_eq!(try_to(&broker, Spending::Write, now - 1), Err(at(now)));
        assert_eq!(try_to(&broker, Spending::Read, now - 1), Err(at(now)));
    }
    for (later, expected) in [(899_999, 3_600), (3_600_000 + 900_000, 60)] {
        now += later;
        broker.note(&MINE, (StatusCode::OK, &nothing, ""), at(now));
        let answer = (StatusCode::FORBIDDEN, &nothing, limit);
        let again = broker.note(&MINE, answer, at(now));
        assert_eq!(again.map(|wait| wait.as_secs()), Some(expected));
    }
}

#[test]
fn a_refusal_with_a_time_is_obeyed_and_a_used_up_budget_ends_with_its_hour() {
    let broker = Broker::new(BETWEEN_WRITES);
    let asked = headers(&[("retry-after", "17")]);
    let wait = broker.note(&MINE, (StatusCode::TOO_MANY_REQUESTS, &asked, ""), at(0));
    assert_eq!(wait, Some(SignedDuration::from_secs(17)));
    assert_eq!(try_to(&broker, Spending::Read, 16_999), Err(at(17_000)));
    let used_up = (
        StatusCode::FORBIDDEN,
        &headers_with(0),
        "API rate limit exceeded",
    );
    let wait = broker.note(&MINE, used_up, at(20_000));
    assert_eq!(wait, Some(SignedDuration::from_secs(580)));
    assert_eq!(try_to(&broker, Spending::Write, 30_000), Err(at(600_000)));
    assert_eq!(try_to(&broker, Spending::Write, 600_000), Ok(()));
}

#[test]
fn a_replaced_token_takes_nothing_over() {
    let broker = Broker::new(BETWEEN_WRITES);
    let old = BudgetOwner::Token("old".to_owned());
    let new = BudgetOwner::Token("new".to_owned());
    broker.note(&old, (StatusCode::OK, &headers_with(0), ""), at(0));
    assert!(
        broker
            .spend(&new, ("core", "reading", Spending::Read), at(0))
            .is_ok()
    );
    assert_eq!(broker.all(), []);
}
