//! Records of deliveries and of the reading of issues: how large they get, when they are due, and when they go.

use domain::delivery::{
    Act, Actor, Checkpoints, Command, Delivery, IssueText, PLAN_BYTES_MAX, Part, Phase, PlanBy,
    Ref, RefRole, RefType, ReviewBy, RunStatus,
};
use domain::ids::{DeliveryId, RepoName};
use domain::intake::Intake;
use domain::policy::Source;
use domain::web_page::WebPage;
use engine::backend::Error;
use engine::deliveries::DeliveryOrder;
use engine::keys;
use engine::ports::BODY_BYTES_MAX;
use sandbox::github::NewIssue;
use tests::world::{MINUTE, REPO, World, hour, source};

fn repo() -> RepoName {
    REPO.parse().expect("a repository")
}

/// A source that takes issues with a label, and starts nothing by itself.
fn taking(label: Option<&str>) -> Source {
    let mut source = source();
    let rules = &mut source.deliveries;
    rules.label = label.map(|label| label.parse().expect("a label"));
    rules.checkpoints = Checkpoints::at(&[Phase::Plan]).expect("checkpoints");
    rules.plan_by = PlanBy::Human;
    rules.review_by = Some(ReviewBy::Human);
    source
}

async fn world_with(source: Source) -> World {
    World::of(sandbox::Scenario::default(), source).await
}

fn open_issue(world: &World, label: &str) -> DeliveryId {
    let issue = NewIssue {
        title: "Add search".to_owned(),
        body: String::new(),
        author_login: "ann".to_owned(),
        labels: vec![label.to_owned()],
    };
    let now = world.clock.now();
    let number = world.sandbox.github().open_issue(now, REPO, issue);
    DeliveryId::of_issue(&repo(), number)
}

async fn delivery(world: &World, id: &DeliveryId) -> Option<Delivery> {
    let found = world.backend.store.get::<Delivery>(id).await;
    found.expect("a store").map(|found| found.value)
}

async fn change_source(world: &World, change: impl FnOnce(&mut Source)) {
    let found = world.backend.store.source(&repo()).await.expect("a store");
    let found = found.expect("a source");
    let mut next = found.value.clone();
    change(&mut next);
    let saved = world.backend.save_source(Some(&found), &next).await;
    saved.expect("a saved source");
}

async fn intake(world: &World) -> Option<Intake> {
    let found = world.backend.store.get::<Intake>(&repo()).await;
    found.expect("a store").map(|found| found.value)
}

#[tokio::test]
async fn issues_are_read_while_a_label_is_set_and_from_the_beginning_with_another_one() {
    let world = world_with(taking(Some("gaffer"))).await;
    let (taken, other) = (open_issue(&world, "gaffer"), open_issue(&world, "deliver"));
    change_source(&world, |_| {}).await;
    world.pass(MINUTE * 30).await;
    assert!(delivery(&world, &taken).await.is_some());
    assert!(delivery(&world, &other).await.is_none());

    change_source(&world, |source| source.deliveries.label = None).await;
    assert_eq!(intake(&world).await, None);
    let later = open_issue(&world, "gaffer");
    world.pass(MINUTE * 30).await;
    assert_eq!(intake(&world).await, None);
    assert!(delivery(&world, &later).await.is_none());

    // It got this label long before the source did.
    let label = || "deliver".parse().ok();
    change_source(&world, |source| source.deliveries.label = label()).await;
    world.pass(MINUTE).await;
    assert!(delivery(&world, &other).await.is_some());
    world.finish().await;
}

#[tokio::test]
async fn a_row_that_is_left_of_an_intake_goes_when_it_is_due() {
    let world = world_with(taking(None)).await;
    let left = Intake {
        due: Some(world.clock.now()),
        ..Intake::default()
    };
    let inserted = world.backend.insert(&repo(), &left).await;
    assert!(inserted.expect("a store"));
    world.pass(MINUTE).await;
    assert_eq!(intake(&world).await, None);
    world.finish().await;
}

/// A delivery whose every text is as long as it may be.
fn largest() -> DeliveryOrder {
    let reference = |n: usize| Ref {
        role: RefRole::Trigger,
        kind: RefType::Jira,
        label: format!("{n:0>110}"),
        url: WebPage::from_service(&format!("https://example.com/{}", "x".repeat(180))),
    };
    DeliveryOrder {
        repo: repo(),
        issue: None,
        requirement: None,
        again: false,
        text: IssueText {
            summary: "\u{1F980}".repeat(domain::delivery::TITLE_CHARS_MAX),
            description: Some("x".repeat(domain::delivery::DESCRIPTION_BYTES_MAX - 2)),
            acceptance_criteria: vec!["y".repeat(200); domain::delivery::CRITERIA_MAX],
        },
        refs: (0..domain::delivery::REFS_MAX - 1).map(reference).collect(),
        priority: None,
        parent: None,
        id: None,
        by: Actor::person("kim"),
    }
}

