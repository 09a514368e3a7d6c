//! The fold: inbox, sent, read status, tags and trash.

use super::*;

fn shown(messages: &[&ReceivedMessage]) -> Vec<i64> {
    let numbers = messages.iter().map(|message| message.message_id.number());
    numbers.collect()
}

#[test]
fn a_recipient_is_compared_whole() {
    let mail = mail(&log([
        send(1, 1, "artisan"),
        send(2, 2, "art"),
        send(3, 3, "art-2"),
    ]));
    assert_eq!(shown(&mail.inbox(&persona("art"), false)), [2]);
    assert_eq!(shown(&mail.inbox(&persona("artisan"), false)), [1]);
    assert_eq!(shown(&mail.inbox(&persona("a"), false)), [0; 0]);
    assert_eq!(shown(&mail.sent(&persona("weaver"))), [1, 2, 3]);
    assert_eq!(shown(&mail.sent(&persona("weave"))), [0; 0]);
}

#[test]
fn what_is_sent_is_unread_until_it_is_read_and_twice_is_once() {
    let read = |number, seconds| event(number, 1, MailAction::Read { at: at(seconds) });
    let sent = send(1, 1, "art");
    let art = persona("art");
    assert_eq!(
        shown(&mail(&log([sent.clone()])).inbox(&art, true)),
        [1],
        "unread"
    );
    let once = mail(&log([sent.clone(), read(2, 5)]));
    assert_eq!(shown(&once.inbox(&art, true)), [0; 0]);
    assert_eq!(once.inbox(&art, false)[0].read_at, Some(at(5)));
    let twice = mail(&log([sent.clone(), read(2, 5), read(3, 9)]));
    assert_eq!(twice, once);
    let swapped = mail(&log([sent, read(3, 9), read(2, 5)]));
    assert_eq!(swapped, once);
}

#[test]
fn trashed_mail_is_in_no_inbox_and_comes_back() {
    let art = persona("art");
    let trashed = [send(1, 1, "art"), event(2, 1, MailAction::Trash)];
    let gone = mail(&log(trashed.clone()));
    assert_eq!(shown(&gone.inbox(&art, false)), [0; 0]);
    assert!(gone.message(id(1), &art).unwrap().trashed);
    assert_eq!(shown(&gone.sent(&persona("weaver"))), [1]);
    let back = event(3, 1, MailAction::Untrash);
    let back = mail(&log(trashed.into_iter().chain([back])));
    assert_eq!(shown(&back.inbox(&art, true)), [1]);
}

#[test]
fn tags_are_put_on_and_taken_off() {
    let tag = |name: &str| -> MailTag { name.parse().unwrap() };
    let add = |number, name| event(number, 1, MailAction::TagAdd(tag(name)));
    let mail = mail(&log([
        send(1, 1, "art"),
        add(2, "b"),
        add(3, "a"),
        add(4, "a"),
        event(5, 1, MailAction::TagRm(tag("b"))),
    ]));
    let message = mail.message(id(1), &persona("art")).unwrap();
    assert_eq!(message.tags, [tag("a")].into());
}

#[test]
fn an_order_writes_nothing_where_things_are_so_already() {
    let tag: MailTag = "x".parse().unwrap();
    let fresh = mail(&log([send(1, 1, "art")]));
    let done = mail(&log([
        send(1, 1, "art"),
        event(2, 1, MailAction::Read { at: at(2) }),
        event(3, 1, MailAction::TagAdd(tag.clone())),
        event(4, 1, MailAction::Trash),
    ]));
    let art = persona("art");
    let ordered = |mail: &Mail, order| mail.ordered(id(1), &art, order, at(9)).unwrap();
    for (order, on_fresh, on_done) in [
        (
            MessageOrder::Read,
            Some(MailAction::Read { at: at(9) }),
            None,
        ),
        (
            MessageOrder::TagAdd(tag.clone()),
            Some(MailAction::TagAdd(tag.clone())),
            None,
        ),
        (
            MessageOrder::TagRm(tag.clone()),
            None,
            Some(MailAction::TagRm(tag.clone())),
        ),
        (MessageOrder::Trash, Some(MailAction::Trash), None),
        (MessageOrder::Untrash, None, Some(MailAction::Untrash)),
    ] {
        assert_eq!(ordered(&fresh, order.clone()), on_fresh, "{order:?}");
        assert_eq!(ordered(&done, order.clone()), on_done, "{order:?}");
    }
}

#[test]
fn an_unknown_message_and_that_of_another_persona_answer_alike() {
    let mail = mail(&log([send(1, 1, "art")]));
    let told = |message, name: &str| {
        let refused = mail.ordered(id(message), &persona(name), MessageOrder::Trash, at(9));
        refused.unwrap_err().to_string()
    };
    assert_eq!(told(1, "artisan"), "artisan has no message #1");
    assert_eq!(told(2, "artisan"), "artisan has no message #2");
    assert_eq!(told(1, "weaver"), "weaver has no message #1");
}

#[test]
fn messages_are_counted_for_each_persona() {
    let mail = mail(&log([
        send(1, 1, "art"),
        send(2, 2, "art"),
        send(3, 3, "art"),
        event(4, 1, MailAction::Read { at: at(4) }),
        event(5, 2, MailAction::Trash),
    ]));
    let counts = mail.counts();
    let of = |name: &str| counts[&persona(name)];
    let art = Counts {
        messages: 2,
        unread: 1,
        sent: 0,
        trashed: 1,
    };
    assert_eq!(of("art"), art);
    assert_eq!(
        of("weaver"),
        Counts {
            sent: 3,
            ..Counts::default()
        }
    );
    assert_eq!(counts.len(), 2);
}
