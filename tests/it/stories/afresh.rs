//! The age of facts about a pull request, and what causes a fresh reading: changed settings of its source, and orders about its job.

use domain::ids::JobId;
use domain::policy::{PlanApproval, Source};
use jiff::Timestamp;
use sandbox::Service;
use sandbox::github::{CheckSetup, Outcome};
use tests::world::{MINUTE, SECOND, World, ci, on_green, source, with_ci};

/// People merge, and nothing else is decided by them.
fn by_people() -> Source {
    let mut source = source();
    source.policy.plan_approval = PlanApproval::Auto;
    source
}

/// A world with so many jobs in review, which wait for people, some time after their pull requests were last read.
async fn in_review(count: usize) -> (World, Vec<JobId>) {
    let world = World::of(sandbox::Scenario::default(), by_people()).await;
    let mut jobs = Vec::new();
    for n in 0..count {
        jobs.push(world.submit(&format!("Add page {n}")).await);
    }
    let rest = async |world: &World| {
        for job in &jobs {
            if !world.gives(job, "needs_approval").await {
                return false;
            }
        }
        true
    };
    world.until(MINUTE * 20, "in review", rest).await;
    world.pass(MINUTE * 2).await;
    (world, jobs)
}

/// When the pull request of a job was last read.
async fn read_at(world: &World, job: &JobId) -> Timestamp {
    let found = world.backend.pull_of(job).await.expect("a pull request");
    found.value.read_at.expect("a reading")
}

/// How often a pull request was read whole.
fn readings(world: &World) -> usize {
    world.requests(Service::GitHub, "GET", "/reviews").len()
}

#[tokio::test]
async fn what_is_told_of_a_pull_request_says_how_old_it_is() {
    let (world, jobs) = in_review(1).await;
    let job = &jobs[0];
    let read = read_at(&world, job).await;
    let age = world.clock.now().duration_since(read).as_mins();
    assert!(age >= 2, "{age}");
    let told = format!("As read on GitHub {age} minutes ago.");
    let pull = world.backend.pull_of(job).await.expect("a pull request");
    for why in [
        world.backend.why(job).await.expect("a why"),
        world
            .backend
            .pull_why(&pull.value.pull.pull)
            .await
            .expect("a why"),
    ] {
        let as_read = why.as_read.expect("an age");
        assert_eq!((as_read.at, as_read.sentence), (read, told.clone()));
    }
    world.approve_merge(job).await;
    world.until_is(MINUTE * 5, job, "merged").await;
    // A merge is final, however long ago that was seen.
    assert_eq!(world.backend.why(job).await.expect("a why").as_read, None);
    world.pass(MINUTE).await;
    world.finish().await;
}

#[tokio::test]
async fn checks_that_have_ended_are_seen_once_a_setting_is_changed() {
    let slow = CheckSetup {
        takes: MINUTE * 2,
        ..CheckSetup::new("build", Outcome::Success)
    };
    let mut patient = on_green();
    patient.timing.pull_poll = MINUTE * 20;
    let world = World::of(with_ci(ci(vec![slow])), patient.clone()).await;
    let job = world.submit("Add a test").await;
    world.until_gives(MINUTE * 20, &job, "checks_pending").await;
    world.pass(MINUTE * 4).await;
    // They ended two minutes ago, and no reading has come.
    assert!(world.gives(&job, "checks_pending").await);
    patient.policy.merges_per_day = 7;
    world.put_source(&patient).await;
    world.pass(SECOND * 3).await;
    assert!(!world.gives(&job, "checks_pending").await);
    world.until_is(MINUTE * 5, &job, "merged").await;
    world.pass(MINUTE).await;
    world.finish().await;
}

#[tokio::test]
async fn a_change_of_settings_has_each_pull_request_read_once() {
    let (world, jobs) = in_review(3).await;
    let before = readings(&world);
    let mut changed = by_people();
    changed.policy.min_checks = 2;
    world.put_source(&changed).await;
    let at = world.clock.now();
    world.pass(SECOND * 20).await;
    for job in &jobs {
        let read = read_at(&world, job).await;
        assert!(
            read >= at && read <= at + SECOND * 3,
            "{read} is not soon after {at}"
        );
    }
    assert_eq!(readings(&world), before + 3);

    // A change that decides nothing about a pull request causes no reading, and neither does a repeated one.
    changed.timing.stuck_after = MINUTE * 30;
    world.put_source(&changed).await;
    world.put_source(&changed).await;
    world.pass(SECOND * 20).await;
    assert_eq!(readings(&world), before + 3);
    world.finish().await;
}

#[tokio::test]
async fn an_order_about_a_job_has_its_pull_request_read() {
    let (world, jobs) = in_review(2).await;
    let others = read_at(&world, &jobs[1]).await;
    let before = readings(&world);
    let at = world.clock.now();
    world.answer(&jobs[0], "Name it differently", "words").await;
    world.pass(SECOND * 2).await;
    assert!(read_at(&world, &jobs[0]).await >= at);
    assert_eq!(readings(&world), before + 1);
    assert_eq!(read_at(&world, &jobs[1]).await, others);

    let named = world.named(&jobs[1]);
    let at = world.clock.now();
    let cancelled = world.backend.cancel_job(&named, "dora").await;
    cancelled.expect("a job that is called off");
    world.pass(SECOND * 2).await;
    assert!(read_at(&world, &jobs[1]).await >= at);
}
