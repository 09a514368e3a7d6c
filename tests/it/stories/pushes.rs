//! Sessions that are pushed to us: seen at once, never believed, and asked for less often.

use domain::ids::JobId;
use jiff::SignedDuration;
use sandbox::{Fault, FaultKind, Service};
use serde_json::json;
use tests::world::{MINUTE, SECOND, World, asks, from_work, progress, scenario, story};

/// A world with one job at work, which asks a question after a while.
async fn asks_after(time: SignedDuration) -> (World, JobId) {
    let ask = asks(time, "Which database?");
    let steps = vec![progress(SECOND, "Working"), ask];
    let world = World::on_green(scenario(vec![story("ask", from_work(steps))])).await;
    let job = world.submit("ask").await;
    world.until_is(MINUTE, &job, "working").await;
    (world, job)
}

/// Pushes a session to the API as Jules shows it, but in this state.
async fn push(world: &World, job: &JobId, state: &str) {
    let session = world.session(job).await.id;
    let body = json!({ "name": format!("sessions/{session}"), "id": session, "state": state });
    let (status, answer) = world.post("/webhooks/jules", &body).await;
    assert_eq!(status, 202, "{answer}");
    assert_eq!(answer["job_id"], json!(job));
}

/// Handles all messages there are; no poller runs.
async fn handle(world: &World) {
    while world.dispatcher.drain().await.expect("a queue") > 0 {}
}

fn asked(world: &World) -> usize {
    world.requests(Service::Jules, "GET", "/sessions").len()
}

#[tokio::test]
async fn a_pushed_question_is_seen_at_once_and_a_forged_end_is_not_believed() {
    let (world, job) = asks_after(MINUTE * 2).await;
    // No poller runs from here on.
    push(&world, &job, "COMPLETED").await;
    let before = asked(&world);
    handle(&world).await;
    assert_eq!(asked(&world) - before, 2, "the session and its log");
    assert_eq!(world.state(&job).await, "working");
    assert!(world.all_events().await.is_empty());

    world.clock.advance(MINUTE * 3);
    world.sandbox.advance();
    push(&world, &job, "AWAITING_USER_FEEDBACK").await;
    handle(&world).await;
    assert_eq!(world.state(&job).await, "asking");
    assert_eq!(world.events(&job).await, ["question/question"]);
}

#[tokio::test]
async fn doubled_pushes_are_one_event_and_few_readings() {
    let (world, job) = asks_after(MINUTE * 2).await;
    world.clock.advance(MINUTE * 3);
    world.sandbox.advance();
    let before = asked(&world);
    for _ in 0..20 {
        push(&world, &job, "AWAITING_USER_FEEDBACK").await;
    }
    handle(&world).await;
    assert_eq!(asked(&world) - before, 2);
    // The others wait until it may have changed, and then cause one more read.
    world.clock.advance(SECOND * 5);
    handle(&world).await;
    assert_eq!(asked(&world) - before, 4);
    world.clock.advance(SECOND * 5);
    handle(&world).await;
    assert_eq!(asked(&world) - before, 4);
    assert_eq!(world.events(&job).await, ["question/question"]);
    assert_eq!(world.sandbox.counters().wakes_received, 1);
}

#[tokio::test]
async fn what_is_pushed_is_polled_ten_times_less_often_and_nothing_is_missed() {
    let (world, job) = asks_after(MINUTE * 55).await;
    world.pass(MINUTE).await;
    let shown = || {
        let all = world.requests(Service::Jules, "GET", "/sessions/");
        let logs = world.requests(Service::Jules, "GET", "/activities");
        all.len() - logs.len()
    };
    let polls = async |time: SignedDuration| {
        let before = shown();
        world.pass(time).await;
        shown() - before
    };
    let usual = polls(MINUTE * 10).await;
    assert!(usual >= 59, "{usual}");
    push(&world, &job, "IN_PROGRESS").await;
    world.step().await;
    let fewer = polls(MINUTE * 10).await;
    // Apart from its turns it is read when it has been silent for too long.
    assert!(fewer <= usual / 6, "{fewer} of {usual}");
    // The pushes end: after half an hour it is read as before.
    world.pass(MINUTE * 21).await;
    let again = polls(MINUTE * 10).await;
    assert!(again >= 59, "{again}");

    // Pushed again, the question comes without a push: the polls that are left find it.
    push(&world, &job, "IN_PROGRESS").await;
    world.until_is(MINUTE * 15, &job, "asking").await;
    assert_eq!(
        world.events(&job).await.last().map(String::as_str),
        Some("question/question")
    );
}

/// An account with errors keeps its own pace, whatever is pushed.
#[tokio::test]
async fn pushes_do_not_press_an_account_in_trouble() {
    let (world, job) = asks_after(MINUTE * 20).await;
    let busy = FaultKind::status(429);
    let busy = Fault::new(Service::Jules, "", busy);
    world.sandbox.faults().add(busy);
    world.pass(MINUTE).await;
    let before = asked(&world);
    for _ in 0..5 {
        push(&world, &job, "COMPLETED").await;
        world.clock.advance(SECOND * 6);
        handle(&world).await;
    }
    assert_eq!(asked(&world), before);
}
