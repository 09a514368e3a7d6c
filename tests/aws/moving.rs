//! A laptop's state moves to AWS in the middle of a story, and back.

use tests::world::{MINUTE, World, asking, hour, scenario};

#[tokio::test]
async fn a_story_half_told_on_sqlite_is_finished_by_the_functions_and_goes_home() {
    let mut world = World::on_green(scenario(vec![asking("ask me", "Which database?")])).await;
    let job = world.submit("ask me").await;
    world.until_is(MINUTE * 30, &job, "asking").await;
    // The answer is decided but not sent when the state moves.
    world.answer(&job, "PostgreSQL", "answer").await;
    assert_eq!(world.move_to_aws().await, 1);
    world.until_is(hour(1), &job, "merged").await;
    let counters = world.sandbox.counters();
    assert_eq!(
        (counters.creates, counters.messages, counters.merges),
        (1, 1, 1)
    );
    let before = world.backend.journal(&job).await.expect("a journal").len();

    world.move_to_sqlite().await;
    assert_eq!(world.state(&job).await, "merged");
    let journal = world.backend.journal(&job).await.expect("a journal");
    assert_eq!(journal.len(), before);
    let next = world.submit("another").await;
    world.until_is(hour(1), &next, "merged").await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.merges), (2, 2));
    world.finish().await;
}
