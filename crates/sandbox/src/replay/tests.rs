//! A tape plays what was recorded, at the point where it was recorded.

use serde_json::json;

use super::tape::Tape;
use super::*;

fn asked(method: &str, path: &str) -> Asked {
    Asked {
        method: method.to_owned(),
        path: path.to_owned(),
        query: Vec::new(),
        body: None,
        body_digest: None,
        wrong_key: false,
    }
}

fn exchange(method: &str, path: &str, body: Value) -> Exchange {
    Exchange {
        request: asked(method, path),
        response: Answered {
            status: 200,
            headers: std::collections::BTreeMap::new(),
            body,
        },
    }
}

fn tape() -> Tape {
    Tape::new(Transcript(vec![
        exchange("GET", "sessions/1", json!("queued")),
        exchange("GET", "sessions/1", json!("working")),
        exchange("POST", "sessions/1:archive", json!({})),
        exchange("GET", "sessions/1", json!("archived")),
        exchange("DELETE", "sessions/1", json!({})),
        exchange("GET", "sessions/1", json!("gone")),
    ]))
}

fn read(tape: &mut Tape) -> Value {
    tape.answer(&asked("GET", "sessions/1")).unwrap().body
}

#[test]
fn readings_come_in_order_and_the_last_one_stands_until_something_is_written() {
    let mut tape = tape();
    let seen: Vec<Value> = (0..4).map(|_| read(&mut tape)).collect();
    assert_eq!(seen, ["queued", "working", "working", "working"]);
    tape.answer(&asked("POST", "sessions/1:archive")).unwrap();
    assert_eq!(
        (read(&mut tape), read(&mut tape)),
        (json!("archived"), json!("archived"))
    );
    tape.answer(&asked("DELETE", "sessions/1")).unwrap();
    assert_eq!(read(&mut tape), "gone");
}

#[test]
fn looking_less_often_misses_nothing() {
    let mut exchanges = vec![exchange("GET", "sessions/1", json!("planning")); 50];
    exchanges.push(exchange("GET", "sessions/1", json!("waiting")));
    let mut tape = Tape::new(Transcript(exchanges));
    let seen = (read(&mut tape), read(&mut tape), read(&mut tape));
    assert_eq!(
        seen,
        (json!("planning"), json!("waiting"), json!("waiting"))
    );
}

#[test]
fn a_write_takes_what_was_read_before_it_with_it() {
    let mut tape = tape();
    tape.answer(&asked("DELETE", "sessions/1")).unwrap();
    assert_eq!(read(&mut tape), "gone");
    assert_eq!(tape.answer(&asked("POST", "sessions/1:archive")), None);
    assert_eq!(tape.answer(&asked("GET", "sessions/2")), None);
}

#[test]
fn a_transcript_is_read_as_it_was_written_and_a_wrong_line_is_named() {
    let lines =
        "{\"request\":{\"method\":\"GET\",\"path\":\"sources\"},\"response\":{\"status\":200}}\n";
    assert_eq!(Transcript::from_lines(lines).unwrap().to_lines(), lines);
    let error = Transcript::from_lines(&format!("{lines}{{}}\n")).unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
}
