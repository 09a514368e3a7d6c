//! Records that share the item of their aggregate, and those that do not fit: under every operation the table behaves
//! like a store in memory.

use aws::Table;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use engine::ports::{CommitError, Expect, Key, ListKey, Record, Records, Write};
use jiff::{SignedDuration, Timestamp};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tests::cloud;
use tests::memory::MemoryRecords;

/// Commits of one play.
const COMMITS: usize = 300;

const SEED: u64 = 20_261_124;

/// Longer than what shares an item.
const LONG: usize = 5_000;

/// Small records, records by themselves, and the ones that both belong to.
const KEYS: [(&str, &str); 10] = [
    ("JOB#1", "META"),
    ("JOB#1", "FX#a"),
    ("JOB#1", "FX#b"),
    ("JOB#1", "OUT#c"),
    ("JOB#1", "EVENTS"),
    ("JOB#1", "EV#d"),
    ("PR#acme/shop#7", "META"),
    ("PR#acme/shop#7", "FX#e"),
    ("PR#acme/shop#7", "OUT#f"),
    ("RATE#slots#default", "META"),
];

fn key((pk, sk): (&str, &str)) -> Key {
    Key {
        pk: pk.to_owned(),
        sk: sk.to_owned(),
    }
}

struct Player {
    dice: StdRng,
}

impl Player {
    fn one_in(&mut self, many: u32) -> bool {
        self.dice.random_range(0..many) == 0
    }

    fn record(&mut self, key: Key) -> Record {
        let length = if self.one_in(8) {
            LONG
        } else {
            self.dice.random_range(0..400)
        };
        let body = serde_json::json!({ "it": "x".repeat(length) }).to_string();
        let due = self.dice.random_range(0..600);
        let is_small = key.sk != "META";
        let list = self.one_in(if is_small { 10 } else { 2 }).then(|| ListKey {
            name: "some".to_owned(),
            sort: format!("{} {}", key.pk, key.sk),
            word: None,
        });
        Record {
            // White space around it would be lost if it shared the item.
            body: if self.one_in(20) {
                format!(" {body}")
            } else {
                body
            },
            due: self
                .one_in(2)
                .then(|| begin() + SignedDuration::from_secs(due)),
            list,
            forget: self.one_in(15).then(begin),
            version: 0,
            key,
        }
    }

    /// Mostly what holds, sometimes what does not.
    async fn write(&mut self, store: &MemoryRecords, key: Key) -> Write {
        let found = store.get(&key).await.expect("memory");
        let version = found.map(|found| found.version);
        let expect = match (version, self.dice.random_range(0..8)) {
            (_, 0) => Expect::Any,
            (_, 1) => Expect::Absent,
            (version, 2) => Expect::Version(version.unwrap_or(0) + 1),
            (Some(version), _) => Expect::Version(version),
            (None, _) => Expect::Absent,
        };
        match self.dice.random_range(0..6) {
            0 => Write::Delete { key, expect },
            1 => Write::Check { key, expect },
            _ => Write::Put {
                record: self.record(key),
                expect,
            },
        }
    }

    async fn commit(&mut self, store: &MemoryRecords) -> Vec<Write> {
        let mut writes = Vec::new();
        for at in KEYS {
            if self.one_in(4) {
                writes.push(self.write(store, key(at)).await);
            }
        }
        writes
    }
}

fn begin() -> Timestamp {
    Timestamp::constant(1_800_000_000, 0)
}

