//! The limits of a commit, alike on every store.

use std::sync::Arc;

use engine::ports::{
    BODY_BYTES_MAX, COMMIT_BYTES_MAX, COMMIT_ITEMS_MAX, CommitError, Expect, Records, Write,
};

use super::{key, put, put_new, record};

fn of_items(count: usize, body: &str) -> Vec<Write> {
    (0..count)
        .map(|at| put(record("MANY", &format!("{at:04}"), body), Expect::Absent))
        .collect()
}

/// So many full bodies that they exceed the bytes of one commit.
fn too_many_bytes() -> Vec<Write> {
    of_items(
        COMMIT_BYTES_MAX / BODY_BYTES_MAX + 1,
        &"x".repeat(BODY_BYTES_MAX),
    )
}

/// The same key twice, in each pair of kinds.
fn twice() -> Vec<Vec<Write>> {
    let kinds = || {
        [
            put(record("MANY", "same", "x"), Expect::Any),
            Write::Delete {
                key: key("MANY", "same"),
                expect: Expect::Any,
            },
            Write::Check {
                key: key("MANY", "same"),
                expect: Expect::Any,
            },
        ]
    };
    kinds()
        .into_iter()
        .flat_map(|first| kinds().map(|second| vec![first.clone(), second]))
        .collect()
}

pub async fn limits_are_refused_and_write_nothing(store: Arc<dyn Records>) {
    let long = vec![put(
        record("MANY", "long", &"x".repeat(BODY_BYTES_MAX + 1)),
        Expect::Absent,
    )];
    // 4 bytes each in UTF-8: the limit counts bytes, not characters.
    let wide = vec![put(
        record("MANY", "wide", &"🦀".repeat(BODY_BYTES_MAX / 4 + 1)),
        Expect::Absent,
    )];
    let mut refused = vec![
        of_items(COMMIT_ITEMS_MAX + 1, "x"),
        too_many_bytes(),
        long,
        wide,
    ];
    refused.extend(twice());
    for items in refused {
        let outcome = store.commit(items).await;
        assert!(
            matches!(outcome, Err(CommitError::TooLarge { .. })),
            "{outcome:?}"
        );
    }
    assert_eq!(store.query("MANY", "", None, 10).await.unwrap().records, []);
}

pub async fn what_is_just_within_the_limits_is_written(store: Arc<dyn Records>) {
    store.commit(of_items(COMMIT_ITEMS_MAX, "x")).await.unwrap();
    let body = "x".repeat(BODY_BYTES_MAX);
    put_new(&*store, record("LONG", "META", &body)).await;
    assert_eq!(
        store.get(&key("LONG", "META")).await.unwrap().unwrap().body,
        body
    );
    assert_eq!(
        store
            .query("MANY", "", None, 200)
            .await
            .unwrap()
            .records
            .len(),
        COMMIT_ITEMS_MAX
    );
}
