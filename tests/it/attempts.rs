//! What belongs to an earlier attempt of a job stays with it: its pull request, its create, its orders.

use sandbox::{Fault, FaultKind, Scenario, Service};
use tests::world::{
    MINUTE, SECOND, Setup, World, asking, green_checks, on_green, scenario, with_ci,
};

async fn world_of(scenario: Scenario) -> World {
    World::with(Setup {
        scenario,
        source: on_green(),
        ..Setup::default()
    })
    .await
}

#[tokio::test]
async fn the_pull_request_of_an_attempt_that_was_called_off_is_not_merged() {
    let mut checks = green_checks();
    checks[0].takes = MINUTE * 10;
    let ci = sandbox::github::CiSetup {
        checks,
        ..Default::default()
    };
    let world = world_of(with_ci(ci)).await;
    let job = world.submit("Add a test").await;
    world
        .until(MINUTE * 5, "a judged pull request", async |world| {
            world.gives(&job, "checks_pending").await
        })
        .await;
    let named = world.named(&job);
    let cancelled = world.desk.cancel_job(&named, "a person").await;
    cancelled.expect("the job is called off");
    world.step().await;
    world
        .desk
        .retry_job(&named)
        .await
        .expect("a second attempt");
    world
        .until(MINUTE * 60, "merged", async |world| {
            world.state(&job).await == "merged"
        })
        .await;
    world.pass(MINUTE * 30).await;

    assert_eq!(world.sandbox.counters().merge_calls, 1);
    assert_eq!(world.pull(1).merged_sha, None);
    assert!(world.pull(2).merged_sha.is_some());
    assert_eq!(world.sandbox.counters().messages, 0);
}

#[tokio::test]
async fn an_order_that_fails_for_good_is_told() {
    let world = world_of(scenario(vec![asking("ask me", "Which database?")])).await;
    let job = world.submit("ask me").await;
    world
        .until(MINUTE * 5, "a question", async |world| {
            world.state(&job).await == "asking"
        })
        .await;
    let refused = FaultKind::Status {
        code: 403,
        retry_after_secs: None,
        body: None,
    };
    let fault = Fault::new(Service::Jules, ":sendMessage", refused);
    world.sandbox.faults().add(fault.on("POST").next(1));
    let said = world.say(&job, "PostgreSQL", "answer-1").await;
    said.expect("an order");
    world.pass(MINUTE).await;
    assert_eq!(
        world.events(&job).await,
        ["question/question", "error/message_failed"]
    );
    assert_eq!(world.sandbox.counters().messages, 0);

    // Said again, it gets through, and the story goes on.
    let said = world.say(&job, "PostgreSQL", "answer-2").await;
    said.expect("an order");
    world
        .until(MINUTE * 10, "merged", async |world| {
            world.state(&job).await == "merged"
        })
        .await;
    assert_eq!(world.sandbox.counters().messages, 1);
    world.finish().await;
}

#[tokio::test]
async fn a_create_that_was_called_off_before_it_began_leaves_the_next_attempt_alone() {
    let world = world_of(Scenario::default()).await;
    world.pause(true).await;
    let job = world.submit("Add a test").await;
    world.pass(SECOND * 30).await;
    let named = world.named(&job);
    let cancelled = world.desk.cancel_job(&named, "a person").await;
    cancelled.expect("the job is called off");
    world
        .desk
        .retry_job(&named)
        .await
        .expect("a second attempt");
    world.pause(false).await;
    world
        .until(MINUTE * 20, "merged", async |world| {
            world.state(&job).await == "merged"
        })
        .await;
    assert_eq!(world.sandbox.counters().creates, 1);
    world.finish().await;
}
