//! Polls that find nothing new: no events, no bytes to the agent, no writes to jobs.

use domain::policy::{MergePolicy, Source};
use sandbox::{ForeignSession, Service};
use tests::world::{
    MINUTE, SECOND, World, from_work, on_green, progress, scenario, stalling, story, without_change,
};

#[tokio::test]
async fn fifty_polls_of_a_finished_job_are_one_event() {
    let done = story(
        "nothing",
        vec![progress(SECOND, "Looking"), without_change(SECOND)],
    );
    let world = World::on_green(scenario(vec![done])).await;
    let job = world.submit("nothing").await;
    world.until_events(MINUTE * 5, &job, 1).await;
    // Its row was due where silence would have been announced, and is moved there.
    world.pass(MINUTE * 30).await;
    let polled = world.requests(Service::Jules, "GET", "/sessions/").len();
    let version = world.version(&job).await;
    world.pass(MINUTE * 55).await;
    let session = format!("/sessions/{}", world.session(&job).await.id);
    let polls = world.requests(Service::Jules, "GET", &session).len() - polled;
    assert!(polls >= 50, "{polls}");
    assert_eq!(world.events(&job).await, ["completed/completed"]);
    assert_eq!(world.sandbox.counters().wakes_received, 1);
    assert_eq!(world.version(&job).await, version);
    world.finish().await;
}

#[tokio::test]
async fn a_hundred_polls_in_progress_reach_nobody_and_write_one_account() {
    let slow = story(
        "slow",
        from_work(vec![
            progress(SECOND, "Working"),
            progress(MINUTE * 19, "Still working"),
        ]),
    );
    let mut source = on_green();
    source.timing.stuck_after = MINUTE * 20;
    let world = World::of(scenario(vec![slow]), source).await;
    let job = world.submit("slow").await;
    world.pass(MINUTE).await;
    let (version, book) = (world.version(&job).await, world.ledger.written().len());
    let polled = world.requests(Service::Jules, "GET", "/sessions/").len();
    world.pass(SECOND * 1_010).await;

    let polls = world.requests(Service::Jules, "GET", "/sessions/").len() - polled;
    assert!(polls >= 100, "{polls}");
    assert!(world.all_events().await.is_empty());
    let counters = world.sandbox.counters();
    assert_eq!((counters.wakes_received, counters.wake_bytes), (0, 0));
    assert_eq!(world.version(&job).await, version);
    let written: Vec<String> = world
        .written_since(book)
        .into_iter()
        .map(|key| key.pk)
        .collect();
    assert_eq!(written, ["CFG#account#default"]);
    world.until_is(MINUTE * 10, &job, "merged").await;
    world.finish().await;
}

#[tokio::test]
async fn many_sessions_are_one_listing_and_no_activities_while_quiet() {
    let slow = story(
        "slow",
        from_work(vec![
            progress(SECOND, "Working"),
            progress(MINUTE * 15, "Still working"),
        ]),
    );
    let world = World::on_green(scenario(vec![slow])).await;
    for _ in 0..8 {
        world.submit("slow").await;
    }
    world.pass(MINUTE * 2).await;
    let before = world.sandbox.counters().jules_calls;
    world.pass(MINUTE * 2).await;
    let calls = world.sandbox.counters().jules_calls - before;
    // Twelve polls of one page each, and at most one reading of each log.
    assert!(calls <= 12 + 8 + 2, "{calls}");
    assert!(world.all_events().await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn an_idle_gaffer_asks_every_quarter_of_an_hour_and_writes_one_row() {
    let world = World::on_green(sandbox::Scenario::default()).await;
    let jobs = world.submit_many(2).await;
    world.until_merged(MINUTE * 10, &jobs).await;
    world.pass(MINUTE * 5).await;
    let (before, book) = (world.sandbox.counters(), world.ledger.written().len());
    world.pass(tests::world::hour(1)).await;
    let after = world.sandbox.counters();
    let calls = after.jules_calls - before.jules_calls;
    assert!((4..=5).contains(&calls), "{calls}");
    assert_eq!(after.github_calls, before.github_calls);
    let written: Vec<String> = world
        .written_since(book)
        .into_iter()
        .map(|key| key.pk)
        .collect();
    assert_eq!(written, ["CFG#account#default"]);
    world.finish().await;
}

#[tokio::test]
async fn an_open_pull_request_that_nobody_merges_is_no_news() {
    let mut source = on_green();
    source.policy.merge = MergePolicy::Human;
    let world = World::of(sandbox::Scenario::default(), Source { ..source }).await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 5, &job, "in-review").await;
    // Its row was due where silence would have been announced, and is moved there.
    world.pass(tests::world::hour(2)).await;
    let (version, writes) = (
        world.version(&job).await,
        world.sandbox.counters().github_writes,
    );
    world.pass(tests::world::hour(6)).await;
    assert_eq!(
        (
            world.version(&job).await,
            world.sandbox.counters().github_writes
        ),
        (version, writes)
    );
    assert_eq!(world.wake_names(), ["completed/completed"]);
    world.finish().await;
}

#[tokio::test]
async fn one_page_reaches_all_of_ours_however_many_others_are_before_them() {
    let world = World::on_green(scenario(vec![stalling("stall")])).await;
    let jobs = [
        world.submit("stall first").await,
        world.submit("stall second").await,
    ];
    for job in &jobs {
        world.until_is(MINUTE * 5, job, "working").await;
    }
    let others = ForeignSession {
        count: 40,
        ..ForeignSession::default()
    };
    world
        .sandbox
        .jules()
        .add_foreign(&others)
        .expect("sessions of others");
    // One poll finds how deep the list has to be read.
    world.pass(MINUTE).await;
    let pages = |world: &World| world.requests(Service::Jules, "GET", "/sessions?");
    let before = pages(&world).len();
    world.pass(MINUTE).await;
    let asked = pages(&world).split_off(before);
    assert!(asked.len() >= 6, "a list every ten seconds: {asked:?}");
    let more: Vec<_> = asked
        .iter()
        .filter(|request| request.path.contains("pageToken"))
        .collect();
    assert!(more.is_empty(), "{more:?}");
    let single = world.requests(Service::Jules, "GET", "/sessions/");
    let lately = world.clock.now() - MINUTE;
    let single: Vec<_> = single
        .iter()
        .filter(|request| request.at > lately && !request.path.contains("/activities"))
        .collect();
    assert!(single.is_empty(), "{single:?}");
    world.finish().await;
}
