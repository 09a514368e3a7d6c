//! Pausing, for all or for a source, and only observing: reading continues, writing stops, and afterwards everything resumes.

use engine::keys;
use sandbox::Scenario;
use sandbox::github::RepoSetup;
use tests::world::{
    MINUTE, Moment, REPO, SECOND, Setup, World, asking, ci, green_checks, hour, on_green, scenario,
};

/// A second repository of the sandbox.
const OTHER: &str = "acme/lib";

/// Writes that reached Jules or GitHub.
fn writes(world: &World) -> u64 {
    let it = world.sandbox.counters();
    it.create_calls
        + it.message_calls
        + it.approve_calls
        + it.archives
        + it.deletes
        + it.github_writes
}

async fn asking_world() -> World {
    World::on_green(scenario(vec![asking("ask me", "Which database?")])).await
}

#[tokio::test]
async fn a_pause_of_everything_stops_every_write_and_resuming_goes_on() {
    let world = asking_world().await;
    let asks = world.submit("ask me").await;
    world.until_is(MINUTE * 3, &asks, "asking").await;
    world.pause(true).await;
    let before = writes(&world);
    let queued = world.submit("Add a test").await;
    world.answer(&asks, "PostgreSQL", "answer").await;
    world.pass(hour(3)).await;
    assert_eq!(writes(&world), before);
    assert_eq!(
        (world.state(&queued).await, world.state(&asks).await),
        ("queued", "answered")
    );
    assert!(world.gives(&queued, "paused").await);

    world.pause(false).await;
    // A resume requests a reading at once.
    world.backend.go_on(None).await.expect("a queue");
    world.pass(SECOND * 2).await;
    assert!(writes(&world) >= before + 2, "a session and an answer");
    world
        .until_merged(MINUTE * 20, &[queued.clone(), asks.clone()])
        .await;
    assert_eq!(world.sandbox.counters().messages, 1);
    world.finish().await;
}

#[tokio::test]
async fn a_pause_before_the_merge_stops_the_merge() {
    let world = World::on_green(Scenario::default()).await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 5, &job, "in-review").await;
    world.pause(true).await;
    let before = writes(&world);
    world.pass(hour(2)).await;
    assert_eq!(writes(&world), before);
    assert!(world.gives(&job, "paused").await);
    let found = world.backend.must_job(&job).await.expect("a job").value;
    let waits = world.backend.waits_for(&found).await.expect("an answer");
    assert!(waits.is_held(), "{waits:?}");
    world.pause(false).await;
    world.until_is(MINUTE * 10, &job, "merged").await;
    world.finish().await;
}

#[tokio::test]
async fn a_paused_source_waits_alone() {
    let world = World::on_green(Scenario::default()).await;
    let mut source = on_green();
    source.paused = true;
    world.put_source(&source).await;
    let job = world.submit("Add a test").await;
    world.pass(hour(1)).await;
    assert_eq!(writes(&world), 0);
    assert!(world.gives(&job, "source_paused").await);
    world.put_source(&on_green()).await;
    world.until_is(MINUTE * 10, &job, "merged").await;
    world.finish().await;
}

#[tokio::test]
async fn whoever_only_observes_writes_nothing_at_all() {
    let setup = Setup {
        source: on_green(),
        observe_only: true,
        webhooks: true,
        ..Setup::default()
    };
    let world = World::with(setup).await;
    let job = world.submit("Add a test").await;
    world.pass(MINUTE * 90).await;
    assert_eq!(writes(&world), 0);
    assert_eq!(world.state(&job).await, "queued");
    world.finish().await;
}

/// A job whose process died between its slot and its session, and everything is paused since.
async fn held_create() -> (World, domain::ids::JobId) {
    let repo = |name: &str| RepoSetup::new(name).with_ci(ci(green_checks()));
    let scenario = Scenario {
        repos: vec![repo(REPO), repo(OTHER)],
        ..Scenario::default()
    };
    for act in 0..20 {
        let world = World::on_green(scenario.clone()).await;
        world.fate.kill_at(act, Moment::After);
        let job = world.submit("Add a test").await;
        world.clock.advance(SECOND);
        Box::pin(world.step_once()).await;
        if world.state(&job).await == "starting" && world.sandbox.counters().create_calls == 0 {
            world.fate.revive();
            world.pause(true).await;
            return (world, job);
        }
    }
    panic!("no act lies between the slot and the session")
}

#[tokio::test]
async fn a_create_that_was_held_is_made_at_once_when_work_resumes() {
    let (world, job) = held_create().await;
    world.pass(hour(1)).await;
    assert_eq!(writes(&world), 0);
    let waits = async || {
        let found = world.backend.must_job(&job).await.expect("a job").value;
        world.backend.waits_for(&found).await.expect("an answer")
    };
    assert!(waits().await.is_held(), "no session is being created");
    world.resume().await;
    world.pass(SECOND * 2).await;
    assert_eq!(world.sandbox.counters().creates, 1);
    assert_eq!(waits().await.who.word(), "jules");
    world.finish().await;
}

