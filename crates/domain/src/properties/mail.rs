//! Mail: no order of independent events and no damage to a log changes what its valid events come to.

use std::collections::BTreeMap;

use serde_json::Map;

use super::*;
use crate::ids::MessageId;
use crate::mail::{
    Counters, Entry, Letter, Log, Mail, MailAction, MailEvent, MessageOrder, ReceivedMessage, Seal,
    Stamp, parse, rebuild,
};

const PERSONAS: [&str; 3] = ["art", "artisan", "weaver"];
const TAGS: [&str; 2] = ["x", "needs-action"];

/// What happens to a message after it was sent, by number.
fn happening(number: u8, seconds: i64) -> MailAction {
    let tag = TAGS[usize::from(number) % 2].parse().unwrap();
    match number % 5 {
        0 => MailAction::Read { at: at(seconds) },
        1 => MailAction::TagAdd(tag),
        2 => MailAction::TagRm(tag),
        3 => MailAction::Trash,
        _ => MailAction::Untrash,
    }
}

/// What is asked for about a message that is there, by number.
fn order(number: u8) -> MessageOrder {
    let tag = TAGS[usize::from(number) % 2].parse().unwrap();
    match number % 5 {
        0 => MessageOrder::Read,
        1 => MessageOrder::TagAdd(tag),
        2 => MessageOrder::TagRm(tag),
        3 => MessageOrder::Trash,
        _ => MessageOrder::Untrash,
    }
}

fn letter(number: u8) -> Letter {
    let persona = |at: u8| PERSONAS[usize::from(at) % 3].parse().unwrap();
    Letter {
        from: persona(number / 3),
        to: persona(number),
        subject: format!("Subject {number}\u{1f680}"),
        body: "line\nline".to_owned(),
        attachments: Vec::new(),
    }
}

/// Messages with what happens to them, one after the other.
fn stories() -> impl Strategy<Value = Vec<Vec<MailEvent>>> {
    let story = (any::<u8>(), proptest::collection::vec(any::<u8>(), 0..5));
    proptest::collection::vec(story, 1..6).prop_map(|stories| {
        let stories = (1i64..).zip(stories);
        let all = stories.map(|(message, (first, then))| {
            let whats = then.iter().zip(0..).map(|(it, at)| happening(*it, at));
            let whats = std::iter::once(MailAction::Send(letter(first))).chain(whats);
            let events = whats.enumerate().map(|(turn, what)| MailEvent {
                id: format!("{message}-{turn}").parse().unwrap(),
                at: at(message),
                message: MessageId::try_from(message).unwrap(),
                actor: "weaver".to_owned(),
                what,
                other: Map::new(),
            });
            events.collect()
        });
        all.collect()
    })
}

/// One of the orders in which messages have their events each in turn.
fn woven(stories: &[Vec<MailEvent>], turns: &[u8]) -> Vec<MailEvent> {
    let mut left: Vec<_> = stories.iter().map(|story| story.iter()).collect();
    let mut woven = Vec::new();
    for turn in turns {
        let count = left.len();
        woven.extend(left[usize::from(*turn) % count].next().cloned());
    }
    woven.extend(left.into_iter().flatten().cloned());
    woven
}

fn lines(events: &[MailEvent]) -> Vec<Vec<u8>> {
    let lines = events.iter().map(|event| event.clone().line());
    lines.map(String::into_bytes).collect()
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn the_order_of_events_about_different_messages_makes_no_difference(
        stories in stories(), one in any::<[u8; 24]>(), other in any::<[u8; 24]>()
    ) {
        let mail = |turns: &[u8]| Mail::fold(woven(&stories, turns).iter());
        prop_assert_eq!(mail(&one), mail(&other));
        let sent = PERSONAS.map(|persona| mail(&one).sent(&persona.parse().unwrap()).len());
        prop_assert_eq!(sent.iter().sum::<usize>(), stories.len(), "no message is lost");
    }

    #[test]
    fn rows_that_are_kept_event_by_event_are_what_the_fold_over_the_log_comes_to(
        asks in proptest::collection::vec((any::<u8>(), any::<u8>()), 1..40)
    ) {
        let mut counters = Counters::default();
        let mut rows: BTreeMap<MessageId, ReceivedMessage> = BTreeMap::new();
        let mut log = String::new();
        for ((about, what), turn) in asks.into_iter().zip(0i64..) {
            let actor = "weaver".to_owned();
            let stamp = Stamp { id: format!("e{turn}").parse().unwrap(), at: at(turn), actor };
            // One message more, or an order about one that is there.
            let about = usize::from(about) % (rows.len() + 1);
            let added = match rows.values().nth(about) {
                None => Some(counters.send(letter(what), stamp).unwrap()),
                Some(message) => counters.order(message, order(what), stamp).unwrap(),
            };
            let Some(added) = added else { continue };
            log.push_str(&(added.line + "\n"));
            rows.insert(added.message.message_id, added.message);
        }
        let log = Log::read(log.as_bytes(), &counters.seal());
        prop_assert_eq!(log.faults(), &[]);
        prop_assert_eq!(&counters, &Counters::of(&log, 0, 0));
        let folded: Vec<ReceivedMessage> = log.mail().messages().cloned().collect();
        prop_assert_eq!(folded, rows.into_values().collect::<Vec<_>>());
    }

    #[test]
    fn a_line_says_what_its_event_said(stories in stories()) {
        for event in stories.into_iter().flatten() {
            let read = parse(event.clone().line().as_bytes());
            prop_assert_eq!(read, Ok(Entry::Event(event)));
        }
    }

    #[test]
    fn a_log_that_was_damaged_gives_back_every_valid_event(
        stories in stories(), turns in any::<[u8; 24]>(),
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 0..4),
        end in any::<prop::sample::Index>()
    ) {
        let whole = lines(&woven(&stories, &turns));
        let mut damaged = whole.clone();
        for (line, at, byte) in cuts {
            let line = line.index(damaged.len());
            if damaged[line].is_empty() { continue; }
            let at = at.index(damaged[line].len());
            damaged[line][at] = if byte == b'\n' { 0 } else { byte };
        }
        let mut text = damaged.join(&b'\n');
        text.push(b'\n');
        text.truncate(end.index(text.len() + 1));
        let seal = Seal::default();
        let mended = rebuild(&text, &seal, at(0));
        let log = Log::read(&mended.text, &seal);
        prop_assert_eq!(log.faults(), &[]);
        let untouched = text.split(|byte| *byte == b'\n').filter(|line| whole.iter().any(|it| it == line));
        for line in untouched {
            prop_assert!(log.lines().iter().any(|kept| kept.bytes == line));
        }
        let count = text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
        prop_assert_eq!(mended.kept + mended.rejected.len(), count, "what is not kept is laid aside");
        let again = rebuild(&mended.text, &seal, at(1));
        prop_assert_eq!(again.text, mended.text);
    }

    #[test]
    fn no_bytes_are_too_odd_for_a_log(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let seal = Seal::default();
        let mended = rebuild(&bytes, &seal, at(0));
        let log = Log::read(&mended.text, &seal);
        prop_assert_eq!(log.faults(), &[]);
    }
}
