//! What only a database in a file promises: it outlives its process and is shared.

use std::path::Path;
use std::sync::Arc;

use engine::ports::{Clock, Queue, Records};
use jiff::SignedDuration;
use local::{Database, LocalQueue, Store};
use tempfile::TempDir;
use tests::clock::FakeClock;
use tests::contract::records::{increment, key, put_new, record};
use tokio::task::JoinSet;

pub(super) fn in_file(folder: &Path) -> Database {
    Database::open(&folder.join("gaffer.db")).unwrap()
}

pub(super) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

pub(super) fn store(database: &Database) -> Arc<dyn Records> {
    Arc::new(Store::new(database))
}

pub(super) fn queue(database: &Database) -> (Arc<dyn Queue>, Arc<FakeClock>) {
    let clock = Arc::new(FakeClock::default());
    let told: Arc<dyn Clock> = Arc::<FakeClock>::clone(&clock);
    (Arc::new(LocalQueue::new(database, "work", told)), clock)
}

#[tokio::test]
async fn records_and_messages_outlive_the_process() {
    let folder = folder();
    let written = record("JOB#1", "META", "kept");
    {
        let database = in_file(folder.path());
        put_new(&*store(&database), written.clone()).await;
        queue(&database)
            .0
            .send("kept", SignedDuration::ZERO)
            .await
            .unwrap();
    }
    let database = in_file(folder.path());
    let found = store(&database)
        .get(&key("JOB#1", "META"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((found.version, found.body.as_str()), (1, "kept"));
    let received = queue(&database)
        .0
        .receive(10, SignedDuration::from_secs(30))
        .await
        .unwrap();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].body, "kept");
}

#[tokio::test]
async fn two_handles_on_one_file_lose_no_update() {
    let folder = folder();
    let stores = [
        store(&in_file(folder.path())),
        store(&in_file(folder.path())),
    ];
    put_new(&*stores[0], record("COUNT#x", "META", "0")).await;
    let mut tasks = JoinSet::new();
    for turn in 0..16 {
        let store = Arc::clone(&stores[turn % 2]);
        tasks.spawn(async move { increment(&*store, &key("COUNT#x", "META")).await });
    }
    tasks.join_all().await;
    let counted = stores[1]
        .get(&key("COUNT#x", "META"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((counted.body.as_str(), counted.version), ("16", 17));
}

#[tokio::test]
async fn two_handles_on_one_file_share_the_messages() {
    let folder = folder();
    let (first, _clock) = queue(&in_file(folder.path()));
    let (second, _other_clock) = queue(&in_file(folder.path()));
    for turn in 0..20 {
        first
            .send(&turn.to_string(), SignedDuration::ZERO)
            .await
            .unwrap();
    }
    let mut bodies = Vec::new();
    for receiver in [&first, &second, &first, &second] {
        let received = receiver
            .receive(5, SignedDuration::from_secs(30))
            .await
            .unwrap();
        bodies.extend(received.into_iter().map(|delivery| delivery.body));
    }
    bodies.sort_by_key(|body| body.parse::<u32>().unwrap());
    assert_eq!(
        bodies,
        (0..20).map(|turn| turn.to_string()).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn an_older_receipt_changes_nothing() {
    let folder = folder();
    let (queue, clock) = queue(&in_file(folder.path()));
    let visibility = SignedDuration::from_secs(2);
    let receive = async || queue.receive(10, visibility).await.unwrap();
    queue.send("x", SignedDuration::ZERO).await.unwrap();
    let older = receive().await.remove(0);
    clock.advance(visibility);
    assert_eq!(receive().await.len(), 1);
    queue.acknowledge(&older.receipt).await.unwrap();
    let at_once = SignedDuration::ZERO;
    queue.release(&older.receipt, at_once).await.unwrap();
    assert_eq!(receive().await, []);
    clock.advance(visibility);
    assert_eq!(receive().await[0].receives, 3);
}
