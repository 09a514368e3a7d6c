//! Promises that hold over every story: what wakes no one, what is kept, what is shown of secrets.

use domain::ids::JobId;
use sandbox::github::{CheckSetup, Outcome};
use sandbox::story::Step;
use sandbox::{Fault, FaultKind, Scenario, Service};
use tests::world::{
    MINUTE, SECOND, World, asking, asks, ci, from_work, hour, on_green, progress, scenario, story,
    with_ci, without_change,
};

#[tokio::test]
async fn no_secret_reaches_the_table_or_an_event() {
    let leak =
        "Use AIzaSyD-0123456789abcdefghijklmnopqrstu or ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let ask = asks(SECOND, leak);
    let world = World::on_green(scenario(vec![story("leak", from_work(vec![ask]))])).await;
    world
        .secrets
        .put("jules/default", "a-dead-key-that-nobody-may-see");
    world.pass(MINUTE * 5).await;
    world.secrets.put("jules/default", sandbox::DEFAULT_KEY);
    let job = world.submit("leak").await;
    world.until_is(MINUTE * 20, &job, "asking").await;
    world.pass(MINUTE).await;
    let secrets = [
        "AIzaSyD-0123456789",
        "ghp_0123456789",
        "a-dead-key-that-nobody-may-see",
        sandbox::DEFAULT_KEY,
        sandbox::github::DEFAULT_TOKEN,
    ];
    for record in world.ledger.everything().await {
        for secret in secrets {
            assert!(
                !record.body.contains(secret),
                "{:?}: {}",
                record.key,
                record.body
            );
        }
    }
    for wake in world.sandbox.agents().received(tests::world::AGENT) {
        assert!(
            secrets.iter().all(|secret| !wake.body.contains(secret)),
            "{}",
            wake.body
        );
    }
    world.finish().await;
}

#[tokio::test]
async fn nothing_merges_while_anything_about_it_is_unknown() {
    // Each of these is read for a merge; while one of them fails, nothing merges, and no merge is even tried.
    for path in [
        "/check-runs",
        "/status",
        "/reviews",
        "/files",
        "/rules/branches",
    ] {
        let world = World::on_green(Scenario::default()).await;
        for code in [500, 403] {
            world.sandbox.faults().clear();
            world
                .sandbox
                .faults()
                .add(Fault::new(Service::GitHub, path, FaultKind::status(code)));
            let job = world.submit("Add a test").await;
            world.pass(MINUTE * 40).await;
            assert_eq!(
                world.sandbox.counters().merge_calls,
                0,
                "{path} answers {code}"
            );
            assert_ne!(world.state(&job).await, "merged", "{path} answers {code}");
        }
        world.sandbox.faults().clear();
        world.pass(hour(1)).await;
        assert_eq!(world.sandbox.counters().merges, 2, "{path}");
        world.finish().await;
    }
}

#[tokio::test]
async fn green_that_turns_red_within_the_settle_window_is_not_merged() {
    let late = CheckSetup {
        starts_after: SECOND * 40,
        takes: SECOND * 5,
        ..CheckSetup::new("late", Outcome::Failure)
    };
    let checks = vec![CheckSetup::new("build", Outcome::Success), late];
    let world = World::on_green(with_ci(ci(checks))).await;
    world.submit("Add a test").await;
    world.pass(MINUTE * 10).await;
    assert_eq!(world.sandbox.counters().merge_calls, 0);
    world.finish().await;
}

#[tokio::test]
async fn flapping_states_cannot_reset_a_counter() {
    let state = |state: &str| Step::State {
        after: MINUTE * 2,
        state: state.to_owned(),
    };
    let steps: Vec<Step> = (0..30)
        .flat_map(|_| {
            [
                state("COMPLETED"),
                state("IN_PROGRESS"),
                state("AWAITING_USER_FEEDBACK"),
                state("IN_PROGRESS"),
            ]
        })
        .collect();
    let world = World::on_green(scenario(vec![story("flap", steps)])).await;
    let job = world.submit("flap").await;
    world.pass(hour(5)).await;
    assert_eq!(
        sorted(&world, &job).await,
        ["completed/completed", "question/question"]
    );
    world.finish().await;
}

async fn sorted(world: &World, job: &JobId) -> Vec<String> {
    let mut events = world.events(job).await;
    events.retain(|event| event != "stuck/stuck");
    events.sort();
    events
}

#[tokio::test]
async fn the_poller_and_the_door_write_nothing_outside() {
    let world = World::hearing(scenario(vec![asking("ask me", "Which?")]), on_green(), true).await;
    world.submit("ask me").await;
    // No dispatcher runs: the poller ticks and webhooks arrive.
    for _ in 0..300 {
        world.clock.advance(SECOND);
        world.sandbox.advance();
        world.sandbox.deliver_webhooks().await;
        world.poller.tick().await.expect("a tick");
    }
    let it = world.sandbox.counters();
    assert_eq!(
        (
            it.create_calls,
            it.message_calls,
            it.github_calls,
            it.wakes_received
        ),
        (0, 0, 0, 0)
    );
}

#[tokio::test]
async fn lost_messages_change_nothing() {
    let world = World::on_green(scenario(vec![asking("ask me", "Which?")])).await;
    let job = world.submit("ask me").await;
    let mut answered = false;
    for round in 0..9_000 {
        world.clock.advance(SECOND);
        // The messages of five of seven ticks are lost: received, and never handled.
        if round % 7 < 5 {
            world.sandbox.advance();
            world.poller.tick().await.expect("a tick");
            for lost in world
                .backend
                .queue
                .receive(10, SECOND)
                .await
                .expect("messages")
            {
                world
                    .backend
                    .queue
                    .acknowledge(&lost.receipt)
                    .await
                    .expect("gone");
            }
            continue;
        }
        if !answered && world.state(&job).await == "asking" {
            world.answer(&job, "This", "answer").await;
            answered = true;
        }
        world.step_once().await;
        if world.state(&job).await == "merged" {
            break;
        }
    }
    assert_eq!(world.state(&job).await, "merged", "{}", world.story().await);
    world.pass(MINUTE * 10).await;
    let it = world.sandbox.counters();
    assert_eq!(
        (it.creates, it.messages, it.merges, it.merge_calls),
        (1, 1, 1, 1)
    );
    assert_eq!(
        world.events(&job).await,
        ["question/question", "completed/completed"]
    );
    world.finish().await;
}

#[tokio::test]
async fn a_story_without_a_pull_request_ends_by_itself() {
    let done = story(
        "nothing",
        vec![progress(SECOND, "Looking"), without_change(SECOND)],
    );
    let mut source = on_green();
    source.timing.watch_completed = hour(2);
    let world = World::of(
        Scenario {
            stories: vec![done],
            ..Scenario::default()
        },
        source,
    )
    .await;
    let job = world.submit("nothing").await;
    world.pass(hour(3)).await;
    assert_eq!(world.state(&job).await, "completed");
    let ended = world
        .backend
        .must_job(&job)
        .await
        .expect("a job")
        .value
        .is_ended();
    assert!(ended, "{}", world.story().await);
    world.finish().await;
}
