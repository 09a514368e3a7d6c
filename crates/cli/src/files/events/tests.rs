//! A file of events that could not be written to for a while.

use std::fs;
use std::sync::Arc;

use domain::event::{Event, Occurrence};
use domain::ids::{EventId, JobId};
use engine::backend::IndexEntry;
use engine::keys;
use engine::machine::{RandomIds, SystemClock};
use local::{Database, LocalQueue};

use super::*;

fn backend() -> Backend {
    let database = Database::in_memory().unwrap();
    let clock = Arc::new(SystemClock);
    let queue = Arc::new(LocalQueue::new(&database, "work", clock.clone()));
    let store = Arc::new(local::Store::new(&database));
    let installation = "gtest".parse().unwrap();
    Backend::new(store, queue, clock, Arc::new(RandomIds), installation)
}

async fn happens(backend: &Backend, name: &str) {
    let job = JobId::from_ulid(ulid::Ulid(7));
    let event = Event {
        job: Some(job.clone()),
        attempt: 1,
        ..Event::new(
            EventId::from_name(name),
            "default".parse().unwrap(),
            backend.now(),
            Occurrence::Question { text: None },
        )
    };
    let sort = format!("{:020}:{}", event.observed_at.as_nanosecond(), event.id);
    let place = IndexEntry {
        list: keys::listed(keys::EVENTS, sort),
        ..IndexEntry::default()
    };
    let mut unit = backend.unit();
    unit.put(keys::event(&job, &event.id), &event, None, place);
    backend.commit(unit).await.unwrap();
}

#[tokio::test]
async fn what_could_not_be_noted_is_mended_the_next_time_and_doubles_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("notes");
    fs::create_dir(&notes).unwrap();
    let config = Config {
        events_path: folder.path().join("events.jsonl"),
        monitor_state_path: notes.join("state.json"),
        ..Config::find(None, folder.path()).unwrap().0
    };
    let backend = backend();
    let mut file = Appending::open(&config).unwrap();
    happens(&backend, "first").await;
    // The event is appended, and how far that came cannot be noted.
    fs::remove_dir(&notes).unwrap();
    file.catch_up(&backend).await.unwrap_err();
    let lines = || {
        fs::read_to_string(&config.events_path)
            .unwrap()
            .lines()
            .count()
    };
    assert_eq!(lines(), 1);

    fs::create_dir(&notes).unwrap();
    assert_eq!(file.catch_up(&backend).await.unwrap(), 0);
    assert_eq!(lines(), 1);
    assert!(config.monitor_state_path.exists(), "it is noted now");
    happens(&backend, "second").await;
    assert_eq!(file.catch_up(&backend).await.unwrap(), 1);
    assert_eq!(lines(), 2);
}
