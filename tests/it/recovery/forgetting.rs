//! Records that expire: nothing needs them any more, whatever is repeated.

use std::collections::BTreeSet;

use engine::ports::Record;
use engine::retention;
use jiff::SignedDuration;
use tests::records::{Kind, kind_of};
use tests::world::{MINUTE, World, asking, hour, on_green, scenario};

/// Longer than anything is kept that may be forgotten.
const LONG: SignedDuration = SignedDuration::from_hours(401 * 24);

/// A job that asks, is answered, and is merged; its agent acknowledges everything.
async fn told_world() -> World {
    let world = World::hearing(
        scenario(vec![asking("ask me", "Which database?")]),
        on_green(),
        true,
    )
    .await;
    let job = world.submit("ask me").await;
    world.until_is(MINUTE * 5, &job, "asking").await;
    world.answer(&job, "SQLite", "an answer").await;
    world.until_is(MINUTE * 20, &job, "merged").await;
    world.pass(MINUTE).await;
    for wake in world.wakes() {
        world.acknowledge(&wake).await;
    }
    world
}

async fn may_go(world: &World) -> (Vec<Record>, Vec<Record>) {
    let all = world.ledger.everything().await;
    all.into_iter().partition(|record| record.forget.is_some())
}

fn kinds(records: &[Record]) -> BTreeSet<Kind> {
    records.iter().map(|record| kind_of(&record.key)).collect()
}

#[tokio::test]
async fn what_is_over_goes_and_is_missed_by_nobody() {
    let world = told_world().await;
    let (going, staying) = may_go(&world).await;
    assert_eq!(kinds(&going), BTreeSet::from([Kind::Evidence, Kind::Wake]));
    let staying = kinds(&staying);
    for kind in [
        Kind::Job,
        Kind::Event,
        Kind::Effect,
        Kind::Pull,
        Kind::Session,
    ] {
        assert!(staying.contains(&kind), "{kind:?}");
    }
    let records = world.backend.store.records();
    let soon = world.backend.now() + hour(29 * 24);
    assert_eq!(records.forget(soon, retention::AT_ONCE).await, Ok(0));
    let forgotten = records
        .forget(world.backend.now() + LONG, retention::AT_ONCE)
        .await;
    assert_eq!(forgotten, Ok(going.len()));
    assert_eq!(may_go(&world).await.0, []);

    let (before, done) = (world.decisions().await, world.sandbox.counters());
    let postman = world.postman();
    for delivery in world.sandbox.github().deliveries() {
        let guid = format!("again-{}", delivery.id);
        postman.post(&delivery.event, &guid, delivery.body).await;
    }
    world.pass(hour(2)).await;
    assert_eq!(world.decisions().await, before);
    let after = world.sandbox.counters();
    assert_eq!(
        (
            after.merges,
            after.messages,
            after.creates,
            after.wakes_received
        ),
        (
            done.merges,
            done.messages,
            done.creates,
            done.wakes_received
        )
    );
    world.finish().await;
}
