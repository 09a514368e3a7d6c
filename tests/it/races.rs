//! Deaths at every point, two processes at once, and webhooks doubled, reordered, repeated and lost: one effect outside each time.

use domain::ids::JobId;
use domain::job;
use domain::policy::Timing;
use engine::backend::IndexEntry;
use engine::dispatcher::Dispatcher;
use engine::keys;
use engine::work::Work;
use jiff::SignedDuration;
use sandbox::{Fault, FaultKind, Scenario, Service, WebhookFaults};
use tests::reader::working;
use tests::world::{MINUTE, Moment, SECOND, WEBHOOK_SECRET, World, asking, on_green, scenario};

async fn begin(webhooks: bool) -> World {
    let scenario = scenario(vec![asking("ask me", "Which database?")]);
    World::hearing(scenario, on_green(), webhooks).await
}

/// Submits and answers like a client that retries after an error, until the job is merged.
async fn play(world: &World, job: &JobId) {
    world
        .until(MINUTE * 90, "merged", async |world| {
            // What is answered before its agent was woken wakes no one.
            if world.state(job).await == "asking" && !world.wakes().is_empty() {
                // The process may die under it; the client comes again.
                drop(world.say(job, "PostgreSQL", "answer").await);
                world.fate.revive();
            }
            world.state(job).await == "merged"
        })
        .await;
    // Messages that a death has hidden come back within the queue's visibility timeout.
    world.pass(MINUTE * 25).await;
}

/// Everything happened exactly once.
async fn once(world: &World, job: &JobId, when: &str) {
    let it = world.sandbox.counters();
    assert_eq!(it.creates, 1, "{when}");
    assert_eq!(it.messages, 1, "{when}");
    assert_eq!(it.merges, 1, "{when}");
    assert_eq!(it.merge_calls, 1, "{when}");
    assert_eq!(it.archives, 1, "{when}");
    assert_eq!(it.branch_deletes, 1, "{when}");
    assert_eq!(
        world.events(job).await,
        ["question/question", "completed/completed"],
        "{when}"
    );
    let mut ids: Vec<_> = world
        .sandbox
        .agents()
        .received(tests::world::AGENT)
        .into_iter()
        .map(|it| it.webhook_id)
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), 2, "one id for each occurrence, in order, {when}");
    let pull = world.pull(1);
    assert_eq!(pull.merged_sha.as_ref(), Some(&pull.head_sha), "{when}");
    assert!(world.evidence(1, &pull.head_sha).await.is_some(), "{when}");
    world.finish().await;
}

/// Dies at every second act of the story, each time in a world of its own: after one act is before the next, so both moments
/// together try every gap.
async fn die_everywhere(moment: Moment) {
    let world = begin(false).await;
    let job = world.submit("ask me").await;
    let begun = world.fate.acts().len();
    play(&world, &job).await;
    let acts = world.fate.acts();
    once(&world, &job, "alive").await;
    for (at, act) in acts.iter().enumerate().skip(begun).step_by(2) {
        let world = begin(false).await;
        let job = world.submit("ask me").await;
        world.fate.kill_at(at, moment);
        play(&world, &job).await;
        let when = format!("dying {moment:?} act {at}, `{act}`");
        assert_eq!(world.fate.deaths(), 1, "{when}");
        once(&world, &job, &when).await;
    }
}

#[tokio::test]
async fn a_process_that_dies_before_any_act_does_everything_once() {
    Box::pin(die_everywhere(Moment::Before)).await;
}

#[tokio::test]
async fn a_process_that_dies_after_any_act_does_everything_once() {
    Box::pin(die_everywhere(Moment::After)).await;
}

