//! What was deployed is observed for its time, unless a check of the merge commit fails before.

use domain::delivery::Observe;
use jiff::SignedDuration;
use sandbox::github::{CheckState, Conclusion, RepoSetup};

use super::phases::{alone, end_runs, merge_commit, to_deploy};
use super::*;

const SOAK: SignedDuration = SignedDuration::from_mins(30);

async fn observed() -> (World, u64) {
    let (world, number) = alone(|rules| {
        rules.endpoint = "observe".parse().expect("an endpoint");
        rules.observe = Observe::Soak(SOAK);
    })
    .await;
    until(&world, number, "observe/running").await;
    (world, number)
}

#[tokio::test]
async fn what_was_deployed_is_observed_for_its_time() {
    let (world, number) = observed().await;
    let began = world.clock.now();
    until(&world, number, "close/succeeded").await;
    assert!(world.clock.now() >= began + SOAK);
    world.finish().await;
}

#[tokio::test]
async fn a_check_of_the_merge_commit_that_fails_meanwhile_closes_nothing() {
    let (world, number) = observed().await;
    world.pass(MINUTE * 10).await;
    assert_eq!(place(&world, number).await, "observe/running");
    let sha = merge_commit(&world, number).await;
    let github = world.sandbox.github();
    let failed = CheckState::Completed(Conclusion::Failure);
    github.set_check(world.clock.now(), REPO, (&sha, "smoke"), failed);
    until(&world, number, "observe/failed").await;
    let found = delivery(&world, number).await.expect("a delivery");
    let code = found.error.expect("a failure").code;
    assert_eq!(code, domain::delivery::Fault::ObserveFailed);
    world.pass(hour(1)).await;
    assert_eq!(place(&world, number).await, "observe/failed");
    assert_eq!(github.is_closed(REPO, number), Some(false));
    assert_eq!(world.wake_names(), ["error/phase_failed"]);
    world.finish().await;
}

/// The other repository has no such commit, and its checks are nothing to the delivery.
#[tokio::test]
async fn what_another_repository_that_took_the_name_shows_ends_no_observation() {
    let (world, number) = observed().await;
    let github = world.sandbox.github();
    github.rename_repo(REPO, "acme/old");
    let made = github.add_repo(world.clock.now(), RepoSetup::new(REPO));
    made.expect("a repository");
    world.pass(hour(1)).await;
    assert_eq!(place(&world, number).await, "observe/running");
    let status = world.backend.status().await.expect("a status");
    assert_eq!(status.queue.dead, 0);
    github.remove_repo(REPO);
    github.rename_repo("acme/old", REPO);
    until(&world, number, "close/succeeded").await;
    world.finish().await;
}

/// The job of a workflow is a check of the commit that it deploys, and a run of its own is another one.
#[tokio::test]
async fn only_what_failed_since_the_deployment_was_tried_again_counts() {
    let mut setup = to_deploy(Checkpoints::none());
    let rules = &mut setup.source.deliveries;
    rules.endpoint = "observe".parse().expect("an endpoint");
    rules.observe = Observe::Soak(SOAK);
    let world = World::with(setup).await;
    let number = open_issue(&world, "Add a test", "");
    let github = world.sandbox.github();
    until(&world, number, "deploy/running").await;
    end_runs(&world, Conclusion::Failure);
    until(&world, number, "deploy/failed").await;
    world.pass(MINUTE).await;
    order(&world, number, Act::Retry { reason: None }).await;
    until(&world, number, "deploy/running").await;
    end_runs(&world, Conclusion::Success);
    until(&world, number, "observe/running").await;
    let sha = merge_commit(&world, number).await;
    let smoke = |conclusion| {
        let state = CheckState::Completed(conclusion);
        github.set_check(world.clock.now(), REPO, (&sha, "smoke"), state);
    };
    smoke(Conclusion::Failure);
    until(&world, number, "observe/failed").await;
    let found = delivery(&world, number).await.expect("a delivery");
    let why = found.error.expect("a failure").text;
    assert!(!why.contains("`deploy`"), "{why}");
    smoke(Conclusion::Success);
    order(&world, number, Act::Retry { reason: None }).await;
    until(&world, number, "close/succeeded").await;
    world.finish().await;
}
