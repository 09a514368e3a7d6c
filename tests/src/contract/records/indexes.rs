//! The due index: the only clock of the engine.

use std::sync::Arc;

use engine::ports::{DueRow, Expect, Record, Records, Write};
use jiff::{SignedDuration, Timestamp};

use super::{commit_one, key, put, put_new, record};

const NOON: Timestamp = Timestamp::constant(1_772_366_400, 0);

fn at(nanoseconds: i64) -> Timestamp {
    NOON + SignedDuration::from_nanos(nanoseconds)
}

fn due_at(pk: &str, due: Timestamp) -> Record {
    Record {
        due: Some(due),
        ..record(pk, "META", "x")
    }
}

fn partitions(rows: &[DueRow]) -> Vec<&str> {
    rows.iter().map(|row| row.key.pk.as_str()).collect()
}

pub async fn due_rows_come_longest_due_first(store: Arc<dyn Records>) {
    for (pk, nanoseconds) in [
        ("now", 0),
        ("long ago", -3_600_000_000_000),
        ("just", -1),
        ("soon", 1),
    ] {
        put_new(&*store, due_at(pk, at(nanoseconds))).await;
    }
    put_new(&*store, record("never", "META", "x")).await;
    commit_one(&*store, put(due_at("just", at(-1)), Expect::Version(1)))
        .await
        .unwrap();

    let rows = store.due(NOON, 10).await.unwrap();
    assert_eq!(partitions(&rows), ["long ago", "just", "now"]);
    assert_eq!(
        rows[1],
        DueRow {
            key: key("just", "META"),
            due: at(-1)
        }
    );
    assert_eq!(
        partitions(&store.due(NOON, 2).await.unwrap()),
        ["long ago", "just"]
    );
    assert_eq!(
        partitions(&store.due(at(-1), 10).await.unwrap()),
        ["long ago", "just"]
    );
    assert_eq!(
        partitions(&store.due(at(1), 10).await.unwrap()),
        ["long ago", "just", "now", "soon"]
    );
    assert_eq!(store.due(at(-7_200_000_000_000), 10).await.unwrap(), []);
}

pub async fn a_due_row_goes_with_its_due_time(store: Arc<dyn Records>) {
    for pk in ["cleared", "moved", "deleted"] {
        put_new(&*store, due_at(pk, NOON)).await;
    }
    assert_eq!(store.due(NOON, 10).await.unwrap().len(), 3);
    let items = vec![
        put(record("cleared", "META", "x"), Expect::Version(1)),
        put(due_at("moved", at(120_000_000_000)), Expect::Version(1)),
        Write::Delete {
            key: key("deleted", "META"),
            expect: Expect::Version(1),
        },
    ];
    store.commit(items).await.unwrap();
    assert_eq!(store.due(NOON, 10).await.unwrap(), []);
    assert_eq!(
        partitions(&store.due(at(120_000_000_000), 10).await.unwrap()),
        ["moved"]
    );
    assert_eq!(
        store
            .get(&key("cleared", "META"))
            .await
            .unwrap()
            .unwrap()
            .due,
        None
    );
}

pub async fn the_next_due_time_is_the_earliest(store: Arc<dyn Records>) {
    assert_eq!(store.next_due().await.unwrap(), None);
    put_new(&*store, record("never", "META", "x")).await;
    assert_eq!(store.next_due().await.unwrap(), None);
    put_new(&*store, due_at("later", at(5))).await;
    assert_eq!(store.next_due().await.unwrap(), Some(at(5)));
    put_new(&*store, due_at("sooner", at(-5))).await;
    assert_eq!(store.next_due().await.unwrap(), Some(at(-5)));
    commit_one(&*store, put(record("sooner", "META", "x"), Expect::Any))
        .await
        .unwrap();
    assert_eq!(store.next_due().await.unwrap(), Some(at(5)));
}
