//! The chain of ticks over a store: of messages that come twice, late, never or again, exactly one chain is left at
//! any time, and it never stays broken.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::tick::{LATE, Lease, SCHEDULE_EVERY, TICK_EVERY, TickTrigger};
use engine::keys;
use engine::ports::Queue;
use engine::ticks::{Holder, TickTurn, Ticks};
use jiff::{SignedDuration, Timestamp};
use local::{Database, LocalQueue};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tests::world::{MINUTE, SECOND, World, scenario, stalling};

/// For how long each run plays, in virtual seconds.
const PLAYED: usize = 900;

/// How long a message that was received stays hidden: it is always acknowledged before.
const HIDDEN: SignedDuration = SignedDuration::from_secs(360);

/// The fate of one message.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Once,
    /// Both pollers get it at the same time.
    Twice,
    Never,
    /// It comes only after so many seconds.
    Late(u8),
    /// It comes, and comes again after so many seconds.
    Again(u8),
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        4 => Just(Fate::Once),
        2 => Just(Fate::Twice),
        1 => Just(Fate::Never),
        1 => (1_u8..60).prop_map(Fate::Late),
        1 => (1_u8..200).prop_map(Fate::Again),
    ]
}

struct Stage {
    world: World,
    queue: Arc<LocalQueue>,
    pollers: [Ticks; 2],
    /// When there was a tick, and whether a message called for it.
    ticked: Vec<(Timestamp, bool)>,
    /// How often the schedule ticked although a chain lived.
    meddled: usize,
    /// How many messages there were that continue each tick.
    left: BTreeMap<u64, u32>,
    /// Messages that are still to come, and when.
    held: Vec<(Timestamp, TickTrigger)>,
}

impl Stage {
    async fn new() -> Self {
        let world = World::new().await;
        // There is something to do, and no process handles what is passed on.
        world.submit("Add a test").await;
        Self::over(world)
    }

    fn over(world: World) -> Self {
        let database = Database::in_memory().expect("a database");
        let queue = LocalQueue::new(&database, "ticks", world.backend.clock.clone());
        let queue = Arc::new(queue);
        let poller = || {
            let poller = world.another_poller();
            Ticks::new(world.backend.clone(), poller, queue.clone())
        };
        Self {
            pollers: [poller(), poller()],
            queue,
            ticked: Vec::new(),
            meddled: 0,
            left: BTreeMap::new(),
            held: Vec::new(),
            world,
        }
    }

    /// Plays; `fates` are those of the messages, over and over.
    async fn play(&mut self, fates: &[Fate]) {
        let mut fates = fates.iter().copied().cycle();
        let begin = self.world.backend.now();
        for _ in 0..PLAYED {
            let now = self.world.backend.now();
            if (now - begin).total(jiff::Unit::Second).unwrap_or_default() % 60.0 == 0.0 {
                let lives = self.lives().await;
                let before = self.ticked.len();
                self.both(TickTrigger::Schedule).await;
                self.meddled += (self.ticked.len() - before) * usize::from(lives);
            }
            for call in self.received().await {
                match fates.next().expect("a fate") {
                    Fate::Once => self.one(call).await,
                    Fate::Twice => self.both(call).await,
                    Fate::Never => {}
                    Fate::Late(seconds) => self.held.push((now + SECOND * seconds.into(), call)),
                    Fate::Again(seconds) => {
                        self.one(call).await;
                        self.held.push((now + SECOND * seconds.into(), call));
                    }
                }
            }
            let held = std::mem::take(&mut self.held);
            let (due, held): (Vec<_>, Vec<_>) = held.into_iter().partition(|(at, _)| *at <= now);
            self.held = held;
            for (_, call) in due {
                self.one(call).await;
            }
            self.world.clock.advance(SECOND);
        }
    }

    async fn received(&mut self) -> Vec<TickTrigger> {
        let batch = self.queue.receive(10, HIDDEN).await.expect("a queue");
        let mut calls = Vec::new();
        for delivery in batch {
            let acknowledged = self.queue.acknowledge(&delivery.receipt).await;
            acknowledged.expect("an acknowledgement");
            let call: TickTrigger = serde_json::from_str(&delivery.body).expect("a tick");
            if let TickTrigger::Next { generation, .. } = call {
                *self.left.entry(generation).or_default() += 1;
            }
            calls.push(call);
        }
        calls
    }

    async fn one(&mut self, call: TickTrigger) {
        let until = self.world.backend.now() + MINUTE;
        let tick = self.pollers[0].called(call, until).await.expect("a tick");
        self.note(tick.is_some().into(), call);
    }

    async fn both(&mut self, call: TickTrigger) {
        let until = self.world.backend.now() + MINUTE;
        let [one, other] = &self.pollers;
        let (one, other) = tokio::join!(one.called(call, until), other.called(call, until));
        let ticks = [one, other].map(|tick| u32::from(tick.expect("a tick").is_some()));
        self.note(ticks.iter().sum(), call);
    }

    fn note(&mut self, ticks: u32, call: TickTrigger) {
        let tick = (self.world.backend.now(), call != TickTrigger::Schedule);
        self.ticked.extend((0..ticks).map(|_| tick));
    }

    async fn lease(&self) -> Lease {
        let lease = self.world.backend.store.records().get(&keys::tick()).await;
        let Some(lease) = lease.expect("a readable store") else {
            return Lease::default();
        };
        let mut stored: serde_json::Value = serde_json::from_str(&lease.body).expect("JSON");
        serde_json::from_value(stored["it"].take()).expect("a lease")
    }