#[tokio::test]
async fn two_of_everything_do_everything_once() {
    let world = begin(true).await;
    let job = world.submit("ask me").await;
    let (dispatcher, poller) = (world.another_dispatcher(), world.another_poller());
    let end = world.clock.now() + MINUTE * 20;
    while world.clock.now() < end && world.state(&job).await != "merged" {
        world.clock.advance(SignedDuration::from_secs(1));
        world.sandbox.advance();
        world.sandbox.deliver_webhooks().await;
        if world.state(&job).await == "asking" {
            let (one, other) = tokio::join!(
                world.say(&job, "PostgreSQL", "answer"),
                world.say(&job, "PostgreSQL", "answer")
            );
            assert!(one.is_ok() || other.is_ok());
        }
        let (one, other) = tokio::join!(world.poller.tick(), poller.tick());
        one.and(other).expect("ticks");
        loop {
            let (one, other) = tokio::join!(world.dispatcher.drain(), dispatcher.drain());
            if one.expect("a batch") + other.expect("a batch") == 0 {
                break;
            }
        }
    }
    world.pass(MINUTE * 10).await;
    once(&world, &job, "two of everything").await;
}

/// Hands every message to two dispatchers at the same moment, until there are none.
async fn handle_twice(world: &World, other: &Dispatcher) {
    loop {
        let batch = world
            .backend
            .queue
            .receive(10, MINUTE * 9)
            .await
            .expect("a batch");
        for delivery in &batch {
            let work: Work = serde_json::from_str(&delivery.body).expect("a wake-up");
            let both = async { tokio::join!(world.dispatcher.handle(&work), other.handle(&work)) };
            let (one, two) = Box::pin(both).await;
            one.and(two).expect("handled");
            world
                .backend
                .queue
                .acknowledge(&delivery.receipt)
                .await
                .expect("acknowledged");
        }
        if batch.is_empty() {
            break;
        }
    }
}

#[tokio::test]
async fn every_message_twice_at_once_does_everything_once() {
    let world = begin(false).await;
    let job = world.submit("ask me").await;
    let (dispatcher, poller) = (world.another_dispatcher(), world.another_poller());
    let mut said = false;
    for _ in 0..1_500 {
        world.clock.advance(SignedDuration::from_secs(1));
        world.sandbox.advance();
        if !said && world.state(&job).await == "asking" {
            world.answer(&job, "PostgreSQL", "answer").await;
            said = true;
        }
        let (one, other) = tokio::join!(world.poller.tick(), poller.tick());
        one.and(other).expect("ticks");
        handle_twice(&world, &dispatcher).await;
    }
    once(&world, &job, "every message twice").await;
    let tries = world.sandbox.agents().received(tests::world::AGENT).len();
    assert_eq!(tries, 2, "one try for each wake");
    assert_eq!(world.sandbox.counters().create_calls, 1);
    assert_eq!(world.sandbox.counters().message_calls, 1);
}

#[tokio::test]
async fn webhooks_that_are_doubled_reordered_late_or_lost_change_nothing() {
    let faults = |change: fn(&mut WebhookFaults)| {
        let mut faults = WebhookFaults::default();
        change(&mut faults);
        faults
    };
    let all = [
        faults(|it| it.double = true),
        faults(|it| it.reorder = true),
        faults(|it| it.delay = MINUTE * 3),
        faults(|it| it.drop_every = Some(2)),
        faults(|it| it.drop_every = Some(1)),
        faults(|it| it.off = true),
        WebhookFaults {
            double: true,
            reorder: true,
            delay: MINUTE,
            drop_every: Some(3),
            off: false,
            down: false,
        },
    ];
    for faults in all {
        let scenario = Scenario {
            webhook_faults: faults.clone(),
            ..scenario(vec![asking("ask me", "Which database?")])
        };
        let world = World::hearing(scenario, on_green(), true).await;
        let job = world.submit("ask me").await;
        play(&world, &job).await;
        once(&world, &job, &format!("{faults:?}")).await;
    }
}

/// Posts a body to the webhook endpoint like GitHub, under a new id each time.
async fn post(world: &World, body: &str, id: usize) -> u16 {
    let request = tests::world::plain_client()
        .post(world.webhook_url())
        .header("content-type", "application/json")
        .header("x-github-event", "pull_request")
        .header(
            "x-github-delivery",
            format!("00000000-0000-4000-8000-{id:012}"),
        )
        .header(
            "x-hub-signature-256",
            sandbox::webhook::sign(WEBHOOK_SECRET, body.as_bytes()),
        );
    request
        .body(body.to_owned())
        .send()
        .await
        .expect("an answer")
        .status()
        .as_u16()
}

