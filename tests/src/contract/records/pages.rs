//! Queries and lists: order, borders, pages.

use std::sync::Arc;

use engine::ports::{
    Expect, ListKey, Member, Page, PageToken, Record, Records, RecordsError, Write,
};

use super::{commit_one, key, put, put_new, record};

/// More pages than any of these listings has: a listing that never ends is a failure, not a hang.
const PAGES_MAX: usize = 40;

fn in_list(pk: &str, name: &str, sort: &str) -> Record {
    let list = Some(ListKey {
        name: name.to_owned(),
        sort: sort.to_owned(),
        word: None,
    });
    Record {
        list,
        ..record(pk, "META", sort)
    }
}

fn sort_keys(records: &[Record]) -> Vec<&str> {
    records
        .iter()
        .map(|record| record.key.sk.as_str())
        .collect()
}

async fn queried(store: &dyn Records, pk: &str, prefix: &str, limit: usize) -> Vec<Record> {
    all(limit, async |after| {
        store.query(pk, prefix, after, limit).await
    })
    .await
}

async fn listed(store: &dyn Records, name: &str, newest: bool, limit: usize) -> Vec<Record> {
    all(limit, async |after| {
        store.list(name, newest, after, limit).await
    })
    .await
}

async fn all(
    limit: usize,
    turn: impl AsyncFn(Option<PageToken>) -> Result<Page, RecordsError>,
) -> Vec<Record> {
    let mut records = Vec::new();
    let mut after: Option<PageToken> = None;
    for _ in 0..PAGES_MAX {
        let page = turn(after).await.unwrap();
        assert!(page.records.len() <= limit);
        records.extend(page.records);
        let Some(next) = page.next else {
            return records;
        };
        after = Some(next);
    }
    panic!("the pages do not end");
}

async fn bodies(store: &dyn Records, name: &str, newest: bool) -> Vec<String> {
    listed(store, name, newest, 100)
        .await
        .into_iter()
        .map(|record| record.body)
        .collect()
}

pub async fn a_query_keeps_to_its_partition_and_prefix(store: Arc<dyn Records>) {
    let places = [
        "EV#",
        "EV#1",
        "EV#1\u{10FFFF}z",
        "EV$",
        "EV\"",
        "EW",
        "META",
        "a%b",
        "a_b",
        "axb",
        "ev#1",
    ];
    for sk in places {
        put_new(&*store, record("JOB#1", sk, "mine")).await;
        put_new(&*store, record("JOB#10", sk, "other")).await;
    }
    let cases: [(&str, &[&str]); 8] = [
        ("EV#", &["EV#", "EV#1", "EV#1\u{10FFFF}z"]),
        ("EV#1\u{10FFFF}", &["EV#1\u{10FFFF}z"]),
        ("EV", &["EV\"", "EV#", "EV#1", "EV#1\u{10FFFF}z", "EV$"]),
        ("a%", &["a%b"]),
        ("a_", &["a_b"]),
        ("META", &["META"]),
        ("Z", &[]),
        (
            "",
            &[
                "EV\"",
                "EV#",
                "EV#1",
                "EV#1\u{10FFFF}z",
                "EV$",
                "EW",
                "META",
                "a%b",
                "a_b",
                "axb",
                "ev#1",
            ],
        ),
    ];
    for (prefix, expected) in cases {
        let page = store.query("JOB#1", prefix, None, 100).await.unwrap();
        assert_eq!(sort_keys(&page.records), expected, "{prefix}");
        assert!(page.records.iter().all(|record| record.body == "mine"));
    }
    assert_eq!(
        store.query("JOB#2", "", None, 100).await.unwrap().records,
        []
    );
}

pub async fn a_query_is_read_page_by_page(store: Arc<dyn Records>) {
    // Put out of order, so that the order of writing cannot pass for that of the keys.
    for at in (0..30).rev() {
        put_new(&*store, record("JOB#1", &format!("EV#{at:02}"), "x")).await;
    }
    put_new(&*store, record("JOB#1", "META", "x")).await;
    let expected: Vec<String> = (0..30).map(|at| format!("EV#{at:02}")).collect();
    for limit in [1, 7, 10, 29, 30, 31] {
        let records = queried(&*store, "JOB#1", "EV#", limit).await;
        assert_eq!(sort_keys(&records), expected, "{limit} a page");
    }
}

pub async fn a_query_goes_on_after_its_last_record_was_deleted(store: Arc<dyn Records>) {
    for sk in ["1", "2", "3", "4"] {
        put_new(&*store, record("JOB#1", sk, "x")).await;
    }
    let first = store.query("JOB#1", "", None, 2).await.unwrap();
    commit_one(
        &*store,
        Write::Delete {
            key: key("JOB#1", "2"),
            expect: Expect::Any,
        },
    )
    .await
    .unwrap();
    let second = store.query("JOB#1", "", first.next, 2).await.unwrap();
    assert_eq!(sort_keys(&second.records), ["3", "4"]);
}

