//! Pausing, for all or for a source, and only observing: reading continues, writing stops, and afterwards everything resumes.

use tests::world::{MINUTE, SECOND, Setup, World, asking, hour, on_green, scenario};

/// Writes that reached Jules or GitHub.
fn writes(world: &World) -> u64 {
    let it = world.sandbox.counters();
    it.create_calls
        + it.message_calls
        + it.approve_calls
        + it.archives
        + it.deletes
        + it.github_writes
}

async fn asking_world() -> World {
    World::with(Setup {
        scenario: scenario(vec![asking("ask me", "Which database?")]),
        source: on_green(),
        ..Setup::default()
    })
    .await
}

#[tokio::test]
async fn a_pause_of_everything_stops_every_write_and_resuming_goes_on() {
    let world = asking_world().await;
    let asks = world.submit("ask me").await;
    world
        .until(MINUTE * 3, "a question", async |world| {
            world.state(&asks).await == "asking"
        })
        .await;
    world.pause(true).await;
    let before = writes(&world);
    let queued = world.submit("Add a test").await;
    world
        .say(&asks, "PostgreSQL", "answer")
        .await
        .expect("a wish");
    world.pass(hour(3)).await;
    assert_eq!(writes(&world), before);
    assert_eq!(
        (world.state(&queued).await, world.state(&asks).await),
        ("queued", "answered")
    );
    assert!(world.gives(&queued, "paused").await);

    world.pause(false).await;
    // A resume requests a reading at once.
    world.backend.go_on(None).await.expect("a queue");
    world.pass(SECOND * 2).await;
    assert!(writes(&world) >= before + 2, "a session and an answer");
    world
        .until(MINUTE * 20, "merged", async |world| {
            world.all_merged(&[queued.clone(), asks.clone()]).await
        })
        .await;
    assert_eq!(world.sandbox.counters().messages, 1);
    world.finish().await;
}

#[tokio::test]
async fn a_pause_before_the_merge_stops_the_merge() {
    let world = World::with(Setup {
        source: on_green(),
        ..Setup::default()
    })
    .await;
    let job = world.submit("Add a test").await;
    world
        .until(MINUTE * 5, "in review", async |world| {
            world.state(&job).await == "in-review"
        })
        .await;
    world.pause(true).await;
    let before = writes(&world);
    world.pass(hour(2)).await;
    assert_eq!(writes(&world), before);
    assert!(world.gives(&job, "paused").await);
    world.pause(false).await;
    world
        .until(MINUTE * 10, "merged", async |world| {
            world.state(&job).await == "merged"
        })
        .await;
    world.finish().await;
}

#[tokio::test]
async fn a_paused_source_waits_alone() {
    let world = World::with(Setup {
        source: on_green(),
        ..Setup::default()
    })
    .await;
    let mut source = on_green();
    source.paused = true;
    world.put_source(&source).await;
    let job = world.submit("Add a test").await;
    world.pass(hour(1)).await;
    assert_eq!(writes(&world), 0);
    assert!(world.gives(&job, "source_paused").await);
    world.put_source(&on_green()).await;
    world
        .until(MINUTE * 10, "merged", async |world| {
            world.state(&job).await == "merged"
        })
        .await;
    world.finish().await;
}

#[tokio::test]
async fn whoever_only_observes_writes_nothing_at_all() {
    let setup = Setup {
        source: on_green(),
        observe_only: true,
        webhooks: true,
        ..Setup::default()
    };
    let world = World::with(setup).await;
    let job = world.submit("Add a test").await;
    world.pass(MINUTE * 90).await;
    assert_eq!(writes(&world), 0);
    assert_eq!(world.state(&job).await, "queued");
    world.finish().await;
}
