//! What people do with the pull request of a delivery on GitHub itself.

use domain::delivery::{Actor, Checkpoints, Phase, ReviewBy, Verdict};
use domain::policy::{MergePolicy, Source};
use domain::pull::REOPEN_WAIT;
use sandbox::Scenario;
use sandbox::github::{CheckSetup, CiSetup, Outcome, RequiredCheck};
use tests::world::{MINUTE, REPO, World, hour, with_ci};

use super::people::open_events;
use super::{
    delivery, judge, merge_now, open_issue, place, reviews, stopping_at, taken_to, taking, until,
    world_with,
};

/// The number of the pull request of a delivery.
async fn pull_of(world: &World, number: u64) -> u64 {
    let task = delivery(world, number).await.expect("a delivery").task;
    task.pull.expect("a pull request").number
}

/// Who let a delivery into a phase.
async fn actor_of(world: &World, number: u64, phase: Phase) -> Option<Actor> {
    let spans = delivery(world, number).await?.phase_runs;
    let last = spans.iter().rev().find(|span| span.phase == phase);
    last.map(|span| span.actor.clone())
}

/// A source where a person reviews, whose word the merge waits for.
fn reviewed_by_people() -> Source {
    let source = taking(|rules| {
        rules.checkpoints = Checkpoints::at(&[Phase::Review]).expect("checkpoints");
        rules.review_by = Some(ReviewBy::Human);
    });
    Source {
        agent: None,
        policy: domain::policy::Policy {
            merge: MergePolicy::Human,
            ..source.policy.clone()
        },
        ..source
    }
}

/// A review on GitHub by a person of the repository is the verdict that is awaited; that of an outsider is not.
#[tokio::test]
async fn an_approving_review_on_github_is_the_verdict_of_a_person() {
    for webhooks in [false, true] {
        let world = world_with(reviewed_by_people(), webhooks).await;
        let number = open_issue(&world, "Add a test", "");
        until(&world, number, "review/running").await;
        let pull = pull_of(&world, number).await;
        let now = world.clock.now();
        let github = world.sandbox.github();
        github.review(now, REPO, pull, ("outsider", "APPROVED", "Fine."));
        world.pass(hour(1)).await;
        let found = delivery(&world, number).await.expect("a delivery");
        assert_eq!(found.phase, Phase::Review, "an outsider has no say");

        let now = world.clock.now();
        let github = world.sandbox.github();
        github.review(now, REPO, pull, ("acme", "APPROVED", "Fine."));
        until(&world, number, "close/succeeded").await;
        assert_eq!(world.sandbox.counters().merges, 1);
        let by = actor_of(&world, number, Phase::Review).await;
        assert_eq!(by, Some(Actor::person("acme")));
        world.finish().await;
    }
}

#[tokio::test]
async fn a_collaborator_who_may_only_read_gives_no_pass() {
    let mut scenario = Scenario::default();
    let people = [("ann", "write"), ("bob", "read")];
    scenario.repos[0].collaborators = people
        .map(|(login, may)| (login.to_owned(), may.to_owned()))
        .into();
    let world = World::of(scenario, reviewed_by_people()).await;
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "review/running").await;
    let pull = pull_of(&world, number).await;
    let github = world.sandbox.github();
    let now = world.clock.now();
    github.review(now, REPO, pull, ("bob", "APPROVED", "Fine."));
    world.pass(hour(1)).await;
    let found = delivery(&world, number).await.expect("a delivery");
    let at = (found.phase, found.verdict);
    assert_eq!(at, (Phase::Review, None), "{}", world.story().await);

    let now = world.clock.now();
    github.review(now, REPO, pull, ("ann", "APPROVED", "Fine."));
    until(&world, number, "close/succeeded").await;
    let by = actor_of(&world, number, Phase::Review).await;
    assert_eq!(by, Some(Actor::person("ann")));
    world.finish().await;
}

#[tokio::test]
async fn who_merges_by_hand_is_named() {
    let source = stopping_at(&[Phase::Implement]);
    let (world, number) = taken_to(source, "implement/succeeded").await;
    merge_now(&world, number).await;
    until(&world, number, "close/succeeded").await;
    let by = actor_of(&world, number, Phase::Verify).await;
    assert_eq!(by, Some(Actor::person("ann")));
    world.finish().await;
}

