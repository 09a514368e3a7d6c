//! Webhooks about checks: a pull request is read when a decision is possible, and still merged when they stop coming.

use sandbox::github::{CheckSetup, Outcome};
use sandbox::{Scenario, Service, WebhookFaults};
use serde_json::json;
use tests::world::{MINUTE, REPO, SECOND, World, ci, on_green, with_ci};

/// Three checks of two workflows that end one after the other.
fn busy() -> Scenario {
    busy_with(Outcome::Success)
}

/// The same with another outcome of the one that takes longest.
fn busy_with(test: Outcome) -> Scenario {
    let rows = [
        ("lint", "CI", 20),
        ("test", "CI", 150),
        ("scan", "Scan", 90),
    ];
    let outcome = |name| match name {
        "test" => test,
        _other => Outcome::Success,
    };
    let checks = rows.map(|(name, workflow, seconds)| CheckSetup {
        workflow: workflow.to_owned(),
        takes: SECOND * seconds,
        starts_after: SECOND * 3,
        ..CheckSetup::new(name, outcome(name))
    });
    with_ci(ci(checks.to_vec()))
}

async fn world_of(scenario: Scenario) -> World {
    World::hearing(scenario, on_green(), true).await
}

async fn merges(world: &World) {
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 20, &job, "merged").await;
    world.pass(MINUTE).await;
    world.finish().await;
}

/// How often a part of the pull request was read anew.
fn read_anew(world: &World, what: &str) -> usize {
    let reads = world.requests(Service::GitHub, "GET", what);
    reads.iter().filter(|it| it.status == 200).count()
}

#[tokio::test]
async fn checks_are_read_once_the_last_of_them_has_ended() {
    let world = world_of(busy()).await;
    merges(&world).await;
    for what in ["/check-runs", "/status", "/reviews", "/files"] {
        assert_eq!(read_anew(&world, what), 1, "{what}");
    }
    assert!(read_anew(&world, "/pulls/1") <= 6);
    assert_eq!(world.sandbox.counters().merges, 1);
}

#[tokio::test]
async fn checks_of_a_head_that_is_pushed_later_are_read_once_too() {
    let world = world_of(busy_with(Outcome::FailsFirst(1))).await;
    merges(&world).await;
    for what in ["/check-runs", "/status", "/files"] {
        assert_eq!(read_anew(&world, what), 2, "{what}");
    }
    // Logs of failed checks are read with the message to the session, and not before.
    assert_eq!(read_anew(&world, "/logs"), 1);
    assert_eq!(world.sandbox.counters().merges, 1);
}

#[tokio::test]
async fn a_push_that_is_told_of_another_head_than_there_is_puts_nothing_off() {
    let world = world_of(busy()).await;
    let mut source = on_green();
    source.timing.settle = MINUTE * 6;
    world.put_source(&source).await;
    let job = world.submit("Add a test").await;
    world.until_gives(MINUTE * 20, &job, "settling").await;
    world.pass(SECOND * 10).await;
    let reads = |world: &World| world.requests(Service::GitHub, "GET", "/reviews").len();
    let before = reads(&world);
    let id = world.sandbox.github().repo_id(REPO).expect("a repository");
    let old = json!({
        "action": "synchronize", "number": 1,
        "pull_request": { "number": 1, "head": { "sha": "0123456789".repeat(4) } },
        "repository": { "id": id, "full_name": REPO },
    });
    let postman = world.postman();
    let status = postman.post("pull_request", "old", old.to_string()).await;
    world.pass(SECOND * 5).await;
    assert_eq!((status, reads(&world)), (202, before + 1));
    world.until_is(MINUTE * 6, &job, "merged").await;
    world.finish().await;
}

#[tokio::test]
async fn wake_ups_that_are_lost_or_doubled_end_in_a_merge_all_the_same() {
    let lost = |every| WebhookFaults {
        drop_every: Some(every),
        ..WebhookFaults::default()
    };
    let doubled = WebhookFaults {
        double: true,
        reorder: true,
        ..WebhookFaults::default()
    };
    for webhook_faults in (2..7).map(lost).chain([doubled]) {
        let world = world_of(Scenario {
            webhook_faults: webhook_faults.clone(),
            ..busy()
        })
        .await;
        merges(&world).await;
        assert_eq!(world.sandbox.counters().merges, 1, "{webhook_faults:?}");
    }
}
