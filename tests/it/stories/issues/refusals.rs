//! What a delivery needs and does not get, and what is said of it.

use domain::delivery::Fault as Failed;
use domain::job::{WaitParty, WaitReason};

use super::*;

/// A job whose branch looks like a token is refused.
const TOKEN_LIKE: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

async fn save(world: &World, change: impl FnOnce(&mut Source)) {
    let repo = REPO.parse().expect("a repository");
    let found = world.backend.store.source(&repo).await.expect("a store");
    let mut next = found.as_ref().expect("a source").value.clone();
    change(&mut next);
    let saved = world.backend.save_source(found.as_ref(), &next).await;
    saved.expect("a saved source");
}

async fn first_reason(world: &World, number: u64) -> (&'static str, String) {
    let shown = world.backend.delivery_shown(&id_of(number)).await;
    let first = shown.expect("a delivery").because.remove(0);
    (first.code, first.sentence)
}

#[tokio::test]
async fn a_session_that_is_refused_is_told_at_once_and_fails_its_phase_after_an_hour() {
    let source = taking(|rules| rules.checkpoints = Checkpoints::none());
    let world = world_with(source, false).await;
    let usual = taking(|_| {}).branch;
    let refused = TOKEN_LIKE.parse().expect("a branch");
    save(&world, |source| source.branch = Some(refused)).await;
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "plan/running").await;
    world.pass(MINUTE).await;
    let (code, sentence) = first_reason(&world, number).await;
    assert_eq!(code, "refused");
    assert!(
        sentence.contains("holds what looks like a secret"),
        "{sentence}"
    );
    world.pass(MINUTE * 30).await;
    assert_eq!(place(&world, number).await, "plan/running");
    until(&world, number, "plan/failed").await;
    let failed = delivery(&world, number).await.expect("a delivery");
    assert_eq!(failed.error.expect("an error").code, Failed::NotBegun);
    world.pass(MINUTE * 10).await;
    assert_eq!(world.wake_names(), ["error/phase_failed"]);

    save(&world, |source| source.branch = usual).await;
    order(&world, number, Act::Retry { reason: None }).await;
    until(&world, number, "close/succeeded").await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.messages), (1, 0));
}

#[tokio::test]
async fn an_issue_that_could_not_be_closed_is_told_of_and_closed_later() {
    let source = taking(|rules| rules.checkpoints = Checkpoints::none());
    let world = world_with(source, false).await;
    let kind = FaultKind::status(422);
    let refused = Fault::new(Service::GitHub, "/issues/", kind)
        .on("PATCH")
        .saying("state_reason");
    world.sandbox.faults().add(refused);
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "close/succeeded").await;
    world.pass(MINUTE * 3).await;
    let codes = async || {
        let shown = world.backend.delivery_shown(&id_of(number)).await;
        let because = shown.expect("a delivery").because.into_iter();
        because.map(|reason| reason.code).collect::<Vec<_>>()
    };
    assert_eq!(codes().await, ["closed", "issue_left_open"]);
    let github = world.sandbox.github();
    assert_eq!(github.is_closed(REPO, number), Some(false));
    world.sandbox.faults().clear();
    world.pass(MINUTE * 25).await;
    assert_eq!(github.is_closed(REPO, number), Some(true));
    assert_eq!(codes().await, ["closed"]);
}

/// A session that takes no message will never do what it has to be told: nothing else would end the wait for it.
#[tokio::test]
async fn a_message_that_jules_keeps_refusing_fails_its_phase_and_calls_a_person() {
    let world = world_with(taking(|_| {}), false).await;
    let kind = FaultKind::status(403);
    let refused = Fault::new(Service::Jules, ":sendMessage", kind).on("POST");
    world.sandbox.faults().add(refused);
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "plan/pending").await;
    order(&world, number, Act::Start).await;
    until(&world, number, "plan/succeeded").await;
    let reason = "Test the cart, too".to_owned();
    order(&world, number, Act::Reject { reason }).await;
    world.pass(MINUTE * 5).await;
    assert_eq!(place(&world, number).await, "plan/running");
    let task = delivery(&world, number).await.expect("a delivery").task;
    let job = task.job.expect("a job");
    assert!(world.gives(&job, "message_waits").await);
    let is_over = async |world: &World| place(world, number).await == "plan/failed";
    Box::pin(world.until(hour(4), "plan/failed", is_over)).await;
    world.pass(MINUTE).await;
    let (code, sentence) = first_reason(&world, number).await;
    assert_eq!(code, "message_refused");
    assert!(sentence.contains("in 10 attempts"), "{sentence}");
    let shown = world.backend.delivery_shown(&id_of(number)).await;
    let waits_for = shown.expect("a delivery").waits_for;
    assert_eq!(waits_for.who, WaitParty::Person);
    let told = world.all_events().await;
    assert!(told.iter().any(|it| it == "error/phase_failed"), "{told:?}");
    let is_told_each = told.iter().any(|it| it == "error/message_failed");
    assert!(!is_told_each, "{told:?}");
    assert!(
        !world
            .wake_names()
            .contains(&"error/phase_failed".to_owned())
    );
    let sent = world.requests(Service::Jules, "POST", ":sendMessage");
    assert_eq!(sent.len(), 10);

    order(&world, number, Act::Retry { reason: None }).await;
    until(&world, number, "plan/succeeded").await;
    order(&world, number, Act::APPROVE).await;
    until(&world, number, "close/succeeded").await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.messages), (2, 0));
}

