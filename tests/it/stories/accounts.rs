//! Several accounts: each with its own key, its own budget and its own errors.

use domain::ids::JobId;
use sandbox::Scenario;
use sandbox::github::RepoSetup;
use sandbox::jules::AccountSetup;
use tests::world::{MINUTE, REPO, World, ci, green_checks, hour, on_green};

/// The repository of the second account.
const OTHER: &str = "acme/site";

async fn two_accounts() -> World {
    let account = |name: &str| AccountSetup {
        name: name.to_owned(),
        key: format!("key-of-{name}"),
        ..AccountSetup::default()
    };
    let repo = |name: &str| RepoSetup::new(name).with_ci(ci(green_checks()));
    let scenario = Scenario {
        accounts: vec![account("default"), account("second")],
        repos: vec![repo(REPO), repo(OTHER)],
        ..Scenario::default()
    };
    let world = World::on_green(scenario).await;
    let mut source = on_green();
    source.repo = OTHER.parse().expect("a repository");
    source.account = "second".parse().expect("an account");
    world.put_source(&source).await;
    world
}

async fn merged(world: &World, job: &JobId) {
    world.until_is(MINUTE * 15, job, "merged").await;
}

#[tokio::test]
async fn a_dead_key_is_one_event_and_the_other_account_goes_on() {
    let world = two_accounts().await;
    world.secrets.put("jules/default", "a key that was revoked");
    let waiting = world.submit("Add a test").await;
    let other = world.submit_to(OTHER, "Add a test").await;
    merged(&world, &other).await;
    world.pass(hour(3)).await;
    assert_eq!(
        world
            .all_events()
            .await
            .iter()
            .filter(|event| *event == "error/auth")
            .count(),
        1
    );
    let auth: Vec<_> = world
        .wakes()
        .into_iter()
        .filter(|wake| wake["kind"] == "auth")
        .collect();
    assert_eq!(auth.len(), 1);
    assert!(
        auth[0]["job_id"].is_null() && auth[0]["account"] == "default",
        "{auth:#?}"
    );
    assert!(world.gives(&waiting, "unauthorized").await);

    world.secrets.put("jules/default", "key-of-default");
    world.until_is(hour(1), &waiting, "merged").await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.merges), (2, 2));

    world
        .secrets
        .put("jules/default", "a key that was revoked again");
    world.pass(MINUTE * 30).await;
    assert_eq!(
        world
            .all_events()
            .await
            .iter()
            .filter(|event| *event == "error/auth")
            .count(),
        2
    );
    world.finish().await;
}

#[tokio::test]
async fn a_key_that_dies_under_way_stops_nothing_for_good() {
    let world = two_accounts().await;
    let job = world.submit("Add a test").await;
    world.until_count(MINUTE, |it| it.creates == 1).await;
    world
        .sandbox
        .jules()
        .switch(|it| it.disabled_accounts = vec!["default".to_owned()]);
    world.pass(MINUTE * 20).await;
    assert_eq!(world.all_events().await, ["error/auth"]);
    world
        .sandbox
        .jules()
        .switch(|it| it.disabled_accounts.clear());
    merged(&world, &job).await;
    assert_eq!(world.events(&job).await, ["completed/completed"]);
    world.finish().await;
}

#[tokio::test]
async fn each_account_has_its_own_slots() {
    let world = two_accounts().await;
    world.limit("default", 1, 100).await;
    world.limit("second", 2, 100).await;
    let mut jobs = Vec::new();
    for repo in [REPO, REPO, OTHER, OTHER] {
        jobs.push(world.submit_to(repo, "Add a test").await);
    }
    world.until_count(MINUTE, |it| it.creates == 3).await;
    let accounts: Vec<String> = world
        .sandbox
        .jules()
        .sessions()
        .into_iter()
        .map(|session| session.account)
        .collect();
    assert_eq!(
        accounts
            .iter()
            .filter(|account| *account == "default")
            .count(),
        1,
        "{accounts:?}"
    );
    world.until_merged(MINUTE * 20, &jobs).await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.create_calls), (4, 4));
    world.finish().await;
}
