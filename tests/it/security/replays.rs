//! Deliveries of whole stories, captured and sent again in any order under new ids: they cause nothing.

use jiff::SignedDuration;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use sandbox::github::{CheckSetup, Outcome};
use sandbox::webhook::Delivery;
use tests::world::{
    MINUTE, Postman, SECOND, World, ci, differences, green_checks, on_green, with_ci,
};

/// How often every delivery comes again.
const TIMES: usize = 100;

/// Orders in which deliveries are repeated during their story.
const SEEDS: [u64; 3] = [1, 2, 3];

/// Longer than the story takes.
const STORY: SignedDuration = SignedDuration::from_mins(20);

/// A job whose checks fail once, which its session fixes, and which is merged.
async fn world() -> World {
    let mut checks = green_checks();
    checks.push(CheckSetup::new("lint", Outcome::FailsFirst(1)));
    let world = World::hearing(with_ci(ci(checks)), on_green(), true).await;
    world.submit("Add a search box").await;
    world
}

async fn told_to_its_end(world: &World) {
    world.pass(STORY).await;
    let it = world.sandbox.counters();
    assert_eq!((it.merges, it.messages), (1, 1), "{}", world.story().await);
}

fn shuffled(deliveries: &[Delivery], seed: u64) -> Vec<&Delivery> {
    let mut order: Vec<&Delivery> = deliveries.iter().collect();
    order.shuffle(&mut StdRng::seed_from_u64(seed));
    order
}

async fn again(postman: &Postman, delivery: &Delivery, guid: &str) {
    let status = postman
        .post(&delivery.event, guid, delivery.body.clone())
        .await;
    assert_eq!(Some(status), delivery.status_code);
}

#[tokio::test]
async fn a_story_that_is_over_hears_nothing_of_its_deliveries_a_hundred_times_over() {
    let world = world().await;
    told_to_its_end(&world).await;
    let deliveries = world.sandbox.github().deliveries();
    assert!(deliveries.len() > 20, "{}", deliveries.len());
    let (before, written) = (world.decisions().await, world.ledger.written().len());
    let postman = world.postman();
    for time in 0..TIMES {
        for delivery in shuffled(&deliveries, time as u64) {
            again(&postman, delivery, &format!("new-{time}-{}", delivery.id)).await;
        }
        world.pass(SECOND * 3).await;
    }
    assert_eq!(
        differences(&before, &world.decisions().await),
        Vec::<String>::new()
    );
    // Only the account's own polls wrote meanwhile, and now and then the time of the last webhook.
    let touched = world.written_since(written);
    let (feeds, touched): (Vec<_>, Vec<_>) = touched
        .into_iter()
        .partition(|key| key.sk == engine::keys::WEBHOOK_ACTIVITY);
    assert!(feeds.len() <= 1, "{feeds:?}");
    assert!(
        touched.iter().all(|key| key.pk.starts_with("CFG#account#")),
        "{touched:?}"
    );
    world.finish().await;
}

#[tokio::test]
async fn a_story_under_way_goes_its_way_whatever_of_it_comes_again_and_too_early() {
    let quiet = world().await;
    told_to_its_end(&quiet).await;
    let deliveries = quiet.sandbox.github().deliveries();
    let wanted = quiet.decisions().await;
    quiet.finish().await;
    for seed in SEEDS {
        let world = world().await;
        let postman = world.postman();
        let end = world.clock.now() + STORY;
        let order = shuffled(&deliveries, seed);
        let mut next = order.iter().cycle();
        // Some of them report events that have not happened yet.
        while world.clock.now() < end {
            for delivery in next.by_ref().take(3) {
                again(&postman, delivery, &format!("new-{seed}")).await;
            }
            world.pass(SECOND).await;
        }
        let found = differences(&wanted, &world.decisions().await);
        assert_eq!(found, Vec::<String>::new(), "seed {seed}");
        assert!(world.clock.now() < end + MINUTE);
        world.finish().await;
    }
}
