//! What SQLite promises beyond the contract, which is tested for all stores together.

use engine::ports::{
    CommitError, Expect, Key, ListKey, PageToken, Record, Records, RecordsError, Write,
};
use jiff::{SignedDuration, Timestamp};

use super::{Store, read};
use crate::database::Database;

fn record(pk: &str) -> Record {
    Record {
        key: Key {
            pk: pk.to_owned(),
            sk: "META".to_owned(),
        },
        version: 0,
        body: pk.to_owned(),
        due: None,
        list: None,
        forget: None,
    }
}

fn database_and_store() -> (Database, Store) {
    let database = Database::in_memory().unwrap();
    let store = Store::new(&database);
    (database, store)
}

async fn put(store: &Store, record: Record) -> Result<(), CommitError> {
    store
        .commit(vec![Write::Put {
            record,
            expect: Expect::Any,
        }])
        .await
}

#[tokio::test]
async fn an_empty_commit_succeeds() {
    database_and_store().1.commit(Vec::new()).await.unwrap();
}

#[tokio::test]
async fn ties_are_ordered_by_key() {
    let (_database, store) = database_and_store();
    let list = Some(ListKey {
        name: "jobs".to_owned(),
        sort: "same".to_owned(),
        word: None,
    });
    for pk in ["b", "a", "c"] {
        put(
            &store,
            Record {
                due: Some(Timestamp::UNIX_EPOCH),
                list: list.clone(),
                ..record(pk)
            },
        )
        .await
        .unwrap();
    }
    let due = store.due(Timestamp::UNIX_EPOCH, 10).await.unwrap();
    assert_eq!(
        due.iter()
            .map(|row| row.key.pk.as_str())
            .collect::<Vec<_>>(),
        ["a", "b", "c"]
    );
    for (newest, expected) in [(false, ["a", "b", "c"]), (true, ["c", "b", "a"])] {
        let page = store.list("jobs", newest, None, 10).await.unwrap();
        assert_eq!(
            page.records
                .iter()
                .map(|record| record.body.as_str())
                .collect::<Vec<_>>(),
            expected
        );
        assert_eq!(page.next, None);
    }
}

#[tokio::test]
async fn times_beyond_the_integers_are_refused_for_storing_and_fine_for_asking() {
    let (_database, store) = database_and_store();
    let far = put(
        &store,
        Record {
            due: Some(Timestamp::MAX),
            ..record("far")
        },
    )
    .await;
    assert!(matches!(far, Err(CommitError::TooLarge { .. })), "{far:?}");
    assert_eq!(store.get(&record("far").key).await.unwrap(), None);
    let last = Timestamp::from_nanosecond(i128::from(i64::MAX)).unwrap();
    put(
        &store,
        Record {
            due: Some(last),
            ..record("last")
        },
    )
    .await
    .unwrap();
    assert_eq!(store.due(Timestamp::MAX, 10).await.unwrap()[0].due, last);
    assert_eq!(
        store
            .due(last - SignedDuration::from_nanos(1), 10)
            .await
            .unwrap(),
        []
    );
    assert_eq!(store.due(Timestamp::MIN, 10).await.unwrap(), []);
}

#[tokio::test]
async fn a_page_of_none_is_a_page_of_one() {
    let (_database, store) = database_and_store();
    let records = ["1", "2"].map(|sk| Record {
        key: Key {
            pk: "P".to_owned(),
            sk: sk.to_owned(),
        },
        ..record("P")
    });
    for record in records {
        put(&store, record).await.unwrap();
    }
    let first = store.query("P", "", None, 0).await.unwrap();
    assert_eq!(first.records.len(), 1);
    let second = store.query("P", "", first.next, 0).await.unwrap();
    assert_eq!((second.records.len(), second.next), (1, None));
}

#[tokio::test]
async fn foreign_page_tokens_are_refused() {
    let (_database, store) = database_and_store();
    for token in ["", "x", "!!", "bnVsbA", "WyJhIiwiYiJd", "WzFd"] {
        let token = Some(PageToken(token.to_owned()));
        assert!(matches!(
            store.query("P", "", token.clone(), 1).await,
            Err(RecordsError::Unavailable { .. })
        ));
        assert!(matches!(
            store.list("l", true, token, 1).await,
            Err(RecordsError::Unavailable { .. })
        ));
    }
}

