//! Mail as data: lines, mailboxes, logs that are broken, and pages.

use std::collections::BTreeMap;

use super::*;
use crate::facts::fixture::at;

mod broken;
mod counted;
mod mailboxes;
mod pages;

fn persona(name: &str) -> PersonaName {
    name.parse().unwrap()
}

fn seal(events: u64, message: i64) -> Seal {
    let message = Some(id(message));
    Seal { events, message }
}

fn id(number: i64) -> MessageId {
    number.try_into().unwrap()
}

/// An event by its own number.
fn event(number: u32, message: i64, what: MailAction) -> MailEvent {
    MailEvent {
        id: format!("e{number}").parse().unwrap(),
        at: at(number.into()),
        message: id(message),
        actor: "weaver".to_owned(),
        what,
        other: Map::new(),
    }
}

fn send(number: u32, message: i64, to: &str) -> MailEvent {
    let letter = Letter {
        from: persona("weaver"),
        to: persona(to),
        subject: format!("Conflict in PR #{}", message.saturating_add(100)),
        body: "Your changes conflict.".to_owned(),
        attachments: Vec::new(),
    };
    event(number, message, MailAction::Send(letter))
}

/// A log of events.
fn log(events: impl IntoIterator<Item = MailEvent>) -> String {
    let lines = events.into_iter().map(|event| event.line() + "\n");
    lines.collect()
}

/// Everything that is wrong with a log of which nothing is sealed.
fn faults(text: &str) -> Vec<String> {
    let log = Log::read(text.as_bytes(), &Seal::default());
    log.faults().iter().map(ToString::to_string).collect()
}

fn mail(text: &str) -> Mail {
    assert_eq!(faults(text), [""; 0]);
    Log::read(text.as_bytes(), &Seal::default()).mail()
}

#[test]
fn every_line_has_the_twelve_fields_and_empty_ones_are_null() {
    let tag: MailTag = "needs-action".parse().unwrap();
    let written = [
        send(1, 42, "curator").line(),
        event(2, 42, MailAction::Read { at: at(2) }).line(),
        event(3, 42, MailAction::TagAdd(tag.clone())).line(),
        event(4, 42, MailAction::TagRm(tag)).line(),
        event(5, 42, MailAction::Trash).line(),
        event(6, 42, MailAction::Untrash).line(),
        event(7, 43, MailAction::Lost).line(),
    ];
    expect_test::expect![[r##"
        {"event_id":"e1","ts":"2027-01-15T08:00:01Z","event_type":"send","message_id":42,"actor":"weaver","from_persona":"weaver","to_persona":"curator","subject":"Conflict in PR #142","body":"Your changes conflict.","attachments":[],"read_at":null,"tag":null}
        {"event_id":"e2","ts":"2027-01-15T08:00:02Z","event_type":"read","message_id":42,"actor":"weaver","from_persona":null,"to_persona":null,"subject":null,"body":null,"attachments":null,"read_at":"2027-01-15T08:00:02Z","tag":null}
        {"event_id":"e3","ts":"2027-01-15T08:00:03Z","event_type":"tag_add","message_id":42,"actor":"weaver","from_persona":null,"to_persona":null,"subject":null,"body":null,"attachments":null,"read_at":null,"tag":"needs-action"}
        {"event_id":"e4","ts":"2027-01-15T08:00:04Z","event_type":"tag_rm","message_id":42,"actor":"weaver","from_persona":null,"to_persona":null,"subject":null,"body":null,"attachments":null,"read_at":null,"tag":"needs-action"}
        {"event_id":"e5","ts":"2027-01-15T08:00:05Z","event_type":"trash","message_id":42,"actor":"weaver","from_persona":null,"to_persona":null,"subject":null,"body":null,"attachments":null,"read_at":null,"tag":null}
        {"event_id":"e6","ts":"2027-01-15T08:00:06Z","event_type":"untrash","message_id":42,"actor":"weaver","from_persona":null,"to_persona":null,"subject":null,"body":null,"attachments":null,"read_at":null,"tag":null}
        {"event_id":"e7","ts":"2027-01-15T08:00:07Z","event_type":"trash","message_id":43,"actor":"weaver","from_persona":null,"to_persona":null,"subject":null,"body":null,"attachments":null,"read_at":null,"tag":"lost"}"##]]
    .assert_eq(&written.join("\n"));
    for line in written {
        let Entry::Event(event) = parse(line.as_bytes()).unwrap() else {
            panic!("{line}");
        };
        assert_eq!(event.line(), line);
    }
}

#[test]
fn fields_that_are_not_known_are_kept_and_types_are_skipped() {
    let line = send(1, 1, "art").line();
    let more = line.replacen('{', r#"{"zeal":{"deep":[1,null]},"#, 1);
    let Entry::Event(event) = parse(more.as_bytes()).unwrap() else {
        panic!();
    };
    assert_eq!(event.other["zeal"]["deep"][0], 1);
    let again: Value = serde_json::from_str(&event.line()).unwrap();
    assert_eq!(again, serde_json::from_str::<Value>(&more).unwrap());

    let unknown = r#"{"event_id":"x","event_type":"snooze","message_id":2,"until":"noon"}"#;
    let text = format!("{line}\n{unknown}\n");
    let mailboxes = mail(&text);
    assert_eq!(mailboxes.inbox(&persona("art"), false).len(), 1);
    let log = Log::read(text.as_bytes(), &Seal::default());
    assert_eq!(log.next(), id(3), "its number is taken");
    let rebuilt = rebuild(text.as_bytes(), &Seal::default(), at(9));
    assert_eq!((rebuilt.text, rebuilt.kept), (text.into_bytes(), 2));
}

#[test]
fn a_letter_has_at_most_ten_attachments() {
    let link: Attachment = "https://github.com/acme/shop/pull/1.patch".parse().unwrap();
    let letter = |count: usize| {
        let (from, to) = (persona("weaver"), persona("art"));
        let links = vec![link.clone(); count];
        Letter::new(from, to, "Hi".parse().unwrap(), "".parse().unwrap(), links)
    };
    assert_eq!(letter(10).unwrap().attachments.len(), 10);
    assert_eq!(
        letter(11).unwrap_err().to_string(),
        "`11` is not a valid number of attachments: at most 10: put further addresses into the body"
    );
}
