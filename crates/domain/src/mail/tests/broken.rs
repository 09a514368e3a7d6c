//! Logs that are broken: what is said of them, and what makes them whole.

use super::*;

fn three() -> Vec<MailEvent> {
    vec![send(1, 1, "art"), send(2, 2, "bolt"), send(3, 3, "art")]
}

fn lines(events: &[MailEvent]) -> Vec<String> {
    events.iter().map(|event| event.clone().line()).collect()
}

fn rebuilt(text: &str) -> Mended {
    let mended = rebuild(text.as_bytes(), &Seal::default(), at(99));
    let whole = String::from_utf8(mended.text.clone()).unwrap();
    assert_eq!(faults(&whole), [""; 0], "{whole}");
    let again = rebuild(&mended.text, &Seal::default(), at(100));
    assert_eq!(
        (again.text, again.rejected.len(), again.lost.len()),
        (mended.text.clone(), 0, 0),
        "a second time changes nothing"
    );
    mended
}

#[test]
fn every_fault_is_named_with_its_line() {
    let [one, two, three] = <[String; 3]>::try_from(lines(&three())).unwrap();
    let cases: [(String, &[&str]); 12] = [
        (
            format!("{one}\n{two}\n{}", &three[..three.len() - 1]),
            &["line 3: the last line is torn: it ends within an event"],
        ),
        (
            format!("{one}\n{{\"event\n{two}\n"),
            &["line 2: it is no JSON object: EOF while parsing a string at line 1 column 7"],
        ),
        (
            format!("[]\n{one}\n"),
            &[
                "line 1: it is no JSON object: invalid type: sequence, expected a map at line 1 column 0",
            ],
        ),
        (
            format!("{one}\n{two}\n{one}\n"),
            &["line 3: the event id `e1` is there twice: line 1 has it too"],
        ),
        (
            format!("{one}\n{}\n", send(9, 1, "art").line()),
            &["line 2: message #1 is sent twice: line 1 sends it too"],
        ),
        (
            format!("{one}\n{three}\n"),
            &["line 2: there is a gap: no line sends message #2"],
        ),
        (
            format!("{one}\n{}\n", send(9, 9, "art").line()),
            &["line 2: there is a gap: no line sends the messages #2 to #8"],
        ),
        (
            format!("{one}\n{}\n", event(9, 2, MailAction::Trash).line()),
            &["line 2: there is a gap: no line sends message #2"],
        ),
        (
            format!("{one}\n{}\n", send(9, i64::MAX, "art").line()),
            &["line 2: message #9223372036854775807 is far beyond the messages there are"],
        ),
        (
            format!("{one}\n{{\"event_id\":\"x\"}}\n"),
            &["line 2: it is no event of mail: `event_type` is missing or no text"],
        ),
        (
            format!("{one}\n{}\n", two.replace("\"bolt\"", "null")),
            &["line 2: it is no event of mail: `to_persona` is missing or no text"],
        ),
        (
            format!(
                "{one}\n{}\n",
                two.replace("\"message_id\":2", "\"message_id\":\"2\"")
            ),
            &["line 2: it is no event of mail: invalid type: string \"2\", expected i64"],
        ),
    ];
    for (text, told) in cases {
        assert_eq!(faults(&text), told, "{text}");
        rebuilt(&text);
    }
}

#[test]
fn blank_lines_and_a_missing_last_line_break_are_no_faults() {
    let [one, two, three] = <[String; 3]>::try_from(lines(&three())).unwrap();
    let text = format!("\n{one}\r\n\n{two}\n  \n{three}");
    assert_eq!(mail(&text), mail(&log(super::broken::three())));
    let log = Log::read(text.as_bytes(), &Seal::default());
    let addition = log.addition(vec![send(4, 4, "art")]);
    assert!(addition.starts_with("\n{"), "{addition}");
    assert_eq!(
        mail(&(text + &addition)).counts()[&persona("art")].messages,
        3
    );
}

