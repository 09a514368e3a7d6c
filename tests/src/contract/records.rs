//! What every record store promises, sentence by sentence of the port.

use std::sync::Arc;

use engine::ports::{CommitError, Expect, Key, ListKey, Record, Records, Write};
use jiff::Timestamp;
use tokio::task::JoinSet;

mod counts;
mod indexes;
mod limits;
mod pages;

pub use counts::*;
pub use indexes::*;
pub use limits::*;
pub use pages::*;

/// How many tasks race for one record.
const RACERS: usize = 16;

pub fn key(pk: &str, sk: &str) -> Key {
    Key {
        pk: pk.to_owned(),
        sk: sk.to_owned(),
    }
}

pub fn record(pk: &str, sk: &str, body: &str) -> Record {
    Record {
        key: key(pk, sk),
        version: 0,
        body: body.to_owned(),
        due: None,
        list: None,
        forget: None,
    }
}

pub fn put(record: Record, expect: Expect) -> Write {
    Write::Put { record, expect }
}

pub async fn put_new(store: &dyn Records, record: Record) {
    store
        .commit(vec![put(record, Expect::Absent)])
        .await
        .unwrap();
}

async fn commit_one(store: &dyn Records, item: Write) -> Result<(), CommitError> {
    store.commit(vec![item]).await
}

async fn body_of(store: &dyn Records, key: &Key) -> Option<String> {
    store.get(key).await.unwrap().map(|record| record.body)
}

async fn version_of(store: &dyn Records, key: &Key) -> Option<u64> {
    store.get(key).await.unwrap().map(|record| record.version)
}

/// Adds one to the number in a record, however often another writer is quicker. Every conflict is another writer's
/// success.
pub async fn increment(store: &dyn Records, key: &Key) {
    for _ in 0..=RACERS {
        let mut found = store.get(key).await.unwrap().unwrap();
        found.body = (found.body.parse::<u32>().unwrap() + 1).to_string();
        let expect = Expect::Version(found.version);
        match commit_one(store, put(found, expect)).await {
            Ok(()) => return,
            Err(CommitError::Conflict { key: named }) => assert_eq!(&named, key),
            Err(other) => panic!("{other}"),
        }
    }
    panic!("more conflicts than racers");
}

pub async fn an_absent_record_is_none(store: Arc<dyn Records>) {
    put_new(&*store, record("JOB#1", "META", "a")).await;
    assert_eq!(store.get(&key("JOB#1", "EV#1")).await.unwrap(), None);
    assert_eq!(store.get(&key("JOB#2", "META")).await.unwrap(), None);
    assert_eq!(store.get(&key("job#1", "META")).await.unwrap(), None);
}

pub async fn a_record_is_read_as_it_was_written(store: Arc<dyn Records>) {
    let written = Record {
        key: key("PR#o/r#1", "ÄÖ 'quoted' % _"),
        version: 99,
        body: "{\"text\":\"naïve — 日本語 🦀 \\u0000\"}".to_owned(),
        due: Some(Timestamp::new(1_772_355_600, 123_456_789).unwrap()),
        list: Some(ListKey {
            name: "pulls".to_owned(),
            sort: "o/r#1".to_owned(),
            word: Some("waiting".to_owned()),
        }),
        forget: Some(Timestamp::from_second(1_804_000_000).unwrap()),
    };
    put_new(&*store, written.clone()).await;
    let found = store.get(&written.key).await.unwrap().unwrap();
    let mut now = Record {
        version: 1,
        ..written
    };
    assert_eq!(found, now);
    // A removed value is absent.
    (now.due, now.list, now.forget) = (None, None, None);
    commit_one(&*store, put(now.clone(), Expect::Version(1)))
        .await
        .unwrap();
    now.version = 2;
    assert_eq!(store.get(&now.key).await.unwrap(), Some(now));
}

pub async fn versions_count_the_puts(store: Arc<dyn Records>) {
    let key = key("JOB#1", "META");
    for (expect, version) in [
        (Expect::Absent, 1),
        (Expect::Version(1), 2),
        (Expect::Any, 3),
        (Expect::Version(3), 4),
    ] {
        commit_one(&*store, put(record("JOB#1", "META", "x"), expect))
            .await
            .unwrap();
        assert_eq!(version_of(&*store, &key).await, Some(version));
    }
}

pub async fn a_deleted_record_starts_again(store: Arc<dyn Records>) {
    let key = key("JOB#1", "META");
    put_new(&*store, record("JOB#1", "META", "a")).await;
    commit_one(
        &*store,
        put(record("JOB#1", "META", "b"), Expect::Version(1)),
    )
    .await
    .unwrap();
    commit_one(
        &*store,
        Write::Delete {
            key: key.clone(),
            expect: Expect::Version(2),
        },
    )
    .await
    .unwrap();
    assert_eq!(version_of(&*store, &key).await, None);
    put_new(&*store, record("JOB#1", "META", "c")).await;
    assert_eq!(version_of(&*store, &key).await, Some(1));
}

/// Each condition on an absent record, and on one of version 2, and whether it holds.
const CONDITIONS: [(Expect, bool, bool); 5] = [
    (Expect::Absent, true, false),
    (Expect::Version(1), false, false),
    (Expect::Version(2), false, true),
    (Expect::Version(3), false, false),
    (Expect::Any, true, true),
];

