//! Whenever the writer is killed, each event is in the file once.

use domain::ids::EventId;
use jiff::Timestamp;
use serde_json::json;
use tempfile::TempDir;

use super::*;

fn event(n: i64) -> ActionableEvent {
    let event = json!({
        "event": "question", "kind": "question", "event_id": EventId::from_name(&n.to_string()),
        "job_id": null, "account": "default", "attempt": 1, "status": "", "message": "a\nb",
        "observed_at": Timestamp::from_second(n).unwrap(),
    });
    serde_json::from_value(event).unwrap()
}

fn cursor(n: i64) -> EventCursor {
    EventCursor::at(Timestamp::from_second(n).unwrap())
}

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("events.jsonl")
    }

    fn state(&self) -> PathBuf {
        self.0.path().join("state.json")
    }

    fn open(&self) -> Copy {
        Copy::open(&self.path(), &self.state()).unwrap()
    }

    /// The events by their seconds; a line that is none fails.
    fn seen(&self) -> Vec<i64> {
        let text = fs::read_to_string(self.path()).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "{text}");
        let read = |line: &str| {
            let event: Value = serde_json::from_str(line).unwrap();
            let at: Timestamp = event["observed_at"].as_str().unwrap().parse().unwrap();
            at.as_second()
        };
        text.lines().map(read).collect()
    }
}

#[test]
fn each_event_is_appended_once_over_restarts() {
    let place = Place::new();
    let mut copy = place.open();
    assert_eq!(copy.cursor(), None);
    assert_eq!(copy.append(&[event(1), event(2)], &cursor(2)).unwrap(), 2);
    drop(copy);
    let mut copy = place.open();
    assert_eq!(copy.cursor(), Some(cursor(2)));
    assert_eq!(copy.append(&[event(3)], &cursor(3)).unwrap(), 1);
    assert_eq!(copy.append(&[], &cursor(9)).unwrap(), 0);
    assert_eq!(place.seen(), [1, 2, 3]);
}

#[test]
fn what_was_appended_and_not_noted_is_not_appended_again() {
    let place = Place::new();
    place.open().append(&[event(1)], &cursor(1)).unwrap();
    let noted = fs::read(place.state()).unwrap();
    place.open().append(&[event(2)], &cursor(2)).unwrap();
    // Killed between the two writes, and in the middle of a line.
    fs::write(place.state(), noted).unwrap();
    let mut file = File::options().append(true).open(place.path()).unwrap();
    file.write_all(b"{\"event\":\"quest").unwrap();
    let mut copy = place.open();
    assert_eq!(copy.cursor(), Some(cursor(1)));
    assert_eq!(copy.append(&[event(2), event(3)], &cursor(3)).unwrap(), 1);
    assert_eq!(place.seen(), [1, 2, 3]);
}

#[test]
fn what_is_nothing_of_ours_is_kept() {
    for foreign in ["01k5nx0000000000000000000a", "notes of mine", "a\nb"] {
        let place = Place::new();
        fs::write(place.path(), foreign).unwrap();
        place.open().append(&[event(1)], &cursor(1)).unwrap();
        let text = fs::read_to_string(place.path()).unwrap();
        let kept = format!("{foreign}\n{{\"event\":");
        assert!(text.starts_with(&kept), "{text}");
    }
}

#[test]
fn a_file_that_shrank_or_vanished_is_begun_anew() {
    let place = Place::new();
    let mut copy = place.open();
    copy.append(&[event(1), event(2)], &cursor(2)).unwrap();
    assert!(copy.is_there());
    fs::remove_file(place.path()).unwrap();
    assert!(!copy.is_there());
    drop(copy);
    let mut copy = place.open();
    assert_eq!(copy.cursor(), None);
    copy.append(&[event(1), event(2)], &cursor(2)).unwrap();
    drop(copy);
    let first = fs::read_to_string(place.path()).unwrap();
    let first = first.lines().next().unwrap().len() as u64 + 1;
    let file = File::options().write(true).open(place.path()).unwrap();
    file.set_len(first).unwrap();
    let mut copy = place.open();
    assert_eq!(copy.cursor(), None);
    copy.append(&[event(1), event(2)], &cursor(2)).unwrap();
    assert_eq!(place.seen(), [1, 2], "what it still holds stays");
}

#[test]
fn a_lost_state_doubles_nothing_and_one_writer_is_enough() {
    let place = Place::new();
    let copy = place.open();
    let second = Copy::open(&place.path(), &place.state()).err().unwrap();
    assert!(format!("{second:#}").contains("another process appends"));
    drop(copy);
    place.open().append(&[event(1)], &cursor(1)).unwrap();
    fs::remove_file(place.state()).unwrap();
    let mut copy = place.open();
    assert_eq!(copy.append(&[event(1), event(2)], &cursor(2)).unwrap(), 1);
    assert_eq!(place.seen(), [1, 2]);
    drop(copy);
    fs::write(place.state(), "{\"jobs\": {}}").unwrap();
    let foreign = Copy::open(&place.path(), &place.state()).err().unwrap();
    assert!(format!("{foreign:#}").contains("monitor_state_path"));
}

#[test]
fn a_last_line_of_somebody_elses_is_ended_and_kept() {
    let place = Place::new();
    let theirs = serde_json::to_string(&event(1)).unwrap();
    fs::write(place.path(), &theirs).unwrap();
    let mut copy = place.open();
    copy.append(&[event(1), event(2)], &cursor(2)).unwrap();
    assert_eq!(place.seen(), [1, 2]);
}