#[tokio::test]
async fn a_body_that_is_no_text_is_told_with_its_key() {
    let (database, store) = database_and_store();
    put(&store, record("broken")).await.unwrap();
    let spoil = "UPDATE records SET body = CAST(x'ff00' AS TEXT)";
    database
        .run(move |connection| connection.execute(spoil, []))
        .await
        .unwrap()
        .unwrap();
    let found = store.get(&record("broken").key).await;
    assert!(
        matches!(&found, Err(RecordsError::Unreadable { key, .. }) if key == &record("broken").key),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_store_that_is_locked_is_unavailable_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gaffer.db");
    let (first, second) = (
        Database::open(&path).unwrap(),
        Database::open(&path).unwrap(),
    );
    let patience = std::time::Duration::from_millis(1);
    second
        .run(move |connection| connection.busy_timeout(patience))
        .await
        .unwrap()
        .unwrap();
    first
        .run(|connection| connection.execute_batch("BEGIN IMMEDIATE"))
        .await
        .unwrap()
        .unwrap();
    let store = Store::new(&second);
    assert!(matches!(
        put(&store, record("a")).await,
        Err(CommitError::Unavailable(_))
    ));
    // Readers go on while another connection writes.
    assert_eq!(store.get(&record("a").key).await.unwrap(), None);
    first
        .run(|connection| connection.execute_batch("ROLLBACK"))
        .await
        .unwrap()
        .unwrap();
    put(&store, record("a")).await.unwrap();
}

#[tokio::test]
async fn a_failure_in_the_middle_of_writing_takes_everything_back() {
    let (_database, store) = database_and_store();
    let far = Record {
        due: Some(Timestamp::MAX),
        ..record("far")
    };
    let items = [record("near"), far].map(|record| Write::Put {
        record,
        expect: Expect::Absent,
    });
    assert!(store.commit(items.to_vec()).await.is_err());
    assert_eq!(store.get(&record("near").key).await.unwrap(), None);
    put(&store, record("near")).await.unwrap();
}

#[tokio::test]
async fn queries_and_indexes_are_searched_and_never_scanned() {
    let (database, _store) = database_and_store();
    for sql in read::ALL {
        let plan = format!("EXPLAIN QUERY PLAN {sql}");
        let steps: Vec<String> = database
            .run(move |connection| {
                let mut statement = connection.prepare(&plan).unwrap();
                // Nothing is bound: the plan does not depend on the values.
                let mut rows = statement.raw_query();
                let mut steps = Vec::new();
                while let Some(row) = rows.next().unwrap() {
                    steps.push(row.get::<_, String>(3).unwrap());
                }
                steps
            })
            .await
            .unwrap();
        let searched = steps
            .iter()
            .all(|step| step.starts_with("SEARCH records USING") && !step.contains("TEMP B-TREE"));
        assert!(searched, "{sql}: {steps:?}");
        if sql.contains("sk < ") {
            assert!(
                steps[0].ends_with("(pk=? AND sk>? AND sk<?)"),
                "{sql}: {steps:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_full_disk_refuses_the_commit_whole_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gaffer.db");
    let database = Database::open(&path).unwrap();
    let store = Store::new(&database);
    let pages = |most: &'static str| {
        database.run(move |connection| {
            connection
                .query_row(&format!("PRAGMA max_page_count = {most}"), [], |_| Ok(()))
                .unwrap();
        })
    };
    pages("64").await.unwrap();
    let put = |number: usize, bytes: usize| Write::Put {
        record: Record {
            key: Key {
                pk: "JOB#1".to_owned(),
                sk: format!("EV#{number:04}"),
            },
            version: 0,
            body: "x".repeat(bytes),
            due: None,
            list: None,
            forget: None,
        },
        expect: Expect::Absent,
    };
    let mut stored = 0;
    let refused = loop {
        // The second would fit, so that a commit that is not taken back whole shows.
        let writes = vec![put(stored, 20_000), put(stored + 1, 10)];
        match store.commit(writes).await {
            Ok(()) => stored += 2,
            Err(error) => break error,
        }
        assert!(stored < 100, "the disk never fills");
    };
    assert!(
        matches!(&refused, CommitError::Unavailable(message) if message.contains("full")),
        "{refused:?}"
    );
    assert_eq!(store.scan(None, 1_000).await.unwrap().len(), stored);
    drop(store);
    pages("1000000").await.unwrap();
    let store = Store::new(&Database::open(&path).unwrap());
    assert_eq!(store.scan(None, 1_000).await.unwrap().len(), stored);
    store.commit(vec![put(stored, 20_000)]).await.unwrap();
}

#[tokio::test]
async fn what_may_be_forgotten_goes_the_oldest_first_and_nothing_else() {
    let (_, store) = database_and_store();
    let at = |second| Timestamp::from_second(second).unwrap();
    let ends = [
        ("kept", None),
        ("3", Some(3)),
        ("1", Some(1)),
        ("2", Some(2)),
        ("4", Some(4)),
    ];
    for (pk, end) in ends {
        let record = Record {
            forget: end.map(at),
            ..record(pk)
        };
        put(&store, record).await.unwrap();
    }
    let left = async || -> Vec<String> {
        let all = store.scan(None, 10).await.unwrap();
        all.into_iter().map(|record| record.key.pk).collect()
    };
    assert_eq!(store.forget(at(0), 10).await.unwrap(), 0);
    assert_eq!(store.forget(at(3), 2).await.unwrap(), 2);
    assert_eq!(left().await, ["3", "4", "kept"]);
    assert_eq!(store.forget(at(3), 2).await.unwrap(), 1);
    assert_eq!(store.forget(at(3), 2).await.unwrap(), 0);
    assert_eq!(left().await, ["4", "kept"]);
}