/// Tries an item on an absent record and on one of version 2, under each condition; passes the result to `judge`.
async fn under_each_condition(
    store: &dyn Records,
    item: impl Fn(Record, Expect) -> Write,
    judge: impl Fn(bool, bool, Option<Record>),
) {
    for (at, (expect, on_absent, on_present)) in CONDITIONS.into_iter().enumerate() {
        for (present, holds) in [(false, on_absent), (true, on_present)] {
            let target = record("T", &format!("{at}-{present}"), "new");
            if present {
                put_new(
                    store,
                    Record {
                        body: "old".to_owned(),
                        ..target.clone()
                    },
                )
                .await;
                commit_one(
                    store,
                    put(
                        Record {
                            body: "old".to_owned(),
                            ..target.clone()
                        },
                        Expect::Any,
                    ),
                )
                .await
                .unwrap();
            }
            let outcome = commit_one(store, item(target.clone(), expect)).await;
            let refused = Err(CommitError::Conflict {
                key: target.key.clone(),
            });
            assert_eq!(
                outcome,
                if holds { Ok(()) } else { refused },
                "{expect:?}, present: {present}"
            );
            judge(present, holds, store.get(&target.key).await.unwrap());
        }
    }
}

pub async fn puts_happen_only_under_their_condition(store: Arc<dyn Records>) {
    under_each_condition(&*store, put, |present, holds, left| {
        let left = left.map(|record| (record.body, record.version));
        let expected = match (present, holds) {
            (false, false) => None,
            (false, true) => Some(("new".to_owned(), 1)),
            (true, false) => Some(("old".to_owned(), 2)),
            (true, true) => Some(("new".to_owned(), 3)),
        };
        assert_eq!(left, expected);
    })
    .await;
}

pub async fn deletes_happen_only_under_their_condition(store: Arc<dyn Records>) {
    let delete = |record: Record, expect| Write::Delete {
        key: record.key,
        expect,
    };
    under_each_condition(&*store, delete, |present, holds, left| {
        assert_eq!(left.is_some(), present && !holds);
    })
    .await;
}

pub async fn checks_only_check(store: Arc<dyn Records>) {
    let check = |record: Record, expect| Write::Check {
        key: record.key,
        expect,
    };
    under_each_condition(&*store, check, |present, _, left| {
        let left = left.map(|record| (record.body, record.version));
        assert_eq!(left, present.then(|| ("old".to_owned(), 2)));
    })
    .await;
}

pub async fn a_commit_is_all_or_nothing(store: Arc<dyn Records>) {
    put_new(&*store, record("A", "changed", "old")).await;
    put_new(&*store, record("A", "deleted", "old")).await;
    put_new(&*store, record("B", "guard", "old")).await;
    let items = |guard| {
        vec![
            put(record("A", "created", "new"), Expect::Absent),
            put(record("A", "changed", "new"), Expect::Version(1)),
            Write::Delete {
                key: key("A", "deleted"),
                expect: Expect::Version(1),
            },
            Write::Check {
                key: key("B", "guard"),
                expect: guard,
            },
        ]
    };
    let refused = store.commit(items(Expect::Version(7))).await;
    assert_eq!(
        refused,
        Err(CommitError::Conflict {
            key: key("B", "guard")
        })
    );
    let bodies = async || {
        [
            body_of(&*store, &key("A", "created")).await,
            body_of(&*store, &key("A", "changed")).await,
            body_of(&*store, &key("A", "deleted")).await,
        ]
    };
    assert_eq!(
        bodies().await,
        [None, Some("old".to_owned()), Some("old".to_owned())]
    );
    store.commit(items(Expect::Version(1))).await.unwrap();
    assert_eq!(
        bodies().await,
        [Some("new".to_owned()), Some("new".to_owned()), None]
    );
}

pub async fn a_conflict_names_the_first_item_that_failed(store: Arc<dyn Records>) {
    put_new(&*store, record("A", "1", "old")).await;
    let items = vec![
        put(record("A", "0", "new"), Expect::Absent),
        put(record("A", "2", "new"), Expect::Version(1)),
        put(record("A", "1", "new"), Expect::Absent),
    ];
    assert_eq!(
        store.commit(items).await,
        Err(CommitError::Conflict { key: key("A", "2") })
    );
}

pub async fn concurrent_increments_are_never_lost(store: Arc<dyn Records>) {
    put_new(&*store, record("COUNT#x", "META", "0")).await;
    let mut tasks = JoinSet::new();
    for _ in 0..RACERS {
        let store = Arc::clone(&store);
        tasks.spawn(async move { increment(&*store, &key("COUNT#x", "META")).await });
    }
    tasks.join_all().await;
    let counted = store.get(&key("COUNT#x", "META")).await.unwrap().unwrap();
    assert_eq!(
        (counted.body, counted.version),
        (RACERS.to_string(), RACERS as u64 + 1)
    );
}

pub async fn concurrent_first_puts_have_one_winner(store: Arc<dyn Records>) {
    let mut tasks = JoinSet::new();
    for racer in 0..RACERS {
        let store = Arc::clone(&store);
        let pointer = record("SESSION#1", "META", &racer.to_string());
        tasks.spawn(async move {
            (
                racer,
                commit_one(&*store, put(pointer, Expect::Absent)).await,
            )
        });
    }
    let outcomes = tasks.join_all().await;
    let winners: Vec<usize> = outcomes
        .iter()
        .filter(|(_, outcome)| outcome.is_ok())
        .map(|(racer, _)| *racer)
        .collect();
    assert_eq!(winners.len(), 1, "{outcomes:?}");
    assert_eq!(
        body_of(&*store, &key("SESSION#1", "META")).await,
        Some(winners[0].to_string())
    );
    assert_eq!(
        version_of(&*store, &key("SESSION#1", "META")).await,
        Some(1)
    );
}
