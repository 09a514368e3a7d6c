//! What a poller that ticks alone reads anew in each poll, and how it saves an account that another process writes meanwhile.

use domain::policy::Source;
use engine::backend::UnitOfWork;
use serde_json::Value;

use super::rows::Rows;
use super::*;

/// A poller that ticks alone, six times a minute, over a store that counts.
struct Counted {
    clock: Arc<FakeClock>,
    rows: Arc<Rows>,
    backend: Backend,
    reader: Arc<Reader>,
    poller: Poller,
}

impl Counted {
    async fn begin() -> Self {
        let clock = Arc::new(FakeClock::at(BEGIN));
        let rows = Arc::new(Rows::default());
        let backend = watching_in(rows.clone(), &clock, (0, 1)).await;
        let reader = Arc::new(Reader::default());
        let poller = Poller::new(backend.clone(), reader.clone());
        Self {
            clock,
            rows,
            backend,
            reader,
            poller,
        }
    }

    async fn tick(&self) {
        let tick = self
            .poller
            .tick_until(Timestamp::MAX, OtherPollers::Excluded)
            .await;
        assert_eq!(tick.expect("a tick").polled, 1);
        self.clock.advance(SignedDuration::from_secs(10));
    }

    /// How often a record is read individually in each of some ticks.
    async fn reads(&self, of: &Key, ticks: usize) -> Vec<usize> {
        let mut reads = Vec::new();
        self.rows.take_gets(of);
        for _ in 0..ticks {
            self.tick().await;
            reads.push(self.rows.take_gets(of));
        }
        reads
    }

    async fn commit(&self, unit: UnitOfWork) {
        self.backend.commit(unit).await.expect("nobody else writes");
    }

    async fn account(&self) -> Versioned<Account> {
        let name = "default".parse().expect("a name");
        let found = self.backend.store.account(&name).await.expect("a store");
        found.expect("an account")
    }

    async fn events(&self) -> usize {
        let job = JobId::from_ulid(ulid::Ulid(0));
        self.backend.store.events(&job).await.expect("events").len()
    }
}

/// Rules by which the only session is silent after this time.
fn rules(stuck_after: SignedDuration) -> Source {
    Source {
        timing: Timing {
            stuck_after,
            ..Timing::default()
        },
        ..Source::new(
            "acme/shop".parse().expect("a repository"),
            "default".parse().expect("a name"),
        )
    }
}

#[tokio::test]
async fn a_poll_reads_rules_once_and_new_ones_count_from_the_next_poll() {
    let counted = Counted::begin().await;
    let key = keys::source(&"acme/shop".parse().expect("a repository"));
    assert_eq!(counted.reads(&key, 8).await, [1; 8]);
    assert_eq!(counted.events().await, 0);
    let mut unit = counted.backend.unit();
    let sooner = rules(SignedDuration::from_mins(1));
    unit.put(key.clone(), &sooner, None, IndexEntry::default());
    counted.commit(unit).await;
    // The first poll finds the silence, and reads the session's log before it says so.
    counted.tick().await;
    counted.tick().await;
    assert_eq!(counted.events().await, 1);
}

#[tokio::test]
async fn what_is_decided_is_decided_by_the_rules_as_they_are() {
    let counted = Counted::begin().await;
    let key = keys::source(&"acme/shop".parse().expect("a repository"));
    let mut unit = counted.backend.unit();
    let short = rules(SignedDuration::from_secs(75));
    unit.put(key.clone(), &short, None, IndexEntry::default());
    counted.commit(unit).await;
    for _ in 0..7 {
        counted.tick().await;
    }
    // By the rules before it is silent with the next tick; now the rules allow longer silence.
    let found = counted.backend.store.source(&short.repo).await;
    let found = found.expect("a store").expect("rules");
    let mut unit = counted.backend.unit();
    let longer = rules(SignedDuration::from_mins(30));
    unit.put(key, &longer, Some(found.version), IndexEntry::default());
    counted.commit(unit).await;
    for _ in 0..6 {
        counted.tick().await;
    }
    assert_eq!(counted.events().await, 0);
}

#[tokio::test]
async fn a_poll_is_decided_again_on_what_another_process_wrote_meanwhile() {
    let counted = Counted::begin().await;
    let mut found = counted.account().await;
    found.value.budget.requests_a_day = Some(100_000);
    let mut unit = counted.backend.unit();
    unit.save(&found.value.name, &found.value, Some(found.version));
    counted.commit(unit).await;
    let before = counted.account().await;
    let slower = Pace {
        tick: SignedDuration::from_mins(1),
        ..before.value.pace.clone()
    };
    let row = counted.rows.get(&keys::account(&before.value.name)).await;
    let row = row.expect("a store").expect("a row");
    let mut body: Value = serde_json::from_str(&row.body).expect("JSON");
    body["it"]["pace"] = serde_json::to_value(&slower).expect("JSON");
    counted.rows.first(Record {
        body: body.to_string(),
        ..row
    });
    counted.tick().await;
    let saved = counted.account().await;
    assert_eq!(saved.version, before.version + 2);
    assert_eq!(saved.value.pace, slower);
    assert_eq!(saved.value.counters.polls, 1);
    let asked = counted.reader.take_reads().len() + counted.reader.logs();
    let counted_requests = saved.value.budget.requests(counted.clock.now());
    assert_eq!(counted_requests, asked as u64);
    let next = saved.value.next_poll;
    assert!(next > BEGIN + SignedDuration::from_secs(30), "{next}");
    assert_eq!(saved.due, Some(next));
}
