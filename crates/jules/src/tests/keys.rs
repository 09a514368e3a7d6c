//! How long a key is believed, and what its refusal does.

use domain::failure::{CallEffect, FailureClass};
use jiff::SignedDuration;

use super::service::{Asked, CANARY, World, check, ok, refusal};

async fn world_that_wants(key: &'static str) -> World {
    World::start(
        move |asked: &Asked| match asked.header("x-goog-api-key") == key {
            true => ok(r#"{"id":"1"}"#),
            false => refusal(401, "UNAUTHENTICATED", "no"),
        },
    )
    .await
}

#[tokio::test]
async fn a_key_is_read_once_in_five_minutes() {
    let world = world_that_wants(CANARY).await;
    for (minutes, reads) in [(0, 1), (4, 1), (0, 1), (1, 2), (4, 2), (1, 3)] {
        world.clock.advance(SignedDuration::from_mins(minutes));
        world.get().await.unwrap();
        assert_eq!(world.safe.reads(), reads);
    }
}

#[tokio::test]
async fn a_clock_that_goes_back_makes_the_key_be_read_again() {
    let world = world_that_wants(CANARY).await;
    world.get().await.unwrap();
    world.clock.advance(SignedDuration::from_hours(-1));
    world.get().await.unwrap();
    assert_eq!(world.safe.reads(), 2);
}

#[tokio::test]
async fn a_replaced_key_works_at_once() {
    let world = world_that_wants("new-key").await;
    world.get().await.unwrap_err();
    world.clock.advance(SignedDuration::from_mins(2));
    world.safe.put("new-key\n");
    world.approve().await.unwrap();
    let keys: Vec<String> = world
        .asked()
        .iter()
        .map(|asked| asked.header("x-goog-api-key").to_owned())
        .collect();
    assert_eq!(keys, [CANARY, CANARY, "new-key"]);
}

#[tokio::test]
async fn a_dead_key_is_read_again_at_most_once_a_minute() {
    let world = world_that_wants("another").await;
    // The first call reads it, and its refusal reads it again; the call is not repeated with the same key.
    for (secs, reads, calls) in [(0, 2, 1), (1, 2, 2), (58, 2, 3), (1, 3, 4), (30, 3, 5)] {
        world.clock.advance(SignedDuration::from_secs(secs));
        let failure = world.get().await.unwrap_err();
        check(&failure, FailureClass::Unauthorized, CallEffect::No);
        assert_eq!(
            (world.safe.reads(), world.asked().len()),
            (reads, calls),
            "after {secs} s"
        );
    }
}

#[tokio::test]
async fn without_a_usable_key_nothing_is_sent() {
    let world = world_that_wants(CANARY).await;
    world.safe.empty();
    let failure = world.approve().await.unwrap_err();
    check(&failure, FailureClass::Unauthorized, CallEffect::No);
    assert!(failure.message.contains("jules/main"), "{failure}");
    for key in ["", " \n", "two\nlines", "umläut\u{0}"] {
        world.safe.put(key);
        world.clock.advance(SignedDuration::from_hours(1));
        let failure = world.approve().await.unwrap_err();
        check(&failure, FailureClass::Unauthorized, CallEffect::No);
        assert!(!failure.message.contains("lines"), "{failure}");
    }
    assert_eq!(world.asked().len(), 0);
}