async fn order(world: &World, id: &DeliveryId, act: Act) -> Result<Delivery, &'static str> {
    let command = Command {
        id: world.backend.ulid().to_string(),
        by: Actor::person("kim"),
        act,
    };
    match world.backend.command_delivery(id, &command).await {
        Ok(delivery) => Ok(delivery),
        Err(Error::Transition(refused)) => Err(refused.code),
        Err(error) => panic!("{error}"),
    }
}

/// Whatever is stored of a delivery fits: what would not is refused with a sentence, and never by the store.
#[tokio::test]
async fn the_longest_delivery_is_stored_until_its_history_is_full() {
    let world = world_with(taking(None)).await;
    let created = world.backend.create_delivery(&largest()).await;
    let id = created.expect("a store").expect("a new delivery").id;
    order(&world, &id, Act::Start).await.expect("a start");
    let plan = || Act::Plan {
        content: "p".repeat(PLAN_BYTES_MAX - 2),
        target_files: vec!["\u{1F980}".repeat(200); 5],
    };
    let reject = || Act::Reject {
        reason: "\u{1F980}".repeat(domain::delivery::FEEDBACK_CHARS_MAX),
    };
    let mut rounds = 0;
    let refused = loop {
        let planned = order(&world, &id, plan()).await;
        if let Err(code) = planned {
            break code;
        }
        if let Err(code) = order(&world, &id, reject()).await {
            break code;
        }
        rounds += 1;
    };
    assert_eq!((refused, rounds > 3), ("history_full", true), "{rounds}");
    let parts = vec![
        Part {
            summary: "z".repeat(200),
            acceptance_criteria: vec!["y".repeat(200)],
        };
        20
    ];
    let split = order(&world, &id, Act::Split { children: parts }).await;
    assert_eq!(split.map(drop), Err("history_full"));
    let records = world.backend.store.records();
    let record = records.get(&keys::delivery(&id)).await.expect("a store");
    let bytes = record.expect("a record").body.len();
    assert!(bytes > BODY_BYTES_MAX / 2, "{bytes}");
    assert!(bytes <= BODY_BYTES_MAX, "{bytes}");
    world.pass(hour(2)).await;
    world.finish().await;
}

/// The place in lists is by age, and a page begins where the one before it ended: that time never changes.
#[tokio::test]
async fn a_delivery_keeps_the_time_of_its_creation_when_the_clock_was_ahead() {
    let world = world_with(taking(None)).await;
    world.drift.be_ahead(hour(6));
    world.pass(MINUTE).await;
    let order = DeliveryOrder {
        refs: Vec::new(),
        ..largest()
    };
    let created = world.backend.create_delivery(&order).await;
    let created = created.expect("a store").expect("a new delivery");
    world.drift.be_ahead(hour(0));
    world.pass(MINUTE * 2).await;
    let found = world.backend.store.get::<Delivery>(&created.id).await;
    let found = found.expect("a store").expect("a delivery");
    assert_eq!(found.value.created_at, created.created_at);
    assert!(found.due.expect("a due") < world.clock.now() + hour(2));
    let listed = world.backend.store.open_deliveries().await.expect("a list");
    assert_eq!(listed.len(), 1);
    world.finish().await;
}

/// A source may be removed while a delivery has failed: nothing is due for ever then.
#[tokio::test]
async fn a_failed_delivery_without_its_source_is_not_due_for_ever() {
    let world = world_with(taking(None)).await;
    let created = world.backend.create_delivery(&largest()).await;
    let id = created.expect("a store").expect("a new delivery").id;
    order(&world, &id, Act::Start).await.expect("a start");
    let failed = order(&world, &id, Act::Cancel).await.expect("a cancel");
    assert_eq!(failed.run_status, RunStatus::Failed);
    world.pass(MINUTE).await;
    let source = world.backend.store.source(&repo()).await.expect("a store");
    let mut unit = world.backend.unit();
    unit.delete(keys::source(&repo()), &source.expect("a source"));
    world.backend.commit(unit).await.expect("a removal");
    world.pass(hour(3)).await;
    let found = world.backend.store.get::<Delivery>(&id).await;
    assert_eq!(found.expect("a store").expect("a delivery").due, None);
    let (_, dead) = world.backend.queue.depth().await.expect("a queue");
    assert_eq!(dead, 0);
}
