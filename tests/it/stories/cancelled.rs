//! The pull request of a cancelled job.

use domain::ids::JobId;
use domain::policy::MergePolicy;
use domain::pull::MergeStyle;
use engine::backend::Error;
use sandbox::github::PullState;
use tests::world::{MINUTE, SECOND, World, on_green};

/// A job whose pull request waits for a person.
async fn in_review() -> (World, JobId) {
    let mut source = on_green();
    source.policy.merge = MergePolicy::Human;
    let world = World::of(sandbox::Scenario::default(), source).await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 10, &job, "in-review").await;
    world.pass(MINUTE).await;
    (world, job)
}

#[tokio::test]
async fn its_pull_request_stays_open_unless_it_is_to_be_closed() {
    let (world, job) = in_review().await;
    let named = world.named(&job);
    let cancelled = world.backend.cancel_job(&named, "a person").await;
    cancelled.expect("it ends");
    // Also before the pull request is judged again.
    let merged = world.approve_merge_as(&job, &MergeStyle::default()).await;
    assert!(matches!(merged, Err(Error::NotNow(it)) if it.code == "ended"));
    world.pass(MINUTE * 30).await;
    assert_eq!(world.pull(1).state, PullState::Open);
    let again = world.backend.cancel_job(&named, "a person").await;
    assert!(matches!(again, Err(Error::NotNow(_))));

    let closed = world.backend.cancel_and_close(&named, "a person").await;
    closed.expect("the pull request is closed");
    world.pass(SECOND * 5).await;
    assert_eq!(world.pull(1).state, PullState::Closed);
    world.pass(MINUTE * 20).await;
    assert_eq!(world.sandbox.counters().closes, 1);
    let over = world.backend.cancel_and_close(&named, "a person").await;
    assert!(matches!(over, Err(Error::NotNow(it)) if it.code == "settled"));
    world.finish().await;
}

#[tokio::test]
async fn who_reopens_it_keeps_it_open() {
    let (world, job) = in_review().await;
    let named = world.named(&job);
    let closed = world.backend.cancel_and_close(&named, "a person").await;
    closed.expect("both");
    world.pass(MINUTE).await;
    assert_eq!(world.state(&job).await, "cancelled");
    assert_eq!(world.pull(1).state, PullState::Closed);
    let open = serde_json::json!({ "state": "open" });
    world.edit_pull(1, &open).await;
    world.pass(MINUTE * 30).await;
    assert_eq!(world.pull(1).state, PullState::Open);
    assert_eq!(world.sandbox.counters().closes, 1);
    world.finish().await;
}

#[tokio::test]
async fn nothing_is_cancelled_while_a_pull_request_that_is_to_be_closed_was_not_read() {
    let mut source = on_green();
    source.policy.merge = MergePolicy::Human;
    let world = World::of(sandbox::Scenario::default(), source).await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 10, &job, "working").await;
    let has_pull = async || {
        let found = world.backend.store.job(&job).await.expect("a store");
        found.expect("a job").value.pull().is_some()
    };
    // No dispatcher handles messages meanwhile.
    let end = world.clock.now() + MINUTE * 30;
    while !has_pull().await {
        assert!(world.clock.now() < end, "{}", world.story().await);
        world.clock.advance(SECOND);
        world.sandbox.advance();
        world.poller.tick().await.expect("a tick");
    }
    let named = world.named(&job);
    let unread = world.backend.cancel_and_close(&named, "a person").await;
    assert!(matches!(unread, Err(Error::NotNow(it)) if it.code == "no_pull_request"));
    assert_ne!(world.state(&job).await, "cancelled");

    world.pass(MINUTE).await;
    let closed = world.backend.cancel_and_close(&named, "a person").await;
    closed.expect("both");
    world.pass(MINUTE).await;
    assert_eq!(world.state(&job).await, "cancelled");
    assert_eq!(world.pull(1).state, PullState::Closed);
    world.finish().await;
}
