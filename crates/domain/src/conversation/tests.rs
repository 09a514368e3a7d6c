//! Conversations page by page: nothing delivered twice, nothing skipped.

use super::*;
use crate::facts::fixture::at;
use crate::session::Originator;
use proptest::prelude::*;

fn session() -> SessionId {
    "123".parse().unwrap()
}

fn message(n: u32, second: i64, text: &str) -> Activity {
    Activity {
        id: format!("a{n:03}").parse().unwrap(),
        at: at(second),
        originator: Originator::Agent,
        kind: ActivityKind::AgentMessaged {
            text: text.to_owned(),
        },
    }
}

fn texts(page: &MessagePage) -> Vec<&str> {
    page.messages.iter().map(|it| it.text.as_str()).collect()
}

fn read(activities: &[Activity], cursor: &ConversationCursor) -> MessagePage {
    page(&session(), activities, cursor, at(1_000))
}

#[test]
fn messages_come_oldest_first_and_nothing_but_messages() {
    let log = [
        message(2, 20, "second"),
        Activity {
            kind: ActivityKind::Completed,
            ..message(3, 30, "")
        },
        Activity {
            kind: ActivityKind::UserMessaged {
                text: "third".to_owned(),
            },
            ..message(4, 40, "")
        },
        message(1, 10, "first"),
        message(1, 10, "first"),
    ];
    let page = read(&log, &ConversationCursor::default());
    assert_eq!(texts(&page), ["first", "second", "third"]);
    let roles: Vec<_> = page.messages.iter().map(|it| it.role.as_str()).collect();
    assert_eq!(roles, ["assistant", "assistant", "user"]);
    assert!(!page.more);
}

#[test]
fn the_same_cursor_tells_the_same_page_and_nothing_new_leaves_it_as_it_was() {
    let log = [message(1, 10, "first"), message(2, 20, "second")];
    let first = read(&log[..1], &ConversationCursor::default());
    assert_eq!(read(&log, &first.next), read(&log, &first.next));
    let second = read(&log, &first.next);
    assert_eq!(texts(&second), ["second"]);
    let nothing = read(&log, &second.next);
    assert_eq!((texts(&nothing), &nothing.next), (vec![], &second.next));
    let silent = read(&[], &ConversationCursor::default());
    assert_eq!(
        (silent.next.to_string().as_str(), silent.more),
        ("m1", false)
    );
}

#[test]
fn a_twin_of_the_same_moment_that_shows_late_is_told() {
    let early = read(&[message(2, 10, "b")], &ConversationCursor::default());
    let both = [message(1, 10, "a"), message(2, 10, "b")];
    let late = read(&both, &early.next);
    assert_eq!(texts(&late), ["a"]);
    assert_eq!(texts(&read(&both, &late.next)), Vec::<&str>::new());
}

#[test]
fn another_session_is_told_from_its_beginning() {
    let first = read(
        &[message(1, 500, "of the first")],
        &ConversationCursor::default(),
    );
    let other: SessionId = "456".parse().unwrap();
    assert_eq!(first.next.from(&other), None);
    let log = [message(9, 10, "of the other")];
    let told = page(&other, &log, &first.next, at(1_000));
    assert_eq!(texts(&told), ["of the other"]);
    let silent = page(&other, &[], &first.next, at(1_000));
    assert_eq!(silent.next, first.next);
}

#[test]
fn a_clock_that_runs_ahead_hides_nothing() {
    let ahead = read(
        &[message(1, 90_000, "from tomorrow")],
        &ConversationCursor::default(),
    );
    let log = [
        message(1, 90_000, "from tomorrow"),
        message(2, 1_100, "now"),
    ];
    let next = page(&session(), &log, &ahead.next, at(1_200));
    assert_eq!(texts(&next), ["now"]);
}

#[test]
fn a_page_has_bounds_and_the_first_message_always_fits() {
    let long = "x".repeat(MESSAGE_BYTES_MAX * 2);
    let log: Vec<_> = (0..40)
        .map(|n| message(n, i64::from(n) * 5, &long))
        .collect();
    let page = read(&log, &ConversationCursor::default());
    assert_eq!((page.messages.len(), page.more), (3, true));
    let short: Vec<_> = (0..40).map(|n| message(n, i64::from(n), "x")).collect();
    assert_eq!(
        read(&short, &ConversationCursor::default()).messages.len(),
        MESSAGES_MAX
    );
}

