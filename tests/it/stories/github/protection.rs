//! Classic protection that comes and goes between two merges.

use domain::ids::JobId;
use sandbox::Service;
use sandbox::github::{CiSetup, Protection, RepoSetup, RequiredCheck};
use tests::world::{MINUTE, REPO, World, ci, green_checks, on_green};

/// A repository whose base is protected by a ruleset alone, in which one pull request was merged.
async fn after_a_merge() -> World {
    let ci = CiSetup {
        required: vec![RequiredCheck::any("build")],
        ..ci(green_checks())
    };
    let repo = RepoSetup {
        protection: Protection::Rulesets,
        ..RepoSetup::new(REPO).with_ci(ci)
    };
    let world = World::hearing(
        sandbox::Scenario {
            repos: vec![repo],
            ..sandbox::Scenario::default()
        },
        on_green(),
        true,
    )
    .await;
    let first = world.submit("Add a test").await;
    merged(&world, &first).await;
    world
}

async fn merged(world: &World, job: &JobId) {
    world.until_is(MINUTE * 10, job, "merged").await;
}

/// How often the list of protected branches was asked for.
fn listed(world: &World) -> usize {
    world
        .requests(Service::GitHub, "GET", "protected=true")
        .len()
}

#[tokio::test]
async fn a_list_that_moves_with_each_merge_is_not_read_for_each() {
    let world = after_a_merge().await;
    let before = listed(&world);
    assert!(before > 0);
    let second = world.submit("Add another test").await;
    merged(&world, &second).await;
    assert_eq!(listed(&world), before);
    world.finish().await;
}

#[tokio::test]
async fn protection_that_was_put_on_since_the_last_merge_holds_for_the_next() {
    let world = after_a_merge().await;
    assert!(listed(&world) > 0);
    let protect = |approvals| {
        world.sandbox.github().change_repo(REPO, |setup| {
            setup.protection = Protection::Classic;
            setup.reviews_required = approvals;
            setup.admin.admins_bypass = true;
        });
    };
    protect(1);
    let second = world.submit("Add another test").await;
    world.pass(MINUTE * 9).await;
    let why = world.why(&second).await;
    assert!(world.gives(&second, "approvals_missing").await, "{why:?}");
    assert_eq!(world.sandbox.counters().merge_calls, 1);
    protect(0);
    merged(&world, &second).await;
    world.finish().await;
}
