//! GitHub's limits: work is postponed to the exact time, merges go first, and nothing is merged twice or given up.

use sandbox::github::DEFAULT_TOKEN;
use sandbox::{Fault, FaultKind, Service};
use serde_json::json;
use tests::world::{MINUTE, SECOND, World, hour, on_green};

use super::{access_event_count, in_review, merges};

fn secondary(retry_after_secs: Option<u64>) -> FaultKind {
    FaultKind::Status {
        code: 403,
        retry_after_secs,
        body: Some(json!({ "message": "You have exceeded a secondary rate limit." })),
    }
}

fn github_calls(world: &World) -> u64 {
    world.sandbox.counters().github_calls
}

#[tokio::test]
async fn a_secondary_limit_during_the_merge_puts_it_off_and_counts_as_no_refusal() {
    for retry_after in [Some(300), None] {
        let (world, job) = in_review(false).await;
        // More often than a merge that GitHub refuses is tried.
        let fault = Fault::new(Service::GitHub, "/merge", secondary(retry_after));
        world.sandbox.faults().add(fault.on("PUT").next(7));
        world
            .until_gives(MINUTE * 10, &job, "merge_throttled")
            .await;
        merges(&world, &job, hour(4)).await;
        assert_eq!(access_event_count(&world).await, 0);
        let tries = world.requests(Service::GitHub, "PUT", "/merge");
        assert_eq!(tries.len(), 8);
        let shortest = retry_after.map_or(60, u64::cast_signed);
        for pair in tries.windows(2) {
            let gap = pair[1].at.duration_since(pair[0].at);
            assert!(gap.as_secs() >= shortest, "{gap:#}");
        }
        world.finish().await;
    }
}

#[tokio::test]
async fn while_github_asks_to_stay_away_nobody_asks_anything() {
    let (world, job) = in_review(false).await;
    let fault = Fault::new(Service::GitHub, "", secondary(Some(1_200)));
    world.sandbox.faults().add(fault.next(1));
    let limited = |world: &World| world.sandbox.faults().list().is_empty();
    world
        .until(MINUTE * 5, "limited", async |world| limited(world))
        .await;
    world.pass(SECOND * 2).await;
    let before = github_calls(&world);
    world.pass(MINUTE * 19).await;
    assert_eq!(github_calls(&world), before);
    assert!(world.gives(&job, "read_throttled").await);
    merges(&world, &job, MINUTE * 10).await;
    world.finish().await;
}

/// Nothing is stored of the pull request yet but that it has to be read.
#[tokio::test]
async fn a_first_reading_that_is_put_off_says_until_when() {
    for webhooks in [false, true] {
        let world = World::hearing(sandbox::Scenario::default(), on_green(), webhooks).await;
        let fault = Fault::new(Service::GitHub, "", secondary(Some(1_800)));
        world.sandbox.faults().add(fault.next(1));
        let job = world.submit("Add a test").await;
        world.until_gives(MINUTE * 20, &job, "read_throttled").await;
        let why = world.backend.why(&job).await.expect("a why");
        let told = why.because.iter().find(|it| it.code == "read_throttled");
        let planned = why.then.iter().find(|it| it.sentence.ends_with("is read."));
        let until = planned.and_then(|it| it.at).expect("a time");
        let told = &told.expect("a reason").sentence;
        assert!(told.ends_with(&format!("again at {until}.")), "{told}");
        assert!(until > world.clock.now() && why.next_look <= Some(until));
        let pull = why.pull.as_ref().expect("a pull request");
        let of_pull = world.backend.pull_why(pull).await.expect("a why");
        assert_eq!(
            (of_pull.state.as_str(), of_pull.next),
            ("unread", Vec::new())
        );
        assert_eq!(of_pull.job.as_ref(), Some(&job));
        let sentences = of_pull.because.iter().map(|it| &it.sentence);
        assert_eq!(sentences.collect::<Vec<_>>(), [told]);
        merges(&world, &job, hour(1)).await;
        assert!(!world.gives(&job, "read_throttled").await);
        world.finish().await;
    }
}

/// What follows a merge goes on when GitHub takes requests again, and no claim of the poller holds it up for longer.
#[tokio::test]
async fn a_branch_is_deleted_as_soon_as_github_takes_requests_again() {
    let (world, _job) = in_review(false).await;
    world.until_count(MINUTE * 5, |it| it.merges == 1).await;
    let fault = Fault::new(Service::GitHub, "", secondary(Some(30)));
    world.sandbox.faults().add(fault.next(1));
    world
        .until_count(SECOND * 75, |it| it.branch_deletes == 1)
        .await;
    assert!(world.sandbox.faults().list().is_empty());
    world.finish().await;
}

#[tokio::test]
async fn what_is_left_is_kept_for_a_merge_that_is_near() {
    let (world, job) = in_review(false).await;
    world.until_gives(MINUTE, &job, "settling").await;
    let far = world.submit("Add another test").await;
    let now = world.clock.now();
    world
        .sandbox
        .github()
        .leave_requests(now, DEFAULT_TOKEN, 400);
    // Less than a tenth is left: the one that is green is merged, and the other one waits for the next hour.
    merges(&world, &job, MINUTE * 5).await;
    world.pass(MINUTE * 30).await;
    assert_ne!(world.state(&far).await, "merged");
    assert_eq!(world.sandbox.counters().merges, 1);
    let status = world.backend.status().await.expect("a status").github;
    let core = &status.budgets[0];
    assert!(core.remaining < 400 && core.limit == 5_000, "{status:?}");
    assert_eq!(
        (core.owner.as_str(), core.resource.as_str()),
        ("token", "core")
    );
    let asked = world.sandbox.counters();
    let usage = status.usage;
    assert!(
        0 < usage.not_modified && usage.not_modified <= asked.github_not_modified,
        "{status:?}"
    );
    assert!(usage.not_modified < usage.requests && usage.requests <= asked.github_calls);
    world.until_is(hour(1), &far, "merged").await;
    world.finish().await;
}

#[tokio::test]
async fn a_budget_that_ends_in_the_middle_of_a_merge_is_no_end() {
    let (world, job) = in_review(false).await;
    world.until_gives(MINUTE, &job, "settling").await;
    let now = world.clock.now();
    world.sandbox.github().leave_requests(now, DEFAULT_TOKEN, 0);
    world.pass(MINUTE * 20).await;
    assert_ne!(world.state(&job).await, "merged");
    let quiet = github_calls(&world);
    world.pass(MINUTE * 20).await;
    assert_eq!(github_calls(&world), quiet, "put off to the reset");
    merges(&world, &job, hour(1)).await;
    assert_eq!(access_event_count(&world).await, 0);
    world.finish().await;
}