#[test]
fn what_is_missing_at_the_end_shows_by_the_seal() {
    let seal = seal(3, 3);
    let text = log([send(1, 1, "art")]);
    let read = Log::read(text.as_bytes(), &seal);
    assert_eq!(
        read.faults()[0].to_string(),
        "line 2: there is a gap: no line sends the messages #2 to #3"
    );
    assert_eq!(read.next(), id(4), "no number is given twice");
    let read = Log::read(b"", &seal);
    assert_eq!(read.faults().len(), 2, "a log that is gone is not empty");
}

#[test]
fn events_without_numbers_that_are_missing_at_the_end_show_by_their_count() {
    let read_it = event(2, 1, MailAction::Read { at: at(3) });
    let sealed = [send(1, 1, "art"), read_it, event(3, 1, MailAction::Trash)];
    let seal = seal(3, 1);
    let faults = |text: &str| -> Vec<String> {
        let read = Log::read(text.as_bytes(), &seal);
        read.faults().iter().map(ToString::to_string).collect()
    };
    assert_eq!(faults(&log(sealed.clone())), [""; 0]);
    let told = "line 2: events are missing: the backups have 3, the log has 1";
    assert_eq!(faults(&log(sealed[..1].to_vec())), [told]);
}

#[test]
fn a_rebuild_keeps_every_valid_event_and_renames_no_message() {
    let [one, two, three] = <[String; 3]>::try_from(lines(&three())).unwrap();
    let trash = event(4, 2, MailAction::Trash).line();
    let torn = &two[..20];
    let text = format!("{one}\n{torn}\n{three}\n{trash}\n{one}\nlast");
    let mended = rebuilt(&text);
    assert_eq!((mended.kept, &mended.lost[..]), (3, &[id(2)][..]));
    let rejected: Vec<_> = mended.rejected.iter().map(Vec::as_slice).collect();
    assert_eq!(rejected, [torn.as_bytes(), b"last", one.as_bytes()]);
    let whole = String::from_utf8(mended.text).unwrap();
    assert!(whole.starts_with(&format!(
        "{one}\n{three}\n{trash}\n{{\"event_id\":\"lost-2\""
    )));
    let log = Log::read(whole.as_bytes(), &Seal::default());
    assert_eq!(log.next(), id(4));
    assert_eq!(log.mail().inbox(&persona("art"), false).len(), 2);
    log.mail().message(id(2), &persona("bolt")).unwrap_err();
}

#[test]
fn a_torn_last_line_is_no_message_unless_it_is_sealed() {
    let [one, two, _] = <[String; 3]>::try_from(lines(&three())).unwrap();
    let text = format!("{one}\n{}", &two[..two.len() - 1]);
    let mended = rebuilt(&text);
    assert_eq!((mended.rejected.len(), mended.lost.len()), (1, 0));
    assert_eq!(Log::read(&mended.text, &Seal::default()).next(), id(2));
    let seal = seal(2, 2);
    let mended = rebuild(text.as_bytes(), &seal, at(99));
    assert_eq!(mended.lost, [id(2)]);
    assert_eq!(Log::read(&mended.text, &seal).next(), id(3));
}

#[test]
fn a_message_that_was_noted_as_lost_and_is_found_is_there() {
    let note = event(9, 2, MailAction::Lost);
    let [one, two, three] = <[MailEvent; 3]>::try_from(three()).unwrap();
    for events in [
        [one.clone(), two.clone(), three.clone(), note.clone()],
        [note, one, two, three],
    ] {
        let mail = mail(&log(events));
        assert_eq!(mail.inbox(&persona("bolt"), true).len(), 1);
    }
}

