//! Jules says "not now", breaks, or does not answer: growing gaps, no noise, and a clean recovery.

use jiff::SignedDuration;
use sandbox::story::Step;
use sandbox::{Fault, FaultKind, Service};
use tests::world::{MINUTE, SECOND, World, hour, progress, scenario, story};

fn status(code: u16, retry_after_secs: Option<u64>) -> Fault {
    Fault::new(
        Service::Jules,
        "",
        FaultKind::Status {
            code,
            retry_after_secs,
            body: None,
        },
    )
}

/// A world with one job that works for hours.
async fn long_job() -> (World, domain::ids::JobId) {
    let mut steps: Vec<Step> = (0..40).map(|_| progress(MINUTE * 10, "Working")).collect();
    steps.insert(0, progress(SECOND, "Beginning"));
    let world = World::on_green(scenario(vec![story("long", steps)])).await;
    let job = world.submit("long").await;
    world.pass(MINUTE).await;
    (world, job)
}

/// Seconds between polls answered with a status since the log had this many lines.
fn gaps(world: &World, since: usize, status: u16) -> Vec<i64> {
    let polls: Vec<_> = world
        .sandbox
        .requests()
        .into_iter()
        .skip(since)
        .filter(|it| it.service == Service::Jules && it.status == status)
        .collect();
    polls
        .windows(2)
        .map(|pair| pair[1].at.duration_since(pair[0].at).as_secs())
        .collect()
}

async fn refused(code: u16) {
    let (world, job) = long_job().await;
    let since = world.sandbox.requests().len();
    world.sandbox.faults().add(status(code, None));
    world.pass(hour(2)).await;
    let gaps = gaps(&world, since, code);
    assert!(gaps.len() >= 8, "{gaps:?}");
    assert!(
        gaps.windows(2).take(5).all(|pair| pair[1] > pair[0]),
        "{gaps:?}"
    );
    assert!(gaps.iter().all(|gap| *gap <= 1_126), "{gaps:?}");
    assert!(
        world.all_events().await.is_empty(),
        "{:?}",
        world.all_events().await
    );
    assert_eq!(world.sandbox.counters().wakes_received, 0);

    world.sandbox.faults().clear();
    world.pass(MINUTE * 20).await;
    let before = world.sandbox.counters().jules_calls;
    world.pass(MINUTE).await;
    let polls = world.sandbox.counters().jules_calls - before;
    assert!(
        (6..=8).contains(&polls),
        "the pace of an active account: {polls}"
    );
    assert!(world.gives(&job, "working").await);
    assert!(world.all_events().await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn a_burst_of_429_grows_the_gaps_and_says_nothing() {
    refused(429).await;
}

#[tokio::test]
async fn a_burst_of_503_does_the_same() {
    refused(503).await;
}

#[tokio::test]
async fn retry_after_is_kept_to_the_second() {
    let (world, _) = long_job().await;
    let since = world.sandbox.requests().len();
    world.sandbox.faults().add(status(429, Some(700)).next(1));
    world.pass(SECOND * 705).await;
    let at: Vec<_> = world
        .sandbox
        .requests()
        .into_iter()
        .skip(since)
        .filter(|it| it.service == Service::Jules)
        .map(|it| it.at)
        .collect();
    assert!(
        at[1].duration_since(at[0]) >= SignedDuration::from_secs(700),
        "{at:?}"
    );
    assert!(at.len() <= 3, "{at:?}");
    assert!(world.all_events().await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn a_dead_network_is_one_event_until_it_lives_again() {
    let (world, _) = long_job().await;
    for outage in 1..=2 {
        world
            .sandbox
            .faults()
            .add(Fault::new(Service::Jules, "", FaultKind::CutBefore));
        world.pass(SECOND * 25).await;
        assert_eq!(
            world.all_events().await.len(),
            outage - 1,
            "too early for an event"
        );
        world.pass(hour(2)).await;
        assert_eq!(world.all_events().await, vec!["error/network"; outage]);
        world.sandbox.faults().clear();
        world.pass(MINUTE * 30).await;
    }
    let wakes = world.wakes();
    assert_eq!(wakes.len(), 2);
    assert!(
        wakes
            .iter()
            .all(|wake| wake["job_id"].is_null() && wake["account"] == "default"),
        "{wakes:#?}"
    );
    assert_ne!(wakes[0]["event_id"], wakes[1]["event_id"]);
    world.finish().await;
}

#[tokio::test]
async fn one_session_that_cannot_be_read_does_not_hold_up_the_others() {
    let world = World::on_green(sandbox::Scenario::default()).await;
    let bad = world.submit("the bad one").await;
    world.until_is(MINUTE, &bad, "working").await;
    let session = world.session(&bad).await.id;
    let broken = FaultKind::status(500);
    world
        .sandbox
        .faults()
        .add(Fault::new(Service::Jules, &format!("/sessions/{session}"), broken).on("GET"));
    let good = world.submit("a good one").await;
    world.until_is(MINUTE * 10, &good, "merged").await;
    assert_eq!(world.events(&good).await, ["completed/completed"]);
    world.sandbox.faults().clear();
    world.until_is(MINUTE * 10, &bad, "merged").await;
    world.finish().await;
}

#[tokio::test]
async fn a_listing_that_breaks_does_not_stop_single_reads() {
    let world = World::on_green(sandbox::Scenario::default()).await;
    let broken = FaultKind::status(503);
    world
        .sandbox
        .faults()
        .add(Fault::new(Service::Jules, "/sessions?", broken).on("GET"));
    let jobs = world.submit_many(3).await;
    world.until_merged(MINUTE * 20, &jobs).await;
    assert_eq!(world.sandbox.counters().creates, 3);
    world.finish().await;
}

#[tokio::test]
async fn a_wait_that_jules_asks_for_holds_for_all_jobs_of_the_account() {
    let world = World::on_green(sandbox::Scenario::default()).await;
    let refusal = status(429, Some(120)).on("POST").next(1);
    world.sandbox.faults().add(refusal);
    let jobs = world.submit_many(3).await;
    world.pass(SECOND * 100).await;
    let calls = world.requests(Service::Jules, "POST", "/sessions").len();
    assert_eq!((calls, world.gives(&jobs[1], "throttled").await), (1, true));
    world.until_merged(MINUTE * 20, &jobs).await;
    assert_eq!(world.sandbox.counters().creates, 3);
    world.pass(MINUTE).await;
    world.finish().await;
}
