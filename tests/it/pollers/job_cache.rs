//! The caches of a poller that ticks alone, and their lifetimes.

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
        repo: "acme/shop".parse().expect("a repository"),
        account: "default".parse().expect("a name"),
        agent: None,
        paused: false,
        branch: None,
        policy: domain::policy::Policy::default(),
        timing: Timing {
            stuck_after,
            ..Timing::default()
        },
        pipeline: None,
        sprints: domain::sprint::SprintRules::default(),
        deliveries: domain::delivery::Rules::default(),
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
    // By the cached rules it is silent with the next tick; now the rules allow longer silence.
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
async fn what_is_new_in_an_account_counts_from_the_next_tick() {
    let counted = Counted::begin().await;
    counted.tick().await;
    counted.tick().await;
    change(&counted, |account| {
        account.next_poll = BEGIN + SignedDuration::from_hours(1);
    })
    .await;
    for _ in 0..3 {
        let ticks = counted
            .poller
            .tick_until(Timestamp::MAX, OtherPollers::Excluded);
        assert_eq!(ticks.await.expect("a tick").polled, 0);
        counted.clock.advance(SignedDuration::from_secs(10));
    }
}

/// An account with counted requests, saved as an operator changes it.
async fn change(counted: &Counted, change: impl FnOnce(&mut Account)) {
    let mut found = counted.account().await;
    change(&mut found.value);
    let mut unit = counted.backend.unit();
    let place = IndexEntry {
        due: found.due,
        list: keys::listed(keys::ACCOUNTS, found.value.name.as_str()),
        forget: None,
    };
    let key = keys::account(&found.value.name);
    unit.put(key, &found.value, Some(found.version), place);
    counted.commit(unit).await;
}

#[tokio::test]
async fn what_was_asked_counts_also_when_somebody_else_writes_the_account() {
    let counted = Counted::begin().await;
    change(&counted, |account| {
        account.budget.requests_a_day = Some(100_000);
    })
    .await;
    for _ in 0..30 {
        counted.tick().await;
    }
    change(&counted, |account| account.limits.concurrent = 3).await;
    let changed = counted.account().await.version;
    // It is written after a while, with all that was asked since the beginning.
    while counted.account().await.version == changed {
        counted.tick().await;
    }
    let asked = counted.reader.take_reads().len() + counted.reader.logs();
    let asked = asked + counted.reader.take_lists().len();
    let budget = counted.account().await.value.budget;
    assert_eq!(budget.requests(counted.clock.now()), asked as u64);
}

#[tokio::test]
async fn a_poll_is_decided_again_on_what_another_process_wrote_meanwhile() {
    let counted = Counted::begin().await;
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
    let next = saved.value.next_poll;
    assert!(next > BEGIN + SignedDuration::from_secs(30), "{next}");
    assert_eq!(saved.due, Some(next));
}

#[tokio::test]
async fn an_account_that_comes_to_rest_is_written_at_once() {
    let counted = Counted::begin().await;
    // It rests for less than a minute, so that the next poll still comes soon.
    change(&counted, |account| {
        account.pace.idle = SignedDuration::from_secs(30);
    })
    .await;
    counted.tick().await;
    counted.tick().await;
    let (busy, now) = (counted.account().await, counted.clock.now());
    assert!(busy.value.is_busy(now));
    let key = keys::job(&JobId::from_ulid(ulid::Ulid(0)));
    let found: Option<Versioned<Job>> = counted
        .backend
        .store
        .job(&JobId::from_ulid(ulid::Ulid(0)))
        .await
        .expect("a store");
    let mut unit = counted.backend.unit();
    unit.delete(key, &found.expect("a job"));
    counted.commit(unit).await;
    counted.tick().await;
    let rests = counted.account().await;
    assert_eq!(rests.version, busy.version + 1);
    assert!(!rests.value.is_busy(counted.clock.now()));
}