#[test]
fn lines_of_another_log_are_added_once() {
    let seal = Seal::default();
    let events = three();
    let (first, all) = (log(events[..1].to_vec()), log(events.clone()));
    let added = |text: &str, other: &str| imported(text.as_bytes(), other.as_bytes(), &seal);
    let adds = |text: &str, added: usize, there: usize| {
        let text = text.as_bytes().to_vec();
        Ok(Imported { text, added, there })
    };
    assert_eq!(added("", &all), adds(&all, 3, 0));
    let rest = log(events[1..].to_vec());
    assert_eq!(added(&first, &all), adds(&rest, 2, 1));
    assert_eq!(added(&first, &rest), adds(&rest, 2, 0));
    assert_eq!(added(&all, &all), adds("", 0, 3));
    assert_eq!(added(all.trim_end(), &all), adds("", 0, 3));
    let told = |text: &str, other: &str| added(text, other).unwrap_err()[0].to_string();
    assert_eq!(
        told(&first, &log([send(7, 1, "bolt")])),
        "line 2: message #1 is sent twice: line 1 sends it too"
    );
    assert!(told(&first, &log([send(7, 3, "bolt")])).contains("no line sends message #2"));
    assert!(told(&first, "\n{}\n").starts_with("line 2: it is no event of mail"));
}

#[test]
fn an_export_is_looked_at_without_the_log_that_it_is_added_to() {
    let told = |text: &str| -> Vec<String> {
        let wrong = wrong_in_export(text.as_bytes());
        wrong.iter().map(ToString::to_string).collect()
    };
    let part = log(three()[1..].to_vec());
    assert_eq!(told(&part), [""; 0]);
    assert_eq!(told(&log([send(1, 1_000_000_000, "art")])), [""; 0]);
    let wrong = told(&format!("{part}{{\"bad\":1}}\n"));
    assert_eq!(
        wrong,
        ["line 3: it is no event of mail: `event_type` is missing or no text"]
    );
}

#[test]
fn an_import_has_only_texts_that_could_be_sent() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let patch = || "https://github.com/acme/shop/pull/7.patch".to_owned();
    let told = |subject: &str, body: &str, attachments: Vec<String>| {
        let letter = Letter {
            from: persona("weaver"),
            to: persona("art"),
            subject: subject.to_owned(),
            body: body.to_owned(),
            attachments,
        };
        let text = log([send(1, 1, "art"), event(2, 2, MailAction::Send(letter))]);
        let faults = imported(b"", text.as_bytes(), &Seal::default()).err()?;
        Some(faults[0].to_string())
    };
    assert_eq!(told("Hi", "", vec![patch(); 10]), None);
    let cases = [
        (told(secret, "", Vec::new()), "subject"),
        (told("a\nb", "", Vec::new()), "subject"),
        (told("Hi", secret, Vec::new()), "body"),
        (told("Hi", "", vec!["pull/7".to_owned()]), "attachment"),
        (told("Hi", "", vec![patch(); 11]), "number of attachments"),
    ];
    for (told, kind) in cases {
        let told = told.unwrap();
        let is_told =
            told.starts_with("line 2: `") && told.contains(&format!("not a valid {kind}: "));
        assert!(is_told && !told.contains(secret), "{told}");
    }
}

#[test]
fn each_beginning_of_lines_in_order_is_whole() {
    let note = |number: u32, message: i64| event(number, message, MailAction::Lost);
    let sent = [send(1, 1, "art"), send(4, 4, "art"), send(5, 5, "bolt")];
    let read_it = event(6, 1, MailAction::Read { at: at(6) });
    let notes = [note(7, 2), note(8, 3), note(9, 6)];
    let text = log(sent.into_iter().chain([read_it]).chain(notes));
    let ordered = in_order(&text);
    let number = |line: &String| match parse(line.as_bytes()).unwrap() {
        Entry::Event(event) => event.message.number(),
        Entry::Other { .. } => panic!("{line}"),
    };
    assert_eq!(
        ordered.iter().map(number).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 1, 6]
    );
    for end in 1..=ordered.len() {
        mail(&(ordered[..end].join("\n") + "\n"));
    }
    let simple = log(three());
    assert_eq!(in_order(&simple).join("\n") + "\n", simple);
}
