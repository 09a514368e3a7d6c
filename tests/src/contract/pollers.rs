//! Several pollers over one store: on every store no account is polled twice in an interval.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use domain::account::{Account, NOTHING_GAP};
use engine::backend::Backend;
use engine::machine::RandomIds;
use engine::poller::Poller;
use engine::ports::{
    CommitError, DueRow, Key, Page, PageToken, Record, Records, RecordsError, Write,
};
use jiff::Timestamp;
use tokio::sync::Barrier;

use crate::clock::FakeClock;
use crate::memory::MemoryQueue;
use crate::reader::Reader;

/// Accounts in the story.
const ACCOUNTS: [&str; 3] = ["one", "two", "three"];

/// Polls in the story, and how many pollers race for each.
const INTERVALS: usize = 4;
const POLLERS: usize = 2;

/// `one` and `other` are two handles on one store. Both pollers see every due row, and read it, before either claims it.
pub async fn no_account_is_polled_twice_in_an_interval(
    one: Arc<dyn Records>,
    other: Arc<dyn Records>,
) {
    let clock = Arc::new(FakeClock::default());
    let reader = Arc::new(Reader::default());
    let meeting = Arc::new(Meeting::default());
    let poller = |records: Arc<dyn Records>| {
        let records = Arc::new(Raced {
            records,
            meeting: meeting.clone(),
            meets: Mutex::default(),
        });
        Poller::new(backend(records, &clock), reader.clone())
    };
    let (first, second) = (poller(one.clone()), poller(other));
    add_accounts(&backend(one, &clock)).await;
    for interval in 0..INTERVALS {
        let (one, other) = tokio::join!(first.tick(), second.tick());
        let (one, other) = (one.unwrap(), other.unwrap());
        assert_eq!((one.failed, other.failed), (0, 0));
        let mut polled: Vec<String> = reader
            .take_lists()
            .iter()
            .map(ToString::to_string)
            .collect();
        polled.sort();
        let mut all = ACCOUNTS.map(str::to_owned);
        all.sort();
        assert_eq!(polled, all, "in interval {interval}");
        assert_eq!(one.polled + other.polled, 3, "in interval {interval}");
        meeting.again();
        clock.advance(NOTHING_GAP);
    }
}

fn backend(records: Arc<dyn Records>, clock: &Arc<FakeClock>) -> Backend {
    let queue = Arc::new(MemoryQueue::new(clock.clone()));
    let installation = "tests".parse().unwrap();
    Backend::new(
        records,
        queue,
        clock.clone(),
        Arc::new(RandomIds),
        installation,
    )
}

async fn add_accounts(backend: &Backend) {
    let now = backend.now();
    for name in ACCOUNTS {
        let account = Account::new(name.parse().unwrap(), now);
        let mut unit = backend.unit();
        unit.save(&account.name, &account, None);
        backend.commit(unit).await.unwrap();
    }
}

/// Where the pollers wait for each other: one place for what is due, and one for each row.
#[derive(Default)]
struct Meeting(Mutex<BTreeMap<Option<Key>, Arc<Barrier>>>);

impl Meeting {
    async fn at(&self, key: Option<Key>) {
        let place = self
            .0
            .lock()
            .unwrap()
            .entry(key)
            .or_insert_with(barrier)
            .clone();
        place.wait().await;
    }

    fn again(&self) {
        self.0.lock().unwrap().clear();
    }
}

fn barrier() -> Arc<Barrier> {
    Arc::new(Barrier::new(POLLERS))
}

/// A store whose reader waits for the other one after it has seen what is due, and after it has read each due row for the first time.
struct Raced {
    records: Arc<dyn Records>,
    meeting: Arc<Meeting>,
    meets: Mutex<Vec<Key>>,
}

impl Raced {
    fn meets(&self, key: &Key) -> bool {
        let mut meets = self.meets.lock().unwrap();
        let found = meets.iter().position(|one| one == key);
        found.map(|at| meets.swap_remove(at)).is_some()
    }
}

#[async_trait]
impl Records for Raced {
    async fn get(&self, key: &Key) -> Result<Option<Record>, RecordsError> {
        let found = self.records.get(key).await;
        if self.meets(key) {
            self.meeting.at(Some(key.clone())).await;
        }
        found
    }

    async fn query(
        &self,
        pk: &str,
        prefix: &str,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        self.records.query(pk, prefix, after, limit).await
    }

    async fn list(
        &self,
        name: &str,
        newest: bool,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        self.records.list(name, newest, after, limit).await
    }

    async fn due(&self, at: Timestamp, limit: usize) -> Result<Vec<DueRow>, RecordsError> {
        let rows = self.records.due(at, limit).await?;
        let keys = rows.iter().map(|row| row.key.clone());
        *self.meets.lock().unwrap() = keys.collect();
        self.meeting.at(None).await;
        Ok(rows)
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, RecordsError> {
        self.records.next_due().await
    }

    async fn commit(&self, items: Vec<Write>) -> Result<(), CommitError> {
        self.records.commit(items).await
    }
}