    async fn lives(&self) -> bool {
        let now = self.world.backend.now();
        let lease = self.lease().await;
        lease.next_at.is_some_and(|at| now <= at + LATE)
    }
}

fn check(stage: &Stage, generation: u64) -> Result<(), TestCaseError> {
    prop_assert_eq!(
        stage.ticked.len() as u64,
        generation,
        "each tick is one generation"
    );
    for (generation, messages) in &stage.left {
        prop_assert_eq!(*messages, 1, "messages that continue tick {}", generation);
    }
    // The message may wait for nearly as long as the schedule; it is late for a while before it counts as lost; and the schedule comes by.
    let longest = SCHEDULE_EVERY + LATE + SCHEDULE_EVERY;
    prop_assert_eq!(
        stage.meddled,
        0,
        "the schedule ticked beside a living chain"
    );
    for pair in stage.ticked.windows(2) {
        let gap = pair[1].0.duration_since(pair[0].0);
        let by_message = pair[1].1;
        prop_assert!(
            gap >= TICK_EVERY || !by_message,
            "two chains live: {:?}",
            pair
        );
        prop_assert!(gap <= longest, "the chain stayed broken: {:?}", pair);
    }
    Ok(())
}

#[test]
fn exactly_one_chain_lives_whatever_becomes_of_its_messages() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let fates = prop::collection::vec(fate(), 1..40);
    let outcome = runner.run(&fates, |fates| {
        runtime.block_on(async {
            let mut stage = Stage::new().await;
            stage.play(&fates).await;
            let lease = stage.lease().await;
            check(&stage, lease.generation)
        })
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[tokio::test]
async fn a_process_beside_the_functions_ticks_only_when_they_do_not() {
    let mut stage = Stage::new().await;
    let holder = Holder::new(stage.world.backend.clone(), stage.world.another_poller());
    let ticks = async |stage: &Stage, seconds: u32| {
        let mut times = 0;
        for _ in 0..seconds {
            stage.world.clock.advance(SECOND);
            let turn = holder.tick().await.expect("a tick");
            times += u32::from(matches!(turn, TickTurn::Mine(_)));
        }
        times
    };
    stage.one(TickTrigger::Schedule).await;
    assert_eq!(stage.ticked.len(), 1);
    assert_eq!(ticks(&stage, 65).await, 0);
    // The chain broke, and the process continues in its place.
    assert!(ticks(&stage, 60).await > 0);
    stage.one(TickTrigger::Schedule).await;
    for call in stage.received().await {
        stage.one(call).await;
    }
    assert_eq!(stage.ticked.len(), 1);
    // It died, and its lease lapses.
    stage.world.clock.advance(SECOND * 66);
    stage.one(TickTrigger::Schedule).await;
    assert_eq!(stage.ticked.len(), 2);
    assert_eq!(ticks(&stage, 60).await, 0);
}

#[tokio::test]
async fn a_message_ticks_only_for_the_lease_that_it_names() {
    let mut stage = Stage::new().await;
    stage.one(TickTrigger::Schedule).await;
    stage.world.clock.advance(TICK_EVERY);
    let [left] = stage.received().await[..] else {
        panic!("one message goes on");
    };
    let TickTrigger::Next {
        generation,
        version,
    } = left
    else {
        panic!("it names the version that it continues: {left:?}");
    };
    for version in [0, version - 1, version + 1, u64::MAX] {
        stage
            .one(TickTrigger::Next {
                generation,
                version,
            })
            .await;
        assert_eq!(stage.ticked.len(), 1, "{version:?}");
    }
    stage.one(left).await;
    assert_eq!(stage.ticked.len(), 2);
    // It comes a second time.
    stage.one(left).await;
    assert_eq!(stage.ticked.len(), 2);
}

/// A world whose one session works on and says nothing.
async fn quiet() -> World {
    let world = World::of(scenario(vec![stalling("stall")]), tests::world::source()).await;
    let job = world.submit("stall").await;
    world.until_is(MINUTE * 5, &job, "working").await;
    world.pass(MINUTE).await;
    world
}

#[tokio::test]
async fn a_quiet_account_is_polled_and_written_with_every_tick() {
    let mut stage = Stage::over(quiet().await);
    let account = keys::account(&"default".parse().expect("a name"));
    let (calls, book) = (
        stage.world.sandbox.counters().jules_calls,
        stage.world.ledger.written().len(),
    );
    stage.play(&[Fate::Once]).await;
    let ticks = stage.ticked.len() as u64;
    let calls = stage.world.sandbox.counters().jules_calls - calls;
    assert!(
        (ticks..=ticks + ticks / 4).contains(&calls),
        "{calls} calls in {ticks} ticks"
    );
    let gaps = stage.ticked.windows(2);
    let gaps = gaps.map(|pair| pair[1].0.duration_since(pair[0].0));
    assert!(gaps.max() <= Some(SECOND * 11));
    let written = stage.world.ledger.written();
    let written = written[book..]
        .iter()
        .filter(|key| **key == account)
        .count();
    // The first tick may come before the next poll.
    assert!(
        (ticks - 1..=ticks).contains(&(written as u64)),
        "written {written} times in {ticks} ticks"
    );

    // Another instance begins with the row, and polls as soon.
    let poller = stage.world.another_poller();
    let other = Ticks::new(stage.world.backend.clone(), poller, stage.queue.clone());
    stage.pollers[0] = other;
    let before = stage.world.sandbox.counters().jules_calls;
    stage.play(&[Fate::Once]).await;
    assert!(stage.world.sandbox.counters().jules_calls - before >= ticks - 1);
}
