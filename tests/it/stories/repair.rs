//! Webhook deliveries that GitHub could not make: found in its log, asked for again, within bounds.

use std::collections::BTreeMap;

use domain::ids::JobId;
use domain::policy::Source;
use sandbox::github::{Access, CheckSetup, Outcome, Permissions, Resource, TokenSetup};
use sandbox::{Scenario, Service, WebhookFaults};
use tests::world::{MINUTE, Moment, World, ci, hour, on_green, with_ci};

/// Green is merged, and the regular readings of pull requests are too rare to wait for.
fn on_news() -> Source {
    let mut source = on_green();
    source.timing.pull_poll = hour(6);
    source
}

/// One check that takes ten minutes.
fn slow() -> Scenario {
    let build = CheckSetup {
        takes: MINUTE * 10,
        ..CheckSetup::new("build", Outcome::Success)
    };
    with_ci(ci(vec![build]))
}

async fn world_of(source: Source, faults: WebhookFaults) -> World {
    World::hearing(
        Scenario {
            webhook_faults: faults,
            ..slow()
        },
        source,
        true,
    )
    .await
}

async fn listening(source: Source, faults: WebhookFaults) -> World {
    let world = world_of(source, faults).await;
    world.backend.listen().await.expect("a store");
    world
}

/// How often each delivery was asked for again.
fn asked(world: &World) -> BTreeMap<String, u32> {
    let mut asked = BTreeMap::new();
    for delivery in world.sandbox.github().deliveries() {
        if delivery.redelivery {
            *asked.entry(delivery.guid).or_insert(0) += 1;
        }
    }
    asked
}

/// How often GitHub was asked for any of them.
fn asks(world: &World) -> usize {
    world.requests(Service::GitHub, "POST", "/attempts").len()
}

/// Three jobs whose pull requests are opened and checked while the API answers with an error, for an hour; then it works again.
async fn an_hour_without_a_door(world: &World) -> Vec<JobId> {
    let postbox = &world.postbox;
    postbox.kill_at(postbox.count(), Moment::Before);
    let mut jobs = Vec::new();
    for prompt in ["Add a test", "Add a cart", "Add a till"] {
        jobs.push(world.submit(prompt).await);
    }
    world.pass(hour(1)).await;
    assert!(postbox.is_dead(), "some delivery has failed");
    assert_eq!(world.sandbox.counters().merges, 0);
    postbox.revive();
    jobs
}

#[tokio::test]
async fn an_hour_without_a_door_is_made_up_for() {
    let world = listening(on_news(), WebhookFaults::default()).await;
    let jobs = an_hour_without_a_door(&world).await;
    world.until_merged(MINUTE * 45, &jobs).await;
    assert_eq!(world.sandbox.counters().merges, 3);
    let asked = asked(&world);
    assert!(!asked.is_empty() && asked.values().all(|asks| *asks <= 3));
    world.finish().await;
}

#[tokio::test]
async fn without_asking_again_only_the_sweep_would_have_found_it() {
    let world = world_of(on_news(), WebhookFaults::default()).await;
    an_hour_without_a_door(&world).await;
    world.pass(MINUTE * 45).await;
    assert_eq!(world.sandbox.counters().merges, 0);
}

#[tokio::test]
async fn what_never_arrived_is_sent_again_and_merged() {
    let lost = WebhookFaults {
        drop_every: Some(1),
        ..WebhookFaults::default()
    };
    let world = listening(on_news(), lost).await;
    let job = world.submit("Add a test").await;
    world.until_is(hour(1), &job, "merged").await;
    assert!(asked(&world).values().all(|asks| *asks == 1));
    world.finish().await;
}

#[tokio::test]
async fn a_door_that_stays_shut_is_not_knocked_at_for_ever() {
    let down = WebhookFaults {
        down: true,
        ..WebhookFaults::default()
    };
    let world = listening(on_green(), down).await;
    let job = world.submit("Add a test").await;
    world.pass(hour(3)).await;
    assert_eq!(world.state(&job).await, "merged", "the sweep found it");
    let asked = asked(&world);
    assert!(asked.values().all(|asks| *asks <= 3), "{asked:?}");
    assert!((1..=12).contains(&asks(&world)), "{}", asks(&world));
    let status = world.backend.status().await.expect("a status");
    let trouble = status.hooks[0].trouble.as_deref().unwrap_or_default();
    assert!(trouble.contains("has got through"), "{trouble}");
    assert_eq!(status.hooks[0].asked, asks(&world) as u64);
    world.finish().await;
}

#[tokio::test]
async fn a_process_that_dies_around_asking_asks_no_more_than_it_may() {
    let lost = || WebhookFaults {
        drop_every: Some(1),
        ..WebhookFaults::default()
    };
    let before = listening(on_news(), lost()).await;
    before.submit("Add a test").await;
    let asking = |world: &World| world.fate.acts().iter().position(|act| act == "redeliver");
    before
        .until(hour(1), "an ask", async |world| asking(world).is_some())
        .await;
    let act = asking(&before).expect("an ask");
    for moment in [Moment::Before, Moment::After] {
        let world = listening(on_news(), lost()).await;
        world.fate.kill_at(act, moment);
        let job = world.submit("Add a test").await;
        world.until_is(hour(3), &job, "merged").await;
        assert_eq!(world.deaths(), 1, "{moment:?}");
        let asked = asked(&world);
        assert!(asked.values().all(|asks| *asks <= 3), "{asked:?}");
        world.finish().await;
    }
}

#[tokio::test]
async fn a_credential_without_the_right_is_told_once_a_day() {
    let world = World::on_green(Scenario::default()).await;
    let token = |access| TokenSetup {
        permissions: Permissions::all().with(Resource::Administration, access),
        ..TokenSetup::default()
    };
    world.sandbox.github().add_token(token(Access::None));
    world.backend.listen().await.expect("a store");
    world.pass(hour(23)).await;
    let looks = |world: &World| world.requests(Service::GitHub, "GET", "/hooks").len();
    assert_eq!(looks(&world), 1);
    let trouble = |world: &World| {
        let backend = world.backend.clone();
        async move {
            let status = backend.status().await.expect("a status");
            status.hooks[0].trouble.clone()
        }
    };
    let told = trouble(&world).await.unwrap_or_default();
    assert!(told.contains("may not be read"), "{told}");
    world.sandbox.github().add_token(token(Access::Write));
    world.pass(hour(2)).await;
    assert!(looks(&world) > 1);
    assert_eq!(trouble(&world).await, None);
    world.finish().await;
}

#[tokio::test]
async fn nothing_is_asked_for_while_everything_is_paused() {
    let lost = WebhookFaults {
        drop_every: Some(1),
        ..WebhookFaults::default()
    };
    let world = listening(on_news(), lost).await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 5, &job, "in-review").await;
    world.pause(true).await;
    world.pass(MINUTE * 30).await;
    assert_eq!(asks(&world), 0);
    world.pause(false).await;
    world.until_is(hour(1), &job, "merged").await;
}
