//! Output for operators: the journal of a job, how news arrives, and dead letters.

use std::sync::Arc;

use domain::account::NOTHING_GAP;
use domain::webhook_activity::{SILENT_AFTER, WebhookHealth};
use engine::backend::Backend;
use engine::journal::{Entry, EntryKind};
use engine::machine::RandomIds;
use engine::ports::{Clock, DeadLetters, Queue};
use engine::usage::{Meter, Recorder, Used};
use local::{Database, LocalQueue};
use tests::clock::FakeClock;
use tests::contract::dead;
use tests::memory::{MemoryQueue, MemoryRecords};
use tests::world::{MINUTE, World, asking, on_green, scenario};

#[tokio::test]
async fn dead_letters_are_put_back_to_work_once() {
    let folder = tempfile::tempdir().expect("a folder");
    for database in [
        Database::in_memory().expect("a database"),
        Database::open(&folder.path().join("gaffer.db")).expect("a database"),
    ] {
        let clock: Arc<dyn Clock> = Arc::new(FakeClock::default());
        let queue = Arc::new(LocalQueue::new(&database, "work", clock));
        let letters: Arc<dyn DeadLetters> = queue.clone();
        let queue: Arc<dyn Queue> = queue;
        dead::dead_letters_are_put_back_to_work_once(queue, letters).await;
    }
}

async fn merged(webhooks: bool) -> (World, domain::ids::JobId) {
    let world = World::hearing(
        scenario(vec![asking("ask me", "Which database?")]),
        on_green(),
        webhooks,
    )
    .await;
    let job = world.submit("ask me").await;
    world.until_is(MINUTE * 30, &job, "asking").await;
    world.answer(&job, "PostgreSQL", "answer").await;
    world.until_is(MINUTE * 60, &job, "merged").await;
    (world, job)
}

#[tokio::test]
async fn the_journal_of_a_job_tells_everything_in_order() {
    let (world, job) = merged(true).await;
    world.pass(MINUTE * 10).await;
    let journal = world.backend.journal(&job).await.expect("a journal");
    let times: Vec<_> = journal.iter().map(|entry| entry.at).collect();
    assert!(times.is_sorted(), "{journal:?}");
    let place = |about: EntryKind, begins: &str| {
        let it = |entry: &Entry| entry.about == about && entry.what.starts_with(begins);
        let found = journal.iter().position(it);
        found.unwrap_or_else(|| panic!("no {begins}: {journal:#?}"))
    };
    let order = [
        place(EntryKind::Job, "handed over"),
        place(EntryKind::Effect, "create:"),
        place(EntryKind::Event, "question"),
        place(EntryKind::Effect, "say:"),
        place(EntryKind::Event, "completed"),
        place(EntryKind::Effect, "merge:"),
    ];
    assert!(order.is_sorted(), "{journal:#?}");
    let question = &journal[place(EntryKind::Event, "question")];
    assert!(question.outcome.contains("Which database?"), "{question:?}");
    let wakes = journal
        .iter()
        .filter(|entry| entry.about == EntryKind::Wake);
    assert_eq!(wakes.clone().count(), 2);
    assert!(wakes.clone().all(|wake| wake.outcome == "acknowledged"));
    let effects = journal
        .iter()
        .filter(|entry| entry.about == EntryKind::Effect);
    assert!(
        effects
            .clone()
            .all(|effect| effect.outcome == "done" && effect.over_at.is_some())
    );
    assert_eq!(journal[0].outcome, "merged");
}

#[tokio::test]
async fn how_news_of_a_repository_arrives_is_told() {
    let (world, _) = merged(false).await;
    let status = world.backend.status().await.expect("a status");
    assert_eq!(status.feeds[0].health, WebhookHealth::Polled);
    let polls = world.backend.poll_counters().await.expect("a store");
    let counters = polls.values().next().expect("an account");
    assert!(
        counters.polls > 3 && counters.failed.is_empty(),
        "{counters:?}"
    );
    assert_eq!(status.last_tick, counters.last);

    assert_eq!(status.overdue_since, None);
    // Nothing is left to do, but a poll is overdue.
    world.clock.advance(NOTHING_GAP + MINUTE);
    let late = world
        .backend
        .status()
        .await
        .expect("a status")
        .overdue_since;
    assert!(
        late.is_some_and(|since| since <= world.clock.now()),
        "{late:?}"
    );

    let (world, _) = merged(true).await;
    let status = world.backend.status().await.expect("a status");
    let WebhookHealth::Webhooks { last } = status.feeds[0].health else {
        panic!("{:?}", status.feeds);
    };
    assert!(world.clock.now().duration_since(last) < MINUTE * 30);
    world.clock.advance(SILENT_AFTER);
    let status = world.backend.status().await.expect("a status");
    assert_eq!(status.feeds[0].health, WebhookHealth::Silent { last });
}

/// A meter that returns a fixed usage each time.
struct Fixed(Used);

impl Meter for Fixed {
    fn take(&self) -> Used {
        self.0
    }
}

#[tokio::test]
async fn what_is_used_is_stored_now_and_then_and_nothing_is_lost() {
    let clock = Arc::new(FakeClock::default());
    let queue = Arc::new(MemoryQueue::new(clock.clone()));
    let installation = "tests".parse().expect("an id");
    let records = Arc::new(MemoryRecords::default());
    let ids = Arc::new(RandomIds);
    let backend = Backend::new(records, queue, clock.clone(), ids, installation);
    let each = Used {
        read_halves: 3,
        write_halves: 2,
        queue_requests: 1,
        ..Used::default()
    };
    // Two processes of one role, each a minute later than the other.
    let one = Recorder::new("poller", Arc::new(Fixed(each)));
    let other = Recorder::new("poller", Arc::new(Fixed(each)));
    // A process that is called once and no more is counted too.
    Recorder::new("dispatcher", Arc::new(Fixed(each)))
        .invoked(&backend, 20, 128)
        .await;
    let once = backend.store.usage("dispatcher").await.expect("a store");
    assert_eq!(once.value.total().invocations, 1);
    let minutes = 61;
    for _ in 0..minutes {
        one.invoked(&backend, 20, 128).await;
        clock.advance(MINUTE);
        other.invoked(&backend, 20, 128).await;
    }
    let stored = backend.store.usage("poller").await.expect("a store");
    assert!(
        stored.version <= 14,
        "at first, and then once in ten minutes: {}",
        stored.version
    );
    let total = stored.value.total();
    // Each stored its counters up to its last tenth minute, that one included.
    let invocations = total.invocations;
    assert_eq!(invocations, 2 * minutes);
    assert_eq!(total.read_halves, 3 * invocations);
    assert_eq!(total.mb_ms, 20 * 128 * invocations);
}
