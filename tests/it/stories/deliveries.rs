//! Deliveries to agents: each arrives once, and an address that hangs delays its own wakes and nothing else.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use domain::failure::Failure;
use domain::ids::JobId;
use engine::dispatcher::{AT_ONCE_PER_AGENT, Deliveries, Dispatcher};
use engine::jobs::Order;
use engine::ports::{AgentsWrite, Delivered, Envelope};
use tests::world::{AGENT, MINUTE, REPO, SECOND, World, asking, hour, on_green, scenario};
use tokio::sync::Semaphore;
use tokio::sync::oneshot;

/// More wakes than are delivered at once, so that they would fill every worker.
const ASKING: usize = 12;

/// In real time; the whole story takes a second or two.
const AT_MOST: Duration = Duration::from_secs(60);

/// A receiver that takes requests and does not answer before the test lets it.
struct Hanging {
    asked: AtomicUsize,
    answers: Semaphore,
}

#[async_trait]
impl AgentsWrite for Hanging {
    async fn notify(
        &self,
        _: &domain::ids::AgentName,
        _: domain::wake::Notify,
        _: &domain::wake::Notice,
        _: jiff::Timestamp,
    ) -> Result<Delivered, domain::failure::Failure> {
        Ok(Delivered::Acknowledged)
    }

    async fn deliver(&self, _: &Envelope) -> Result<Delivered, Failure> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.answers
            .acquire()
            .await
            .expect("it stays open")
            .forget();
        Ok(Delivered::Acknowledged)
    }
}

async fn submit_for_agent(world: &World, prompt: String) -> JobId {
    let order = Order {
        repo: REPO.parse().expect("a repository"),
        branch: None,
        prompt,
        title: None,
        agent: Some(AGENT.parse().expect("a name")),
        resume: None,
        terms: domain::policy::Terms::default(),
        priority: None,
    };
    world.backend.create_job(order).await.expect("a job").id
}

/// Ticks and works like the loops of one process, until a condition holds; virtual time passes meanwhile.
async fn until(
    world: &World,
    (dispatcher, deliveries): (&Dispatcher, &Deliveries),
    mut holds: impl AsyncFnMut() -> bool,
) {
    let end = world.clock.now() + MINUTE * 10;
    while !holds().await {
        assert!(world.clock.now() < end, "{}", world.story().await);
        world.clock.advance(SECOND);
        world.sandbox.advance();
        world.poller.tick().await.expect("a tick");
        while dispatcher.drain_beside(deliveries).await.expect("a batch") > 0 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn an_agent_that_never_answers_delays_nobody_else() {
    let source = domain::policy::Source {
        agent: None,
        ..on_green()
    };
    let world = World::of(scenario(vec![asking("ASK", "Which one?")]), source).await;
    let agent = Arc::new(Hanging {
        asked: AtomicUsize::new(0),
        answers: Semaphore::new(0),
    });
    let dispatcher = world.dispatcher_waking(agent.clone());
    let deliveries = Deliveries::default();
    let (stop, stopped) = oneshot::channel::<()>();
    let asked = || agent.asked.load(Ordering::Relaxed);
    let story = async {
        let both = (&dispatcher, &deliveries);
        for number in 0..ASKING {
            submit_for_agent(&world, format!("ASK {number}")).await;
        }
        until(&world, both, async || asked() == AT_ONCE_PER_AGENT).await;
        let neighbour = world.submit("Add a test").await;
        until(&world, both, async || {
            world.state(&neighbour).await == "merged"
        })
        .await;
        assert_eq!(asked(), AT_ONCE_PER_AGENT, "each agent has so many at once");
        agent.answers.add_permits(ASKING * 2);
        until(&world, both, async || asked() == ASKING).await;
        drop(stop);
    };
    let delivering = deliveries.run(&dispatcher, async {
        let _ = stopped.await;
    });
    let both = async { tokio::join!(story, delivering) };
    let ended = tokio::time::timeout(AT_MOST, Box::pin(both)).await;
    assert!(ended.is_ok(), "the hanging agent holds up others");
}

/// As many events as a busy month has.
const WAKES: usize = 1_000;

#[tokio::test]
async fn a_thousand_wakes_arrive_once_each() {
    let world = World::new().await;
    let found = world.backend.store.agent(&world.agent()).await;
    let agent = found.expect("a store").expect("an agent").value;
    for _ in 0..WAKES {
        world.backend.test_wake(&agent).await.expect("a wake");
    }
    let received = || world.sandbox.agents().received(AGENT);
    let all = async |_: &World| received().len() >= WAKES;
    world.until(MINUTE * 10, "all wakes", all).await;
    world.pass(hour(1)).await;
    let ids: BTreeSet<_> = received().into_iter().map(|it| it.webhook_id).collect();
    assert_eq!((received().len(), ids.len()), (WAKES, WAKES));
    world.finish().await;
}