/// A base that moves under a strict branch costs no second review and no second approval.
#[tokio::test]
async fn a_head_that_only_merged_the_base_in_is_not_reviewed_again() {
    for checkpoints in [&[][..], &[Phase::Review][..]] {
        let mut source = taking(|rules| {
            rules.checkpoints = Checkpoints::at(checkpoints).expect("checkpoints");
            rules.review_by = Some(ReviewBy::Agent);
        });
        if !checkpoints.is_empty() {
            source.policy.merge = MergePolicy::Human;
        }
        let strict = CiSetup {
            checks: vec![CheckSetup::new("build", Outcome::Success)],
            required: vec![RequiredCheck::any("build")],
            strict: true,
            on_base: false,
            again_on_ready: false,
        };
        let world = World::of(with_ci(strict), source).await;
        let number = open_issue(&world, "Add a test", "");
        let asked = async |world: &World| reviews(world).len() == 1;
        Box::pin(world.until(hour(1), "a review", asked)).await;
        let head = reviews(&world).remove(0);
        let now = world.clock.now();
        let github = world.sandbox.github();
        github.push(now, REPO, "main", "Something else", "somebody");
        judge(&world, number, (Verdict::Pass, &head)).await;
        if !checkpoints.is_empty() {
            until(&world, number, "review/succeeded").await;
            super::order(&world, number, domain::delivery::Act::APPROVE).await;
        }
        until(&world, number, "close/succeeded").await;
        world.pass(MINUTE * 5).await;
        let counters = world.sandbox.counters();
        assert_eq!((counters.branch_updates, counters.merges), (1, 1));
        assert_eq!(counters.creates, 1);
        assert_eq!(reviews(&world).len(), 1, "one review is enough");
        world.finish().await;
    }
}

/// Who closes it and leaves it closed does not want it as it is: that is told, and a retry makes another one.
#[tokio::test]
async fn a_pull_request_that_stays_closed_fails_its_phase_and_a_retry_is_a_new_attempt() {
    let source = stopping_at(&[Phase::Implement]);
    let nobody = Source {
        agent: None,
        ..source
    };
    let (world, number) = taken_to(nobody, "implement/succeeded").await;
    let closed = pull_of(&world, number).await;
    let github = world.sandbox.github();
    github.close_as(world.clock.now(), REPO, closed, "eve");
    world.pass(REOPEN_WAIT - MINUTE).await;
    assert_eq!(place(&world, number).await, "implement/succeeded");
    until(&world, number, "implement/failed").await;
    let failed = delivery(&world, number).await.expect("a delivery");
    let code = failed.error.expect("a failure").code;
    assert_eq!(code, domain::delivery::Fault::PullClosed);
    world.pass(MINUTE).await;
    assert_eq!(open_events(&world, number).await, ["pull_closed"]);

    let retry = domain::delivery::Act::Retry { reason: None };
    super::order(&world, number, retry).await;
    until(&world, number, "implement/succeeded").await;
    assert_eq!(open_events(&world, number).await, ["checkpoint"]);
    let second = delivery(&world, number).await.expect("a delivery");
    assert_eq!(second.attempt, 2);
    assert_ne!(pull_of(&world, number).await, closed);
    super::order(&world, number, domain::delivery::Act::APPROVE).await;
    until(&world, number, "close/succeeded").await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.merges), (2, 1));
    assert_eq!(github.is_closed(REPO, closed), Some(true));
    world.finish().await;
}

/// The person who wanted the change made anew may take the earlier one after all.
#[tokio::test]
async fn merging_the_pull_request_of_the_attempt_before_ends_its_delivery() {
    let source = stopping_at(&[Phase::Implement]);
    let (world, number) = taken_to(source, "implement/succeeded").await;
    let pull = pull_of(&world, number).await;
    let reason = "Another way.".to_owned();
    super::order(&world, number, domain::delivery::Act::Reject { reason }).await;
    until(&world, number, "implement/running").await;
    let now = world.clock.now();
    let github = world.sandbox.github();
    assert!(github.merge_by_hand(now, REPO, pull, "ann"));
    until(&world, number, "close/succeeded").await;
    let by = actor_of(&world, number, Phase::Verify).await;
    assert_eq!(by, Some(Actor::person("ann")));
    let ended = delivery(&world, number).await.expect("a delivery");
    assert_eq!(ended.closed, Some(domain::delivery::Closed::Finished));
    let job = ended.task.job.expect("a job");
    Box::pin(world.until_is(MINUTE * 15, &job, "cancelled")).await;
}