#[tokio::test]
async fn what_waits_while_work_is_paused_waits_for_a_person() {
    let world = asking_world().await;
    let asks = world.submit("ask me").await;
    world.until_is(MINUTE * 3, &asks, "asking").await;
    let waits = async |job: &domain::ids::JobId| {
        let found = world.backend.must_job(job).await.expect("a job").value;
        world
            .backend
            .waits_for(&found)
            .await
            .expect("an answer")
            .sentence()
    };
    assert_eq!(waits(&asks).await, "agent helper: a question is open");
    world.pause(true).await;
    assert_eq!(waits(&asks).await, "agent helper: a question is open");
    world.answer(&asks, "PostgreSQL", "answer").await;
    let queued = world.submit("Add a test").await;
    let held = "a person: everything is paused, and goes on once it is resumed";
    assert_eq!([waits(&asks).await, waits(&queued).await], [held, held]);
    let counts = async || world.backend.status().await.expect("a status").waits_for;
    assert_eq!(counts().await.get("person"), Some(&2));
    world.pause(false).await;
    assert_ne!(waits(&queued).await, held);
    assert_eq!(counts().await.get("person"), None);
    let mut source = on_green();
    source.paused = true;
    world.put_source(&source).await;
    let held = "a person: its source is paused, and goes on once it is resumed";
    assert_eq!(waits(&queued).await, held);
    assert_eq!(counts().await.get("person"), Some(&2));
}

#[tokio::test]
async fn a_held_create_of_a_source_is_made_at_once_also_when_another_job_took_its_turn() {
    let (world, job) = held_create().await;
    world.pause(false).await;
    let mut source = on_green();
    source.paused = true;
    world.put_source(&source).await;
    let mut other = on_green();
    other.repo = OTHER.parse().expect("a repository");
    world.put_source(&other).await;
    let next = world.submit_to(OTHER, "Add a test").await;
    world.until_count(hour(1), |it| it.create_calls == 1).await;
    world.put_source(&on_green()).await;
    let repo = source.repo;
    world.backend.go_on(Some(&repo)).await.expect("a queue");
    world.pass(SECOND * 2).await;
    assert_eq!(world.sandbox.counters().create_calls, 2);
    world.until_is(MINUTE * 20, &job, "merged").await;
    world.until_is(MINUTE * 20, &next, "merged").await;
}

/// Pauses everything, or the source alone; or lets it go on.
async fn hold(world: &World, all: bool, paused: bool) {
    let mut source = on_green();
    source.paused = paused;
    match all {
        true => world.pause(paused).await,
        false => world.put_source(&source).await,
    }
}

/// Whether what is left to do about the first pull request was passed on a moment ago, and is due again much later.
async fn is_left_alone(world: &World) -> bool {
    let pull = format!("{REPO}#1").parse().expect("a pull request");
    let effects = world.backend.store.effects(&keys::pull_pk(&pull)).await;
    let effects = effects.expect("a store");
    let deletion = effects.iter().find(|found| !found.value.is_settled());
    let due = deletion.expect("a deletion").due;
    due.is_some_and(|due| due > world.backend.now() + MINUTE)
}

/// A pause, and a merged pull request: Gaffer merged it just before, or a person in the pause.
async fn merged_and_held(all: bool, by_hand: bool) -> World {
    let world = World::on_green(Scenario::default()).await;
    let job = world.submit("Add a test").await;
    if by_hand {
        world.until_is(MINUTE * 5, &job, "in-review").await;
        hold(&world, all, true).await;
        let (github, now) = (world.sandbox.github(), world.clock.now());
        assert!(github.merge_by_hand(now, REPO, 1, "ann"));
    }
    // The branch is deleted seconds after the merge.
    world.until_is(hour(1), &job, "merged").await;
    hold(&world, all, true).await;
    world
}

#[tokio::test]
async fn a_branch_whose_deletion_was_held_is_deleted_at_once_when_work_resumes() {
    for (all, by_hand) in [(true, false), (false, false), (true, true), (false, true)] {
        let world = merged_and_held(all, by_hand).await;
        let (github, branch) = (world.sandbox.github(), world.pull(1).head_ref);
        let is_there = || github.branch_exists(REPO, &branch) == Some(true);
        world.pass(hour(1)).await;
        assert!(is_there());
        let passed_on = async |world: &World| is_left_alone(world).await;
        world.until(MINUTE * 3, "passed on", passed_on).await;
        hold(&world, all, false).await;
        let of = (!all).then(|| on_green().repo);
        world.backend.go_on(of.as_ref()).await.expect("a queue");
        world.pass(SECOND * 2).await;
        assert!(!is_there());
        world.finish().await;
    }
}

#[tokio::test]
async fn a_branch_that_its_source_keeps_since_a_pause_held_its_deletion_stays() {
    let world = merged_and_held(true, false).await;
    let branch = world.pull(1).head_ref;
    let mut source = on_green();
    source.policy.delete_branch = false;
    world.put_source(&source).await;
    hold(&world, true, false).await;
    world.backend.go_on(None).await.expect("a queue");
    world.pass(MINUTE).await;
    let github = world.sandbox.github();
    assert_eq!(github.branch_exists(REPO, &branch), Some(true));
    world.finish().await;
}
