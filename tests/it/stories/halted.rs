//! Sessions that Jules has paused, and unknown states: announced as such, without holding a slot for ever.

use domain::policy::Answers;
use sandbox::story::Step;
use tests::world::{MINUTE, SECOND, World, from_work, on_green, progress, scenario, story, work};

/// A world in which the session `halt` takes these steps at work, and questions are answered by this chain; there is one slot.
async fn halting(steps: Vec<Step>, chain: &[&str]) -> World {
    let mut source = on_green();
    let chain = chain.iter().map(|step| step.parse().expect("a step"));
    source.policy.answers = Answers::new(chain.collect()).expect("a chain");
    let first = [vec![progress(SECOND, "Working")], steps].concat();
    let steps = from_work(first);
    let world = World::of(
        scenario(vec![story("halt", steps), story("other", work())]),
        source,
    )
    .await;
    world.limit("default", 1, 100).await;
    world
}

fn pause() -> Step {
    Step::Pause { after: SECOND * 3 }
}

#[tokio::test]
async fn a_paused_session_is_woken_by_a_message_where_gaffer_may_say_one() {
    let world = halting(vec![pause()], &["nudge:20m", "human"]).await;
    let job = world.submit("halt").await;
    world.until_is(MINUTE * 5, &job, "paused").await;
    world.until_is(MINUTE * 15, &job, "merged").await;
    assert_eq!(world.sandbox.counters().messages, 1);
    assert_eq!(world.events(&job).await, ["completed/completed"]);
    world.finish().await;
}

#[tokio::test]
async fn a_pause_is_told_within_two_minutes_and_its_slot_goes_to_the_next_job() {
    let world = halting(vec![pause()], &["human"]).await;
    let job = world.submit("halt").await;
    let other = world.submit("other").await;
    world.until_is(MINUTE * 5, &job, "paused").await;
    world.pass(MINUTE * 2).await;
    assert_eq!(world.events(&job).await, ["error/session_paused"]);
    assert!(world.gives(&job, "session_paused").await);
    world.until_is(MINUTE * 15, &other, "merged").await;
    assert_eq!(world.state(&job).await, "paused");
    world.answer(&job, "Go on", "woken").await;
    world.until_is(MINUTE * 15, &job, "merged").await;
    world.finish().await;
}

#[tokio::test]
async fn a_paused_session_that_is_woken_takes_its_slot_back() {
    let steps = vec![pause(), progress(MINUTE * 10, "Still at it")];
    let world = halting(steps, &["human"]).await;
    let job = world.submit("halt").await;
    world.until_is(MINUTE * 5, &job, "paused").await;
    world.pass(MINUTE * 2).await;
    assert_eq!(world.events(&job).await, ["error/session_paused"]);
    let other = world.submit("other").await;
    world.until_is(MINUTE * 15, &other, "merged").await;
    world.answer(&job, "Go on", "woken").await;
    world.until_is(MINUTE * 2, &job, "working").await;
    let third = world.submit("other too").await;
    world.pass(MINUTE * 4).await;
    assert_eq!(world.state(&third).await, "queued", "there is one slot");
    world.until_is(MINUTE * 30, &third, "merged").await;
    world.finish().await;
}

#[tokio::test]
async fn an_unknown_state_is_named_and_told_after_a_window_and_gives_its_slot() {
    let state = Step::State {
        after: SECOND * 3,
        state: "AWAITING_USER_INPUT".to_owned(),
    };
    let world = halting(vec![state, Step::Stall { after: SECOND }], &["human"]).await;
    let job = world.submit("halt").await;
    world.until_is(MINUTE * 5, &job, "unknown").await;
    assert!(world.gives(&job, "unknown_state").await);
    let other = world.submit("other").await;
    world.pass(MINUTE * 13).await;
    assert!(world.events(&job).await.is_empty());
    assert_eq!(world.state(&other).await, "queued");
    world.pass(MINUTE * 3).await;
    assert_eq!(world.events(&job).await, ["error/unknown_state"]);
    world.until_is(MINUTE * 15, &other, "merged").await;
    world.finish().await;
}
