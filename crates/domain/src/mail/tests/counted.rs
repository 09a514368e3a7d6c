//! Counters, boxes and pages beside a log, and what is sent to whom.

use super::*;

fn stamp(number: u32) -> Stamp {
    Stamp {
        id: format!("e{number}").parse().unwrap(),
        at: at(number.into()),
        actor: "ci-bot".to_owned(),
    }
}

fn outgoing(to: &str) -> Outgoing {
    Outgoing {
        from: persona("weaver"),
        to: to.parse().unwrap(),
        subject: "Hi".parse().unwrap(),
        body: "x".parse().unwrap(),
        attachments: Vec::new(),
    }
}

fn letter(to: &str) -> Letter {
    let none = std::iter::empty();
    outgoing(to).letters(none).unwrap().remove(0)
}

/// What was done one event at a time, and the log that came of it.
#[derive(Default)]
struct Desk {
    counters: Counters,
    boxes: BTreeMap<MessageId, ReceivedMessage>,
    log: String,
    number: u32,
}

impl Desk {
    fn stamp(&mut self) -> Stamp {
        self.number += 1;
        stamp(self.number)
    }

    fn take(&mut self, added: Added) {
        self.log.push_str(&(added.line + "\n"));
        self.boxes.insert(added.message.message_id, added.message);
    }

    fn send(&mut self, to: &str) {
        let stamp = self.stamp();
        let added = self.counters.send(letter(to), stamp).unwrap();
        self.take(added);
    }

    /// Whether it took an event.
    fn order(&mut self, message: i64, order: MessageOrder) -> bool {
        let (message, stamp) = (self.boxes[&id(message)].clone(), self.stamp());
        let added = self.counters.order(&message, order, stamp).unwrap();
        added.map(|added| self.take(added)).is_some()
    }
}

#[test]
fn events_one_at_a_time_come_to_what_the_fold_over_the_log_does() {
    let tag: MailTag = "needs-action".parse().unwrap();
    let mut desk = Desk::default();
    for to in ["art", "artisan", "art", "weaver"] {
        desk.send(to);
    }
    for (message, order, takes) in [
        (1, MessageOrder::Read, true),
        (1, MessageOrder::Read, false),
        (3, MessageOrder::TagAdd(tag.clone()), true),
        (3, MessageOrder::TagAdd(tag.clone()), false),
        (2, MessageOrder::Trash, true),
        (2, MessageOrder::Trash, false),
        (1, MessageOrder::Trash, true),
        (1, MessageOrder::Untrash, true),
        (1, MessageOrder::Untrash, false),
        (3, MessageOrder::TagRm(tag.clone()), true),
        (3, MessageOrder::TagRm(tag), false),
    ] {
        assert_eq!(desk.order(message, order.clone()), takes, "{order:?}");
        let log = Log::read(desk.log.as_bytes(), &desk.counters.seal());
        assert_eq!(log.faults(), []);
        assert_eq!(desk.counters, Counters::of(&log, 0, 0));
        let boxes: Vec<_> = desk.boxes.values().cloned().collect();
        assert_eq!(log.mail().messages().cloned().collect::<Vec<_>>(), boxes);
    }
    assert!(desk.log.contains("\"actor\":\"ci-bot\""));
}

#[test]
fn more_personas_or_tags_than_a_record_holds_are_refused() {
    let mut desk = Desk::default();
    for number in 1..PERSONAS_MAX {
        desk.send(&format!("p{number}"));
    }
    desk.send("p1");
    let before = desk.counters.clone();
    let more = desk.counters.send(letter("art"), stamp(1)).unwrap_err();
    assert_eq!(more, TooManyPersonas(persona("art")));
    assert_eq!(desk.counters, before);
    let tag = |number: usize| MessageOrder::TagAdd(format!("t{number}").parse().unwrap());
    for number in 0..TAGS_MAX {
        assert!(desk.order(1, tag(number)));
    }
    let full = desk.boxes[&id(1)].clone();
    let more = desk.counters.order(&full, tag(TAGS_MAX), stamp(1));
    assert_eq!(more.unwrap_err(), RefusedOrder::Tags(id(1)));
    assert!(!desk.order(1, tag(0)), "it has this one already");
}

