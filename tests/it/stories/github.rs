//! GitHub does not let us work: its credential, its permissions, its limits, and repositories that are not where they were.

mod identity;
mod limits;
mod permissions;
mod protection;

use domain::ids::JobId;
use sandbox::github::{DEFAULT_TOKEN, TokenSetup};
use sandbox::{Fault, FaultKind, Service};
use serde_json::json;
use tests::world::{MINUTE, World, hour, on_green};

/// A world in which one job has its pull request in review, green and settling.
async fn in_review(webhooks: bool) -> (World, JobId) {
    let world = World::hearing(sandbox::Scenario::default(), on_green(), webhooks).await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 10, &job, "in-review").await;
    (world, job)
}

async fn merges(world: &World, job: &JobId, within: jiff::SignedDuration) {
    world.until_is(within, job, "merged").await;
    assert_eq!(world.sandbox.counters().merges, 1);
}

/// The number of events about GitHub.
async fn access_event_count(world: &World) -> usize {
    let events = world.all_events().await;
    events.iter().filter(|it| *it == "error/github").count()
}

/// Codes in the GitHub part of `gaffer status`.
async fn status(world: &World) -> Vec<String> {
    let status = world.backend.status().await.expect("a status");
    let trouble = status.github.trouble.into_iter();
    trouble.map(|reason| reason.code).collect()
}

#[tokio::test]
async fn a_dead_token_is_told_once_and_a_new_one_is_enough() {
    let (world, job) = in_review(false).await;
    world.sandbox.github().revoke_token(DEFAULT_TOKEN);
    world.pass(hour(2)).await;
    assert_eq!(access_event_count(&world).await, 1);
    assert_eq!(status(&world).await, ["github_sign_in"]);
    assert!(world.gives(&job, "github_sign_in").await);
    assert_eq!(world.sandbox.counters().merge_calls, 0);
    let wakes = world.wakes();
    let wake = wakes.last().expect("a wake");
    assert_eq!(
        (&wake["kind"], &wake["job_id"]),
        (&json!("github"), &json!(null))
    );

    world.secrets.put("github", "ghp_another");
    world.sandbox.github().add_token(TokenSetup {
        token: "ghp_another".to_owned(),
        ..TokenSetup::default()
    });
    merges(&world, &job, MINUTE * 20).await;
    assert_eq!(
        (access_event_count(&world).await, status(&world).await),
        (1, vec![])
    );
    world.finish().await;
}

#[tokio::test]
async fn an_organisation_that_wants_a_single_sign_on_is_told_as_such() {
    let (world, job) = in_review(false).await;
    let message = "Resource protected by organization SAML enforcement. You must grant your OAuth token access to this organization.";
    let saml = FaultKind::Status {
        code: 403,
        retry_after_secs: None,
        body: Some(json!({ "message": message })),
    };
    let fault = Fault::new(Service::GitHub, "/repos/acme/shop", saml);
    world.sandbox.faults().add(fault);
    world.pass(hour(1)).await;
    assert_eq!(access_event_count(&world).await, 1);
    assert_eq!(status(&world).await, ["github_blocked"]);
    let why = world.backend.why(&job).await.expect("a why");
    let says = |words: &str| why.because.iter().any(|it| it.sentence.contains(words));
    assert!(says("SAML") && says("single sign-on"), "{why:#?}");

    world.sandbox.faults().clear();
    merges(&world, &job, MINUTE * 20).await;
    assert_eq!(
        (access_event_count(&world).await, status(&world).await),
        (1, vec![])
    );
    world.finish().await;
}

#[tokio::test]
async fn a_repository_out_of_sight_is_told_once_and_found_again() {
    let (world, job) = in_review(false).await;
    let seeing = |repos| TokenSetup {
        repos,
        ..TokenSetup::default()
    };
    for outage in 1..=2 {
        world.sandbox.github().add_token(seeing(Some(Vec::new())));
        world.pass(MINUTE * 30).await;
        assert_eq!(access_event_count(&world).await, outage);
        assert_eq!(status(&world).await, ["github_missing"]);
        assert!(world.gives(&job, "github_missing").await);
        world.sandbox.github().add_token(seeing(None));
        if outage == 1 {
            world
                .until(MINUTE * 6, "found again", async |world| {
                    status(world).await.is_empty()
                })
                .await;
        }
    }
    merges(&world, &job, MINUTE * 20).await;
    world.finish().await;
}

#[tokio::test]
async fn one_404_alone_is_told_to_nobody() {
    let (world, job) = in_review(false).await;
    let lagging = FaultKind::status(404);
    let fault = Fault::new(Service::GitHub, "/pulls/1", lagging.clone());
    world.sandbox.faults().add(fault.next(1));
    merges(&world, &job, MINUTE * 20).await;
    assert_eq!(
        (access_event_count(&world).await, status(&world).await),
        (0, vec![])
    );
    world.finish().await;
}

#[tokio::test]
async fn a_pull_request_that_is_gone_is_told_once() {
    let (world, job) = in_review(false).await;
    let gone = FaultKind::status(404);
    let fault = Fault::new(Service::GitHub, "/pulls/1", gone);
    world.sandbox.faults().add(fault);
    world.pass(hour(1)).await;
    assert_eq!(access_event_count(&world).await, 1);
    assert_eq!(status(&world).await, ["github_pull_lost"]);
    assert!(world.gives(&job, "github_pull_lost").await);
    world.sandbox.faults().clear();
    merges(&world, &job, MINUTE * 20).await;
    assert_eq!(status(&world).await, [""; 0]);
    world.finish().await;
}