#[test]
fn secrets_are_taken_out() {
    let log = [message(1, 1, "ghp_0123456789abcdefghijABCDEFGHIJ012345")];
    assert_eq!(
        texts(&read(&log, &ConversationCursor::default())),
        ["[secret]"]
    );
}

#[test]
fn other_texts_are_no_cursors() {
    for text in [
        "",
        "m",
        "m2",
        "m1.",
        "m1.123",
        "m1.123.x",
        "e1.5.",
        "w1",
        "m1.1.99.a b",
        "m1.1.99.~1~2",
        "m1.1.99.~1~x~a",
        "m1.1.99.~1~2~a~b",
        "m1.1.99.~1~2~a.~1~2~a.~1~2~a",
    ] {
        assert_eq!(
            text.parse::<ConversationCursor>(),
            Err(InvalidConversationCursor),
            "{text}"
        );
    }
    let many = format!(
        "m1.1.5{}",
        (0..33).map(|n| format!(".a{n}")).collect::<String>()
    );
    assert_eq!(
        many.parse::<ConversationCursor>(),
        Err(InvalidConversationCursor)
    );
}

#[test]
fn a_crowd_of_one_moment_is_told_once_and_what_is_little_is_named() {
    let crowd: Vec<_> = (0..70).map(|n| message(n, 10, &n.to_string())).collect();
    let (mut cursor, mut told) = (ConversationCursor::default(), Vec::new());
    for _ in 0..6 {
        let page = read(&crowd, &cursor);
        assert_eq!(page.next.to_string().parse(), Ok(page.next.clone()));
        told.extend(page.messages.iter().map(|it| it.text.clone()));
        cursor = page.next;
    }
    let all: Vec<_> = (0..70).map(|n| n.to_string()).collect();
    assert_eq!(told, all);
    assert!(cursor.to_string().contains('~'), "{cursor}");
    // For later messages a few names are enough again.
    let later = read(&[message(99, 900, "later")], &cursor);
    assert_eq!(texts(&later), ["later"]);
    assert!(!later.next.to_string().contains('~'), "{}", later.next);
}

proptest! {
    /// Messages of few moments, some ahead of our clock, appear in any order of their ids, a few at a time: each is
    /// delivered once.
    #[test]
    fn crowds_are_told_once_however_they_come(
        moments in prop::collection::vec(prop::sample::select(vec![10_i64, 11, 500, 1_000, 90_000]), 0..140),
        steps in prop::collection::vec(1_usize..60, 0..8),
    ) {
        let mut moments = moments;
        moments.sort_unstable();
        let log: Vec<_> = (0_u32..).zip(&moments)
            .map(|(n, second)| message(n, *second, "x"))
            .collect();
        let (mut cursor, mut told, mut there) = (ConversationCursor::default(), Vec::new(), 0);
        for step in steps.into_iter().chain([log.len()]).chain([0; 20]) {
            there = (there + step).min(log.len());
            let since = cursor.from(&session());
            // Newest first, as they may be listed too.
            let shown: Vec<_> = log[..there].iter().rev()
                .filter(|it| since.is_none_or(|since| it.at >= since))
                .cloned()
                .collect();
            let page = read(&shown, &cursor);
            prop_assert_eq!(page.next.to_string().parse::<ConversationCursor>(), Ok(page.next.clone()));
            told.extend(page.messages.into_iter().map(|it| it.id));
            cursor = page.next;
        }
        let all: Vec<_> = log.iter().map(|it| it.id.clone()).collect();
        prop_assert_eq!(told, all);
    }

    /// However the log grows, a reader who follows the pages gets each message once.
    #[test]
    fn everything_is_told_once(seconds in prop::collection::vec(0_i64..400, 0..60)) {
        let log: Vec<_> = (0_u32..).zip(&seconds)
            .map(|(n, second)| message(n, *second, "x"))
            .collect();
        let (mut cursor, mut told) = (ConversationCursor::default(), Vec::new());
        for _ in 0..=log.len() {
            let since = cursor.from(&session());
            let shown: Vec<_> = log.iter()
                .filter(|it| since.is_none_or(|since| it.at >= since))
                .cloned()
                .collect();
            let page = read(&shown, &cursor);
            prop_assert_eq!(page.next.to_string().parse::<ConversationCursor>(), Ok(page.next.clone()));
            told.extend(page.messages.into_iter().map(|it| it.id));
            cursor = page.next;
        }
        let mut all: Vec<_> = log.iter().map(|it| it.id.clone()).collect();
        told.sort();
        all.sort();
        prop_assert_eq!(told, all);
    }
}