/// Everything that a store returns about its contents.
async fn snapshot(store: &dyn Records) -> (Vec<Record>, Vec<(Timestamp, Key)>, Option<Timestamp>) {
    let mut records = Vec::new();
    for pk in ["JOB#1", "PR#acme/shop#7", "RATE#slots#default"] {
        let mut after = None;
        loop {
            let page = store.query(pk, "", after, 2).await.expect("a page");
            records.extend(page.records);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        for prefix in ["FX#", "EV", "META"] {
            let page = store.query(pk, prefix, None, 10).await.expect("a page");
            let same = records.iter().filter(|it| it.key.pk == pk);
            let same: Vec<_> = same
                .filter(|it| it.key.sk.starts_with(prefix))
                .cloned()
                .collect();
            assert_eq!(page.records, same, "{pk} {prefix}");
        }
    }
    let mut glanced = store.glance(&KEYS.map(key)).await.expect("a store");
    glanced.sort_by(|one, other| one.key.cmp(&other.key));
    let mut all = records.clone();
    all.sort_by(|one, other| one.key.cmp(&other.key));
    assert_eq!(glanced, all);
    for at in KEYS {
        let found = store.get(&key(at)).await.expect("a store");
        let listed = records.iter().find(|record| record.key == key(at)).cloned();
        assert_eq!(found, listed);
    }
    let later = begin() + SignedDuration::from_secs(300);
    let due = store.due(later, 100).await.expect("a store");
    let mut due: Vec<_> = due.into_iter().map(|row| (row.due, row.key)).collect();
    due.sort();
    (records, due, store.next_due().await.expect("a store"))
}

/// Applies the same operations to a table and to a store in memory, and compares their answers.
async fn play(table: &Table, memory: &MemoryRecords, mut player: Player) {
    let (mut written, mut refused) = (0, 0);
    for at in 0..COMMITS {
        let writes = player.commit(memory).await;
        let (one, other) = (
            memory.commit(writes.clone()).await,
            table.commit(writes.clone()).await,
        );
        match (one, other) {
            (Ok(()), Ok(())) => written += 1,
            (Err(CommitError::Conflict { .. }), Err(CommitError::Conflict { .. })) => refused += 1,
            (one, other) => panic!("commit {at}: {one:?}, but {other:?}: {writes:#?}"),
        }
        if at % 5 == 0 {
            let told = snapshot(table).await;
            assert_eq!(told, snapshot(memory).await, "after commit {at}");
        }
    }
    assert!(written > COMMITS / 3, "{written} and {refused}");
    assert!(refused > COMMITS / 10, "{written} and {refused}");
}

#[tokio::test]
async fn a_table_is_as_a_store_in_memory_is() {
    let (table, memory) = (cloud::new_table().await, MemoryRecords::default());
    let dice = StdRng::seed_from_u64(SEED);
    play(&table, &memory, Player { dice }).await;
}

/// A query of due rows returns an unreadable item as well: it fails alone, when it is handled.
#[tokio::test]
async fn an_item_that_cannot_be_read_hides_nothing_that_is_due() {
    let table = cloud::new_table().await;
    let due = |pk| Record {
        key: key((pk, "META")),
        version: 0,
        body: "{}".to_owned(),
        due: Some(begin()),
        list: None,
        forget: None,
    };
    for pk in ["JOB#1", "JOB#2"] {
        let put = Write::Put {
            record: due(pk),
            expect: Expect::Absent,
        };
        table.commit(vec![put]).await.expect("a record");
    }
    let later_version = AttributeValue::B(Blob::new([9, 9]));
    let client = aws_sdk_dynamodb::Client::new(&cloud::config().await);
    let damage = client.update_item().table_name(table.name());
    let damage = damage
        .key("pk", AttributeValue::S("JOB#1".to_owned()))
        .key("sk", AttributeValue::S("META".to_owned()))
        .update_expression("SET small = :small")
        .expression_attribute_values(":small", later_version);
    damage.send().await.expect("an item");
    let rows = table.due(begin(), 10).await.expect("what is due");
    let keys: Vec<Key> = rows.into_iter().map(|row| row.key).collect();
    assert_eq!(keys.len(), 2, "{keys:?}");
    assert!(table.get(&key(("JOB#1", "META"))).await.is_err());
    assert!(table.get(&key(("JOB#2", "META"))).await.is_ok());
}

/// Another process's cache of an item is never trusted.
#[tokio::test]
async fn two_processes_write_small_records_of_one_aggregate_beside_each_other() {
    let one = cloud::new_table().await;
    let other = cloud::again(&one).await;
    for round in 0..20_u64 {
        for (store, sk) in [(&one, "FX#a"), (&other, "FX#b")] {
            let record = Record {
                key: key(("JOB#1", sk)),
                version: 0,
                body: format!("{{\"it\":{round}}}"),
                due: None,
                list: None,
                forget: None,
            };
            let expect = match round {
                0 => Expect::Absent,
                version => Expect::Version(version),
            };
            let put = Write::Put { record, expect };
            store
                .commit(vec![put])
                .await
                .expect("nobody else writes it");
        }
    }
    let found = one
        .query("JOB#1", "", None, 10)
        .await
        .expect("a page")
        .records;
    let versions: Vec<u64> = found.iter().map(|record| record.version).collect();
    assert_eq!(versions, [20, 20]);
}
