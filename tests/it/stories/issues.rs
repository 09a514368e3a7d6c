//! From a labelled issue to a closed delivery.

use domain::delivery::{Act, Actor, Checkpoints, Command, Delivery, Phase, ReviewBy, Rules};
use domain::ids::DeliveryId;
use domain::policy::{MergePolicy, Source};
use sandbox::github::NewIssue;
use tests::world::{MINUTE, REPO, Setup, World, hour, source};

const LABEL: &str = "gaffer";

/// A source whose labelled issues become deliveries.
fn taking(change: impl FnOnce(&mut Rules)) -> Source {
    let mut source = source();
    source.policy.merge = MergePolicy::OnGreen;
    let rules = &mut source.deliveries;
    rules.label = Some(LABEL.parse().expect("a label"));
    rules.endpoint = domain::delivery::Endpoint::VERIFY;
    rules.checkpoints = Checkpoints::at(&[Phase::Plan]).expect("checkpoints");
    rules.review_by = Some(ReviewBy::Nobody);
    change(rules);
    source
}

async fn world_with(source: Source, webhooks: bool) -> World {
    World::with(Setup {
        source,
        webhooks,
        ..Setup::default()
    })
    .await
}

fn open_issue(world: &World, title: &str, body: &str) -> u64 {
    let issue = NewIssue {
        title: title.to_owned(),
        body: body.to_owned(),
        author_login: "ann".to_owned(),
        labels: vec![LABEL.to_owned()],
    };
    let now = world.clock.now();
    world.sandbox.github().open_issue(now, REPO, issue)
}

fn id_of(number: u64) -> DeliveryId {
    DeliveryId::of_issue(&REPO.parse().expect("a repository"), number)
}

async fn delivery(world: &World, number: u64) -> Option<Delivery> {
    let found = world.backend.store.get::<Delivery>(&id_of(number)).await;
    found.expect("a store").map(|found| found.value)
}

async fn place(world: &World, number: u64) -> String {
    match delivery(world, number).await {
        Some(it) => format!("{}/{}", it.phase, it.run_status),
        None => "none".to_owned(),
    }
}

async fn until(world: &World, number: u64, wanted: &str) {
    let is_so = async |world: &World| place(world, number).await == wanted;
    Box::pin(world.until(hour(1), wanted, is_so)).await;
}

async fn order(world: &World, number: u64, act: Act) {
    let command = Command {
        id: format!("test:{}", world.backend.ulid()),
        by: Actor::person("ann"),
        act,
    };
    let taken = world
        .backend
        .command_delivery(&id_of(number), &command)
        .await;
    taken.expect("a command that is taken");
}

/// Story (a) in its shortest form: labelled, started, approved, merged, closed.
async fn straight_through(webhooks: bool) {
    let world = world_with(taking(|_| {}), webhooks).await;
    let number = open_issue(&world, "Add a test", "Please.\n- [ ] it is green\n");
    until(&world, number, "plan/pending").await;
    let taken = delivery(&world, number).await.expect("a delivery");
    assert_eq!(taken.acceptance_criteria, ["it is green"]);
    world.pass(MINUTE * 30).await;
    assert_eq!(world.sandbox.counters().creates, 0, "nobody started it");

    order(&world, number, Act::Start).await;
    until(&world, number, "plan/succeeded").await;
    let planned = delivery(&world, number).await.expect("a delivery");
    assert!(planned.plan.is_some(), "{planned:?}");
    world.pass(MINUTE * 30).await;
    assert_eq!(world.sandbox.counters().approve_calls, 0);

    order(&world, number, Act::Approve { head: None }).await;
    until(&world, number, "close/succeeded").await;
    world.pass(hour(2)).await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.merges), (1, 1));
    let github = world.sandbox.github();
    assert_eq!(github.is_closed(REPO, number), Some(true));
    assert_eq!(
        world.wake_names(),
        [""; 0],
        "zero bytes while it progresses"
    );
    world.finish().await;
}

#[tokio::test]
async fn a_labelled_issue_becomes_a_closed_delivery() {
    straight_through(false).await;
}

#[tokio::test]
async fn the_same_with_webhooks() {
    straight_through(true).await;
}
