//! Which time comes next, also where clocks change.

use jiff::Timestamp;
use proptest::prelude::*;

use super::{Timetable, cron, zone};

const BERLIN: Option<&str> = Some("Europe/Berlin");

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// The next times after one, as many as are expected.
fn times(crons: &[&str], timezone: Option<&str>, after: &str, count: usize) -> Vec<String> {
    let table = Timetable::new(crons.iter().copied(), timezone).unwrap();
    let mut last = at(after);
    let mut found = Vec::new();
    while let Some(next) = table.next(last).filter(|_| found.len() < count) {
        assert!(next > last, "{crons:?} after {last}");
        found.push(next.to_string());
        last = next;
    }
    found
}

/// Expressions, a zone, a time, and the times after it.
type Row<'a> = (&'a [&'a str], Option<&'a str>, &'a str, &'a [&'a str]);

#[test]
fn the_next_time_is_that_of_the_zone() {
    let rows: [Row<'_>; 8] = [
        (&[], None, "2026-03-01T09:00:00Z", &[]),
        (
            &["0 20 * * *"],
            None,
            "2026-03-01T09:00:00Z",
            &["2026-03-01T20:00:00Z", "2026-03-02T20:00:00Z"],
        ),
        (
            &["0 20 * * *"],
            None,
            "2026-03-01T20:00:00Z",
            &["2026-03-02T20:00:00Z"],
        ),
        (
            &["0 20 * * *"],
            None,
            "2026-03-01T19:59:59.5Z",
            &["2026-03-01T20:00:00Z"],
        ),
        (
            &["0 20 * * *"],
            Some("Asia/Kolkata"),
            "2026-03-01T09:00:00Z",
            &["2026-03-01T14:30:00Z"],
        ),
        (
            &["0 8 * * 1", "30 7 * * MON-FRI"],
            BERLIN,
            "2026-02-27T12:00:00Z",
            &[
                "2026-03-02T06:30:00Z",
                "2026-03-02T07:00:00Z",
                "2026-03-03T06:30:00Z",
            ],
        ),
        (
            &["0 0 29 2 *"],
            None,
            "2026-03-01T09:00:00Z",
            &["2028-02-29T00:00:00Z"],
        ),
        (
            &["0 0 1 1 *"],
            Some("Pacific/Kiritimati"),
            "2026-03-01T09:00:00Z",
            &["2026-12-31T10:00:00Z"],
        ),
    ];
    for (crons, timezone, after, expected) in rows {
        let count = expected.len().max(1);
        assert_eq!(times(crons, timezone, after, count), expected, "{crons:?}");
    }
}

#[test]
fn a_change_of_clocks_leaves_no_time_of_day_out_and_repeats_none() {
    let rows: [Row<'_>; 6] = [
        // 20:00 stays 20:00, though that is another time of UTC.
        (
            &["0 20 * * *"],
            BERLIN,
            "2026-03-28T00:00:00Z",
            &["2026-03-28T19:00:00Z", "2026-03-29T18:00:00Z"],
        ),
        (
            &["0 20 * * *"],
            BERLIN,
            "2026-10-24T00:00:00Z",
            &["2026-10-24T18:00:00Z", "2026-10-25T19:00:00Z"],
        ),
        // There is no 2:30 on that day: it comes when the clocks have gone forward.
        (
            &["30 2 * * *"],
            BERLIN,
            "2026-03-28T12:00:00Z",
            &["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"],
        ),
        // There are two on that day: the first one counts.
        (
            &["30 2 * * *"],
            BERLIN,
            "2026-10-24T12:00:00Z",
            &["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"],
        ),
        // Every hour is every hour.
        (
            &["0 * * * *"],
            BERLIN,
            "2026-10-24T23:30:00Z",
            &[
                "2026-10-25T00:00:00Z",
                "2026-10-25T01:00:00Z",
                "2026-10-25T02:00:00Z",
            ],
        ),
        (
            &["0 * * * *"],
            BERLIN,
            "2026-03-28T23:30:00Z",
            &[
                "2026-03-29T00:00:00Z",
                "2026-03-29T01:00:00Z",
                "2026-03-29T02:00:00Z",
            ],
        ),
    ];
    for (crons, timezone, after, expected) in rows {
        let found = times(crons, timezone, after, expected.len());
        assert_eq!(found, expected, "{crons:?} after {after}");
    }
}

#[test]
fn what_is_no_time_says_so() {
    for (bad, told) in [
        ("", "it has 0 fields"),
        ("20", "it has one field"),
        ("0 20 * *", "it has 4 fields"),
        ("0 0 20 * * *", "it has 6 fields"),
        ("0 20 * * * * 2026", "it has 7 fields"),
        ("60 20 * * *", "its minute has 60, but goes from 0 to 59"),
        ("0 25 * * *", "its hour has 25, but goes from 0 to 23"),
        (
            "0 20 1-32 * *",
            "its day of the month has 32, but goes from 1 to 31",
        ),
        ("0 20 * 0 *", "its month has 0, but goes from 1 to 12"),
        ("0 20 * * XYZ", "its day of the week cannot be `XYZ`"),
        ("@reboot", "it has one field"),
    ] {
        let why = cron(bad).unwrap_err();
        assert!(why.contains("five fields"), "{bad}: {why}");
        assert!(why.ends_with(told), "{bad}: {why}");
        assert!(!why.ends_with('.'), "{bad}: {why}");
    }
    let never = cron("0 0 30 2 *").unwrap_err();
    assert_eq!(never, "names a time that never comes");
    let long = format!("{} * * * *", "1,".repeat(60));
    assert_eq!(cron(&long).unwrap_err(), "has more than 100 characters");
    let unknown = zone("Europe/Berlon").unwrap_err();
    assert_eq!(unknown, "names no time zone; did you mean `Europe/Berlin`?");
    assert!(zone("CET-1CEST").is_err() && zone("../etc/passwd").is_err());
    let bad = Timetable::new(["0 20 * * *", "x"], None).unwrap_err();
    assert!(bad.contains("five fields"));
}

proptest! {
    /// A repository writes what it likes.
    #[test]
    fn any_text_is_an_expression_or_is_refused(text in "\\PC{0,40}|([0-9*/,LW#?+A-Z-]{1,6} ){4}[0-9*/,LW#?+A-Z-]{1,6}") {
        if let Ok(table) = Timetable::new([text.as_str()], BERLIN) {
            let after = at("2026-03-28T12:00:00Z");
            prop_assert!(table.next(after).is_none_or(|next| next > after));
        }
    }
}
