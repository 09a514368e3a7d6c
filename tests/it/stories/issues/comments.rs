//! What the issue is told: always how it is now, also where that is what it was told before, and once after a pause.

use super::*;

/// Our comment on an issue; blank while there is none.
fn told(world: &World, number: u64) -> String {
    let issue = world.sandbox.github().issue(REPO, number);
    let comments = issue.expect("an issue").comments;
    assert!(comments.len() <= 1, "{comments:?}");
    comments
        .into_iter()
        .next()
        .map_or_else(String::new, |it| it.body)
}

async fn until_told(world: &World, number: u64, wanted: &str) {
    let is_told = async |world: &World| told(world, number).contains(wanted);
    Box::pin(world.until(MINUTE * 15, wanted, is_told)).await;
}

#[tokio::test]
async fn a_pull_request_that_is_closed_and_reopened_in_time_goes_on_and_so_does_its_issue() {
    let source = stopping_at(&[Phase::Implement]);
    let world = world_with(source, true).await;
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "implement/succeeded").await;
    let pull = delivery(&world, number).await.and_then(|it| it.task.pull);
    let pull = pull.expect("a pull request");
    until_told(&world, number, "a person is awaited to approve it").await;
    world.pass(MINUTE * 2).await;
    let before = told(&world, number);

    let github = world.sandbox.github();
    github.close_as(world.clock.now(), REPO, pull.number, "eve");
    until_told(&world, number, "was closed without a merge").await;
    github.reopen(world.clock.now(), REPO, pull.number);
    let is_as_before = async |world: &World| told(world, number) == before;
    Box::pin(world.until(MINUTE * 15, "the earlier text", is_as_before)).await;
    world.pass(MINUTE * 15).await;
    assert_eq!(place(&world, number).await, "implement/succeeded");
    assert_eq!(told(&world, number), before);

    order(&world, number, Act::APPROVE).await;
    until(&world, number, "close/succeeded").await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.merges), (1, 1));
    world.finish().await;
}

#[tokio::test]
async fn an_issue_is_told_what_holds_its_merge_up_until_that_is_over() {
    let mut source = taking(|rules| rules.checkpoints = Checkpoints::none());
    source.policy.merge = MergePolicy::Human;
    let (world, number) = taken_to(source, "verify/running").await;
    let held_up = "the approval of its head is awaited";
    until_told(&world, number, held_up).await;
    let shown = world.backend.delivery_shown(&id_of(number)).await;
    assert_eq!(shown.expect("a delivery").because[0].code, "needs_approval");
    let before = world.sandbox.counters().comment_edits;
    world.pass(hour(1)).await;
    assert_eq!(world.sandbox.counters().comment_edits, before);

    let merge = Act::Merge {
        head: None,
        style: domain::pull::MergeStyle::default(),
    };
    order(&world, number, merge).await;
    until(&world, number, "close/succeeded").await;
    until_told(&world, number, "It is closed").await;
    assert!(!told(&world, number).contains(held_up));
    world.finish().await;
}

#[tokio::test]
async fn after_a_pause_an_issue_is_told_once_and_the_newest() {
    let world = world_with(taking(|_| {}), false).await;
    world.pause(true).await;
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "plan/pending").await;
    for act in [Act::Start, Act::Cancel] {
        world.pass(MINUTE * 2).await;
        order(&world, number, act).await;
    }
    world.pass(MINUTE * 2).await;
    let decided = delivery(&world, number).await.and_then(|it| it.told);
    assert_eq!(decided.expect("a text").count, 3);
    assert_eq!(told(&world, number), "");

    let before = world.sandbox.counters().github_writes;
    world.resume().await;
    world.pass(SECOND * 2).await;
    assert!(told(&world, number).contains("failed: it was cancelled"));
    assert_eq!(world.sandbox.counters().github_writes, before + 1);
    world.pass(MINUTE * 30).await;
    assert_eq!(world.sandbox.counters().github_writes, before + 1);
    world.finish().await;
}

/// A merge by hand ends a delivery in a pause too, but its issue is told of it, and closed, only afterwards.
#[tokio::test]
async fn a_delivery_that_ends_in_a_pause_tells_of_it_until_its_issue_was_told() {
    let source = stopping_at(&[Phase::Implement]);
    let (world, number) = taken_to(source, "implement/succeeded").await;
    world.pause(true).await;
    merge_now(&world, number).await;
    until(&world, number, "close/succeeded").await;
    world.pass(MINUTE).await;
    let codes = async || {
        let shown = world.backend.delivery_shown(&id_of(number)).await;
        let because = shown.expect("a delivery").because.into_iter();
        because.map(|reason| reason.code).collect::<Vec<_>>()
    };
    assert_eq!(codes().await, ["closed", "paused"]);

    world.resume().await;
    until_told(&world, number, "It is closed").await;
    world.pass(MINUTE * 2).await;
    world.pause(true).await;
    assert_eq!(codes().await, ["closed"]);
}