#[test]
fn pages_have_a_hundred_lines_or_what_a_record_holds() {
    let line = |length: usize| "x".repeat(length);
    let sizes = |lines: Vec<String>| -> Vec<usize> {
        let pages = paged(None, lines);
        chain(&pages).unwrap();
        pages.iter().map(|page| page.lines().len()).collect()
    };
    assert_eq!(sizes(vec![line(20); 250]), [100, 100, 50]);
    assert_eq!(sizes(vec![line(LINE_BYTES_MAX / 2); 5]), [2, 2, 1]);
    assert_eq!(sizes(vec![line(LINE_BYTES_MAX); 2]), [1, 1]);
    // Each of these bytes is two in JSON.
    assert_eq!(sizes(vec!["\"".repeat(LINE_BYTES_MAX / 2); 2]), [1, 1]);
    let first = paged(None, vec![line(1)]);
    let both = [first.clone(), paged(first.last().cloned(), vec![line(2)])].concat();
    assert_eq!(chain(&both).unwrap().events, 2);
    assert_eq!(paged(None, Vec::new()), []);
}

#[test]
fn a_whole_sprint_is_reached_beside_the_personas_that_have_mail_already() {
    let members = (0..crate::sprint::MEMBERS_MAX).map(|n| persona(&format!("p{n:02}")));
    let others = ["weaver", "human", "oracle", "zoe"].map(persona);
    let known: Vec<_> = members.chain(others).collect();
    let letters = outgoing("all@team").letters(known.iter()).unwrap();
    assert_eq!(letters.len(), crate::sprint::MEMBERS_MAX + 1);
}

#[test]
fn room_is_asked_for_all_at_once() {
    let mut desk = Desk::default();
    for number in 3..PERSONAS_MAX {
        desk.send(&format!("p{number}"));
    }
    let new = ["art", "bolt", "cleo"].map(persona);
    let [art, bolt, cleo] = &new;
    desk.counters.must_take([art, bolt, art]).unwrap();
    let more = desk.counters.must_take([art, bolt, cleo]).unwrap_err();
    assert_eq!(more, TooManyPersonas(persona("cleo")));
}

#[test]
fn the_team_is_every_persona_that_has_mail_but_the_sender_people_and_gaffers_own() {
    let known = ["art", "artisan", "human", "oracle", "scheduler", "weaver"].map(persona);
    let to = |out: &Outgoing| -> Vec<String> {
        let letters = out.letters(known.iter()).unwrap();
        letters.iter().map(|letter| letter.to.to_string()).collect()
    };
    assert_eq!(to(&outgoing("all@team")), ["art", "artisan"]);
    let from = persona("art");
    assert_eq!(
        to(&Outgoing {
            from,
            ..outgoing("all@team")
        }),
        ["artisan"]
    );
    assert_eq!(to(&outgoing("curator@team")), ["curator"]);
    assert_eq!(to(&outgoing("all")), ["all"], "a persona like others");
    let alone = outgoing("all@team").letters(std::iter::empty());
    assert_eq!(alone.unwrap_err(), NotSent::NoTeam);
    let many: Vec<_> = (0..=TEAM_MAX).map(|n| persona(&format!("p{n}"))).collect();
    let many = outgoing("all@team").letters(many.iter()).unwrap_err();
    assert_eq!(many, NotSent::TeamTooLarge(TEAM_MAX + 1));
    for bad in [
        "",
        "@team",
        "a b@team",
        "art@crew",
        "All@team",
        "art@team@team",
    ] {
        bad.parse::<Recipient>().unwrap_err();
    }
}
