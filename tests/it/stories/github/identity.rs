//! Repositories are known by their number: a new name changes nothing, and a repository that took the old name is
//! unknown.

use domain::ids::RepoId;
use engine::work::{WebhookEvent, Work};
use sandbox::Service;
use sandbox::github::{ChangedFile, CiSetup, NewPull, RepoSetup};
use tests::world::{MINUTE, REPO, World, green_checks, hour};

use super::{access_event_count, in_review, merges, status};

const NEW: &str = "acme/store";

async fn renamed_story(webhooks: bool) {
    let (world, job) = in_review(webhooks).await;
    world.sandbox.github().rename_repo(REPO, NEW);
    merges(&world, &job, MINUTE * 20).await;
    world.pass(MINUTE).await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.merges, counters.branch_deletes), (1, 1));
    assert_eq!(
        access_event_count(&world).await,
        1,
        "the new name is told once"
    );
    assert_eq!(status(&world).await, ["github_renamed"]);
    assert!(world.gives(&job, "github_renamed").await);
    let merged = world.sandbox.github().pull(NEW, 1).expect("a pull request");
    assert_eq!(merged.merged_sha.as_ref(), Some(&merged.head_sha));
    world.finish().await;
}

#[tokio::test]
async fn a_repository_that_was_renamed_goes_on_under_its_new_name() {
    renamed_story(false).await;
}

#[tokio::test]
async fn the_same_with_webhooks_that_name_the_new_name() {
    renamed_story(true).await;
}

/// Renames the repository away and puts another one in its place, with a pull request that looks the same and is
/// green.
async fn replaced() -> (World, domain::ids::JobId) {
    let (world, job) = in_review(false).await;
    put_in_its_place(&world);
    (world, job)
}

fn put_in_its_place(world: &World) {
    let (github, now) = (world.sandbox.github(), world.clock.now());
    let real = world.pull(1);
    github.rename_repo(REPO, "acme/old");
    let ci = CiSetup {
        checks: green_checks(),
        ..CiSetup::default()
    };
    let made = github.add_repo(now, RepoSetup::new(REPO).with_ci(ci));
    made.expect("a repository");
    let lookalike = NewPull {
        title: real.title.clone(),
        body: real.body.clone(),
        head_branch: real.head_ref.clone(),
        author_login: "google-labs-jules[bot]".to_owned(),
        files: vec![ChangedFile::modified("src/evil.rs")],
        ..NewPull::default()
    };
    assert_eq!(github.open_pull(now, REPO, lookalike), 1);
}

/// No reading of the pull request distinguishes it yet from one of the right repository; only the name's number does.
#[tokio::test]
async fn a_session_that_works_in_another_repository_of_the_same_name_merges_nothing() {
    let (world, first) = in_review(false).await;
    merges(&world, &first, MINUTE * 20).await;
    put_in_its_place(&world);
    let second = world.submit("Add another test").await;
    let before = world.sandbox.counters().github_writes;
    world.pass(hour(1)).await;
    let made = world.sandbox.github().pull(REPO, 2);
    assert!(made.is_some_and(|pull| pull.merged_sha.is_none()));
    assert_eq!(world.sandbox.counters().github_writes, before);
    assert_eq!(status(&world).await, ["github_replaced"]);
    assert!(world.gives(&second, "github_replaced").await);
    world.finish().await;
}

#[tokio::test]
async fn another_repository_of_the_same_name_is_never_written_to() {
    let (world, job) = replaced().await;
    let before = world.sandbox.counters().github_writes;
    world.pass(hour(2)).await;
    assert_eq!(world.sandbox.counters().github_writes, before);
    assert_eq!(access_event_count(&world).await, 1);
    assert_eq!(status(&world).await, ["github_replaced"]);
    assert!(world.gives(&job, "github_replaced").await);
    assert_eq!(world.state(&job).await, "in-review");

    // The name leads to the right one again: nothing was lost.
    let github = world.sandbox.github();
    github.remove_repo(REPO);
    github.rename_repo("acme/old", REPO);
    merges(&world, &job, MINUTE * 20).await;
    assert_eq!(status(&world).await, [""; 0]);
    world.finish().await;
}

#[tokio::test]
async fn a_person_who_means_the_new_one_does_not_hand_it_the_old_pull_requests() {
    let (world, job) = replaced().await;
    world.pass(MINUTE * 5).await;
    let id = world.sandbox.github().repo_id(REPO).expect("a number");
    let repo = REPO.parse().expect("a repository");
    let found = world.backend.store.reach(&repo).await.expect("a reach");
    let mut unit = world.backend.unit();
    let list = engine::keys::listed(engine::keys::REPOSITORY_ACCESS, repo.key());
    let place = engine::backend::IndexEntry {
        list,
        ..Default::default()
    };
    let meant = found.value.meant(RepoId(id));
    unit.put(
        engine::keys::repository_access(&repo),
        &meant,
        Some(found.version),
        place,
    );
    world.backend.commit(unit).await.expect("a commit");
    let before = world.sandbox.counters().github_writes;
    world.pass(hour(1)).await;
    assert_eq!(world.sandbox.counters().github_writes, before);
    world.must_give(&job, "not_ours").await;
    assert_eq!(status(&world).await, [""; 0]);
    world.finish().await;
}

#[tokio::test]
async fn a_webhook_of_another_repository_of_the_same_name_is_about_nothing() {
    let (world, _) = in_review(false).await;
    let id = world.sandbox.github().repo_id(REPO).expect("a number");
    let asked = || world.requests(Service::GitHub, "GET", "").len();
    let hook = |repo: &str, id| {
        Work::Webhook(WebhookEvent {
            repo: repo.parse().expect("a repository"),
            repo_id: RepoId(id),
            number: Some(1),
            sha: None,
            received_at: world.clock.now(),
            news: domain::pull::DeliveryHint::Changed,
        })
    };
    world.clock.advance(tests::world::SECOND * 10);
    let before = asked();
    for (repo, id) in [(REPO, id + 1), ("evil/shop", id + 1), ("evil/shop", 0)] {
        world
            .dispatcher
            .handle(&hook(repo, id))
            .await
            .expect("done");
    }
    assert_eq!(asked(), before, "nothing was even looked at");
    // The right number counts under any name.
    world.dispatcher.handle(&hook(NEW, id)).await.expect("done");
    assert!(asked() > before);
}