pub async fn a_list_is_read_in_both_directions(store: Arc<dyn Records>) {
    for (pk, name, sort) in [
        ("1", "jobs", "b"),
        ("2", "jobs", "a"),
        ("3", "jobs", "c"),
        ("4", "pulls", "a"),
    ] {
        put_new(&*store, in_list(pk, name, sort)).await;
    }
    put_new(&*store, record("5", "META", "in no list")).await;
    assert_eq!(bodies(&*store, "jobs", false).await, ["a", "b", "c"]);
    assert_eq!(bodies(&*store, "jobs", true).await, ["c", "b", "a"]);
    assert_eq!(bodies(&*store, "pulls", false).await, ["a"]);
    assert_eq!(bodies(&*store, "job", false).await, [""; 0]);
}

pub async fn the_members_of_a_list_come_in_its_order(store: Arc<dyn Records>) {
    for at in [2, 0, 3, 1] {
        let record = in_list(&format!("{at}"), "jobs", &format!("place {at}"));
        put_new(&*store, record).await;
    }
    put_new(&*store, in_list("else", "others", "place 0")).await;
    for limit in 1..6 {
        let members = store.members("jobs", limit).await.unwrap();
        let all = listed(&*store, "jobs", false, 10).await;
        let first = all.into_iter().take(limit).map(|it| Member {
            sort: it.list.unwrap().sort,
            key: it.key,
        });
        let first: Vec<Member> = first.collect();
        assert_eq!(first.len(), limit.min(4));
        assert_eq!(members, first);
    }
}

pub async fn a_list_is_read_page_by_page(store: Arc<dyn Records>) {
    // Three records share each place: a page may end between them.
    for at in 0..30 {
        put_new(
            &*store,
            in_list(&format!("{at:02}"), "jobs", &format!("place {}", at / 3)),
        )
        .await;
    }
    for limit in [1, 2, 7, 10, 29, 30, 31] {
        for newest in [false, true] {
            let records = listed(&*store, "jobs", newest, limit).await;
            let mut places: Vec<&str> = records.iter().map(|record| record.body.as_str()).collect();
            if newest {
                places.reverse();
            }
            assert!(
                places.is_sorted(),
                "{limit} a page, newest first: {newest}: {places:?}"
            );
            let mut partitions: Vec<&str> = records
                .iter()
                .map(|record| record.key.pk.as_str())
                .collect();
            partitions.sort_unstable();
            partitions.dedup();
            assert_eq!(
                (records.len(), partitions.len()),
                (30, 30),
                "{limit} a page, newest first: {newest}"
            );
        }
    }
}

pub async fn a_list_goes_on_after_a_place_where_nothing_stands(store: Arc<dyn Records>) {
    for (pk, sort) in [("1", "a"), ("2", "c1"), ("3", "c2"), ("4", "e")] {
        put_new(&*store, in_list(pk, "jobs", sort)).await;
    }
    for (sort, pk, newest, expected) in [
        ("d", "9", true, ["3", "2", "1"].as_slice()),
        ("c2", "3", true, &["2", "1"]),
        ("c1", "2", false, &["3", "4"]),
        ("b", "0", false, &["2", "3", "4"]),
        ("a", "0", true, &[]),
    ] {
        let token = Some(PageToken::after(sort, &key(pk, "META")));
        let page = store.list("jobs", newest, token, 10).await.unwrap();
        let found: Vec<&str> = page.records.iter().map(|it| it.key.pk.as_str()).collect();
        assert_eq!(found, expected, "{sort} {pk}");
    }
}

pub async fn a_record_moves_in_its_list_with_every_put(store: Arc<dyn Records>) {
    put_new(&*store, in_list("1", "jobs", "a")).await;
    put_new(&*store, in_list("2", "jobs", "b")).await;
    commit_one(&*store, put(in_list("1", "jobs", "c"), Expect::Version(1)))
        .await
        .unwrap();
    assert_eq!(bodies(&*store, "jobs", false).await, ["b", "c"]);
    commit_one(
        &*store,
        put(in_list("1", "archive", "a"), Expect::Version(2)),
    )
    .await
    .unwrap();
    assert_eq!(bodies(&*store, "jobs", false).await, ["b"]);
    assert_eq!(bodies(&*store, "archive", false).await, ["a"]);
    commit_one(&*store, put(record("1", "META", "out"), Expect::Version(3)))
        .await
        .unwrap();
    assert_eq!(bodies(&*store, "archive", false).await, [""; 0]);
    commit_one(
        &*store,
        Write::Delete {
            key: key("2", "META"),
            expect: Expect::Any,
        },
    )
    .await
    .unwrap();
    assert_eq!(bodies(&*store, "jobs", false).await, [""; 0]);
}