#[tokio::test]
async fn one_webhook_a_hundred_times_is_a_reading_or_two() {
    let world = begin(true).await;
    let job = world.submit("ask me").await;
    world.until_is(MINUTE * 5, &job, "asking").await;
    world.answer(&job, "PostgreSQL", "answer").await;
    world.until_is(MINUTE * 5, &job, "in-review").await;
    world.pass(MINUTE / 2).await;
    let opened = world
        .sandbox
        .github()
        .deliveries()
        .into_iter()
        .find(|it| it.event == "pull_request")
        .expect("a delivery")
        .body;
    let before = world.sandbox.counters().github_calls;
    for id in 0..100 {
        assert_eq!(post(&world, &opened, id).await, 202);
    }
    world.step().await;
    world.pass(MINUTE / 12).await;
    let calls = world.sandbox.counters().github_calls - before;
    assert!(calls <= 40, "{calls} calls for one webhook");
    play(&world, &job).await;
    for id in 100..200 {
        assert_eq!(post(&world, &opened, id).await, 202);
    }
    world.pass(MINUTE * 5).await;
    once(&world, &job, "a storm").await;
}

#[tokio::test]
async fn a_start_that_somebody_else_comes_before_counts_once_in_the_day() {
    let world = begin(false).await;
    let (job, backend) = (world.submit("ask me").await, world.backend.clone());
    let id = job.clone();
    // Its slot is taken first, and then the job has changed since its turn came.
    let touch = async move {
        let found = backend.must_job(&id).await.expect("a job");
        let list = keys::jobs_of("queued", &found.value.account);
        let place = IndexEntry {
            due: found.due,
            list: keys::listed(list, keys::list_position(found.value.created_at, &id)),
            forget: None,
        };
        let mut unit = backend.unit();
        unit.put(keys::job(&id), &found.value, Some(found.version), place);
        backend.commit(unit).await.expect("a job");
    };
    world
        .fate
        .before_next("commit RATE#slots#default META", touch);
    play(&world, &job).await;
    let account = "default".parse().expect("a name");
    let slots = world.backend.store.slots(&account).await.expect("a store");
    assert_eq!(slots.value.created.len(), 1, "{slots:?}");
    assert_eq!(world.sandbox.counters().creates, 1);
}

#[tokio::test]
async fn whoever_waits_for_a_create_that_ends_just_then_begins_at_once() {
    let world = begin(false).await;
    let cut = Fault::new(Service::Jules, "/sessions", FaultKind::CutAfterEffect);
    world.sandbox.faults().add(cut.on("POST").next(1));
    let first = world.submit("ask me").await;
    world.until_count(MINUTE, |it| it.creates == 1).await;
    assert_eq!(world.state(&first).await, "starting");
    let (backend, second) = (world.backend.clone(), world.submit("ask me too").await);
    let made = world.sandbox.jules().sessions()[0].id.clone();
    // The second has read that the first is being created, and says when it comes again.
    let ends = async move {
        let found = backend.must_job(&first).await.expect("a job");
        let view = working(&made.parse().expect("a session"));
        // Longer ago than creates keep apart.
        let at = backend.now() - SECOND * 2;
        let step = job::created(&found.value, &view, at, &Timing::default());
        let mut unit = backend.unit();
        let list = keys::jobs_of("watched", &found.value.account);
        let place = IndexEntry {
            due: found.due,
            list: keys::listed(list, first.as_str()),
            forget: None,
        };
        unit.put(
            keys::job(&first),
            &step.aggregate,
            Some(found.version),
            place,
        );
        backend.commit(unit).await.expect("a job");
    };
    world
        .fate
        .before_next("commit RATE#slots#default META", ends);
    world.step().await;
    assert_eq!(world.state(&second).await, "working");
}
