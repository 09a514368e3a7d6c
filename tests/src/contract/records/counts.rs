//! Counting the members of a list.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::ports::{CommitError, Expect, ListKey, Record, Records, Write};
use tokio::task::JoinSet;

use super::{RACERS, commit_one, key, put, put_new, record};

/// A record of an aggregate, which a store may keep together with others.
fn counted(pk: &str, name: &str, word: Option<&str>) -> Record {
    let list = Some(ListKey {
        name: name.to_owned(),
        sort: pk.to_owned(),
        word: word.map(str::to_owned),
    });
    Record {
        list,
        ..record(pk, "META", "x")
    }
}

async fn words(store: &dyn Records, name: &str) -> Vec<(String, u64)> {
    let words: BTreeMap<String, u64> = store.words(name).await.unwrap();
    let all: u64 = words.values().sum();
    assert_eq!(store.count(name).await.unwrap(), all, "{words:?}");
    words.into_iter().collect()
}

fn counts_of(words: &[(&str, u64)]) -> Vec<(String, u64)> {
    let words = words.iter();
    words
        .map(|(word, many)| ((*word).to_owned(), *many))
        .collect()
}

pub async fn a_list_is_counted_by_its_words(store: Arc<dyn Records>) {
    assert_eq!(words(&*store, "live").await, counts_of(&[]));
    for (pk, word) in [("1", "asking"), ("2", "working"), ("3", "working")] {
        put_new(&*store, counted(pk, "live", Some(word))).await;
    }
    put_new(&*store, counted("4", "live", None)).await;
    put_new(&*store, counted("5", "lively", Some("working"))).await;
    let all = [("", 1), ("asking", 1), ("working", 2)];
    assert_eq!(words(&*store, "live").await, counts_of(&all));

    // A word that changes, a move, an end, and a way back.
    let change = |pk, name, word, version| {
        let write = put(counted(pk, name, word), Expect::Version(version));
        let store = Arc::clone(&store);
        async move { commit_one(&*store, write).await.unwrap() }
    };
    change("1", "live", Some("working"), 1).await;
    change("2", "over", None, 1).await;
    assert_eq!(
        words(&*store, "live").await,
        counts_of(&[("", 1), ("working", 2)])
    );
    assert_eq!(words(&*store, "over").await, counts_of(&[("", 1)]));
    change("2", "live", Some("asking"), 2).await;
    let out = Write::Put {
        record: record("3", "META", "x"),
        expect: Expect::Version(1),
    };
    commit_one(&*store, out).await.unwrap();
    let gone = Write::Delete {
        key: key("4", "META"),
        expect: Expect::Version(1),
    };
    commit_one(&*store, gone).await.unwrap();
    let all = [("asking", 1), ("working", 1)];
    assert_eq!(words(&*store, "live").await, counts_of(&all));
    assert_eq!(words(&*store, "over").await, counts_of(&[]));
}

pub async fn what_was_refused_is_not_counted(store: Arc<dyn Records>) {
    put_new(&*store, counted("1", "live", Some("working"))).await;
    let twice = put(counted("1", "live", Some("asking")), Expect::Absent);
    let late = put(counted("1", "over", None), Expect::Version(7));
    for refused in [twice, late] {
        let new = put(counted("2", "live", Some("asking")), Expect::Absent);
        let outcome = store.commit(vec![new, refused]).await;
        let conflict = Err(CommitError::Conflict {
            key: key("1", "META"),
        });
        assert_eq!(outcome, conflict);
    }
    assert_eq!(words(&*store, "live").await, counts_of(&[("working", 1)]));
    assert_eq!(words(&*store, "over").await, counts_of(&[]));
}

pub async fn racers_are_counted_once(store: Arc<dyn Records>) {
    put_new(&*store, counted("1", "live", Some("working"))).await;
    let mut racers = JoinSet::new();
    for _ in 0..RACERS {
        let store = Arc::clone(&store);
        let end = put(counted("1", "over", None), Expect::Version(1));
        racers.spawn(async move { store.commit(vec![end]).await.is_ok() });
    }
    let won = racers.join_all().await;
    assert_eq!(won.into_iter().filter(|won| *won).count(), 1);
    assert_eq!(words(&*store, "live").await, counts_of(&[]));
    assert_eq!(words(&*store, "over").await, counts_of(&[("", 1)]));
}