/// An outage passes, and so does a key that does not work: the session that was to be told something is not given up for it.
#[tokio::test]
async fn a_message_waits_for_jules_as_long_as_an_outage_lasts() {
    // The key is refused, or may do nothing; or only messages fail.
    for (code, path) in [(401, ""), (403, ""), (503, ":sendMessage")] {
        let (world, number) = planned().await;
        let kind = FaultKind::status(code);
        let outage = Fault::new(Service::Jules, path, kind);
        world.sandbox.faults().add(outage);
        let reason = "Test the cart, too".to_owned();
        order(&world, number, Act::Reject { reason }).await;
        world.pass(hour(3)).await;
        assert_eq!(place(&world, number).await, "plan/running", "{code}");
        let task = delivery(&world, number).await.expect("a delivery").task;
        let job = task.job.expect("a job");
        world.until_gives(hour(1), &job, "message_waits").await;

        world.sandbox.faults().clear();
        let is_planned = async |world: &World| place(world, number).await == "plan/succeeded";
        Box::pin(world.until(hour(2), "plan/succeeded", is_planned)).await;
        let counters = world.sandbox.counters();
        assert_eq!((counters.creates, counters.messages), (1, 1), "{code}");
    }
}

/// A world in which Jules refuses the approval of the plan of a delivery.
async fn refusing_approval() -> (World, u64) {
    let world = world_with(taking(|_| {}), false).await;
    let kind = FaultKind::status(400);
    let refused = Fault::new(Service::Jules, ":approvePlan", kind).on("POST");
    world.sandbox.faults().add(refused);
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "plan/pending").await;
    order(&world, number, Act::Start).await;
    until(&world, number, "plan/succeeded").await;
    order(&world, number, Act::APPROVE).await;
    world.pass(MINUTE * 2).await;
    (world, number)
}

#[tokio::test]
async fn an_approval_that_jules_refuses_is_told_and_tried_again() {
    let (world, number) = refusing_approval().await;
    assert_eq!(place(&world, number).await, "implement/running");
    let (code, sentence) = first_reason(&world, number).await;
    assert_eq!(code, "approval_refused");
    assert!(sentence.contains("tried again at"), "{sentence}");
    let shown = world.backend.delivery_shown(&id_of(number)).await;
    let waits_for = shown.expect("a delivery").waits_for;
    assert_eq!(waits_for.what, WaitReason::ApprovalRefused);
    let told = world.all_events().await;
    let is_told = told.iter().any(|it| it == "error/approval_failed");
    assert!(!is_told, "{told:?}");

    world.sandbox.faults().clear();
    until(&world, number, "close/succeeded").await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.approvals), (1, 1));
}

#[tokio::test]
async fn an_approval_that_jules_keeps_refusing_fails_its_phase_and_calls_a_person() {
    let (world, number) = refusing_approval().await;
    let is_over = async |world: &World| place(world, number).await == "implement/failed";
    Box::pin(world.until(hour(2), "implement/failed", is_over)).await;
    world.pass(MINUTE).await;
    let (code, sentence) = first_reason(&world, number).await;
    assert_eq!(code, "approval_refused");
    assert!(sentence.contains("in 10 attempts"), "{sentence}");
    let shown = world.backend.delivery_shown(&id_of(number)).await;
    let waits_for = shown.expect("a delivery").waits_for;
    assert_eq!(waits_for.who, WaitParty::Person);
    let asked = world.requests(Service::Jules, "POST", ":approvePlan");
    assert_eq!(asked.len(), 10);
    let told = world.all_events().await;
    assert!(told.iter().any(|it| it == "error/phase_failed"), "{told:?}");
    let is_told_each = told.iter().any(|it| it == "error/approval_failed");
    assert!(!is_told_each, "{told:?}");

    world.sandbox.faults().clear();
    order(&world, number, Act::Retry { reason: None }).await;
    until(&world, number, "close/succeeded").await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.approvals), (2, 1));
}
