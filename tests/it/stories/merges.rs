//! Obstacles between green and merged: people, labels, caps, moved heads, and other writers.

use domain::ids::JobId;
use domain::policy::{MergeMethod, MergePolicy, Source};
use domain::pull::MergeStyle;
use sandbox::github::{PullState, RepoSetup};
use sandbox::{Fault, FaultKind, Scenario, Service};
use tests::world::{MINUTE, REPO, World, ci, green_checks, hour, on_green, usual};

async fn world_of(scenario: Scenario, source: Source) -> (World, JobId) {
    let world = World::of(scenario, source).await;
    let job = world.submit("Add a test").await;
    (world, job)
}

async fn green_world() -> (World, JobId) {
    world_of(Scenario::default(), on_green()).await
}

async fn in_review(world: &World, job: &JobId) {
    world.until_is(MINUTE * 5, job, "in-review").await;
}

async fn merges(world: &World, job: &JobId) {
    world.until_is(MINUTE * 20, job, "merged").await;
    world.pass(MINUTE).await;
    world.finish().await;
}

#[tokio::test]
async fn approvals_that_the_rules_demand_are_waited_for() {
    let repo = RepoSetup {
        reviews_required: 1,
        ..RepoSetup::new(REPO).with_ci(ci(green_checks()))
    };
    let scenario = Scenario {
        repos: vec![repo],
        ..Scenario::default()
    };
    let (world, job) = world_of(scenario, on_green()).await;
    world.pass(hour(1)).await;
    world.must_give(&job, "approvals_missing").await;
    assert_eq!(world.sandbox.counters().merge_calls, 0);
    let (github, now) = (world.sandbox.github(), world.clock.now());
    github.review(now, REPO, 1, ("acme", "APPROVED", "Yes"));
    merges(&world, &job).await;
}

#[tokio::test]
async fn so_many_merges_a_day_and_no_more() {
    let mut source = on_green();
    source.policy.merges_per_day = 2;
    source.timing.pull_poll = MINUTE * 15;
    let world = World::of(Scenario::default(), source).await;
    let jobs = world.submit_many(3).await;
    world.pass(hour(23)).await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.merges, counters.merge_calls), (2, 2));
    let open = (1..=3)
        .filter(|number| world.pull(*number).state == PullState::Open)
        .count();
    assert_eq!(open, 1);
    world.pass(hour(2)).await;
    assert!(world.all_merged(&jobs).await, "{}", world.story().await);
    world.finish().await;
}

#[tokio::test]
async fn a_merge_that_github_refused_does_not_count_against_the_day() {
    let mut source = on_green();
    source.policy.merges_per_day = 1;
    let (world, job) = world_of(Scenario::default(), source).await;
    let refusal = FaultKind::status(405);
    world.sandbox.faults().add(
        Fault::new(Service::GitHub, "/merge", refusal)
            .on("PUT")
            .next(2),
    );
    world.pass(hour(2)).await;
    assert_eq!(world.state(&job).await, "merged", "{}", world.story().await);
    world.finish().await;
}

#[tokio::test]
async fn a_head_that_moves_before_the_merge_is_judged_again() {
    let (world, job) = green_world().await;
    let (github, clock) = (world.sandbox.github().clone(), world.clock.clone());
    world.fate.before_next("merge", async move {
        let head = github.pull(REPO, 1).expect("a pull request").head_ref;
        github.push(clock.now(), REPO, &head, "One more thing", "somebody");
    });
    world
        .until_count(MINUTE * 5, |it| it.merge_calls == 1)
        .await;
    assert_eq!(world.sandbox.counters().merges, 0);
    let moved = world.pull(1).head_sha;
    merges(&world, &job).await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.merges, counters.merge_calls), (1, 2));
    assert_eq!(world.pull(1).merged_sha, Some(moved.clone()));
    let evidence = world
        .evidence(1, &moved)
        .await
        .expect("evidence for the new head");
    assert_eq!(evidence["it"]["facts"]["head"]["sha"], moved);
}

#[tokio::test]
async fn a_refused_merge_is_tried_a_few_times_and_then_told() {
    let (world, job) = green_world().await;
    let refusal = FaultKind::status(405);
    world
        .sandbox
        .faults()
        .add(Fault::new(Service::GitHub, "/merge", refusal).on("PUT"));
    world.pass(hour(8)).await;
    let tries = world.requests(Service::GitHub, "PUT", "/merge").len();
    assert!((2..=6).contains(&tries), "{tries}");
    assert_eq!(
        world.events(&job).await,
        ["completed/completed", "error/merge_refused"]
    );
    world.sandbox.faults().clear();
    world.approve_merge(&job).await;
    merges(&world, &job).await;
}

#[tokio::test]
async fn merged_by_hand_is_merged() {
    let (world, job) = world_of(Scenario::default(), people()).await;
    in_review(&world, &job).await;
    let now = world.clock.now();
    assert!(
        world
            .sandbox
            .github()
            .merge_by_hand(now, REPO, 1, "octo-owner")
    );
    merges(&world, &job).await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.merges, counters.merge_calls), (1, 0));
    assert_eq!(world.events(&job).await, ["completed/completed"]);
}

#[tokio::test]
async fn closed_ends_the_job_and_is_told_once() {
    let (world, job) = world_of(Scenario::default(), people()).await;
    in_review(&world, &job).await;
    world.pass(MINUTE).await;
    world.sandbox.github().close(world.clock.now(), REPO, 1);
    world.pass(hour(1)).await;
    assert_eq!(world.state(&job).await, "closed");
    assert_eq!(
        world.events(&job).await,
        ["completed/completed", "error/pull_closed"]
    );
    assert_eq!(
        (world.pull(1).state, world.sandbox.counters().branch_deletes),
        (PullState::Closed, 0)
    );
    assert_eq!(world.sandbox.counters().archives, 1);
    world.finish().await;
}

fn people() -> Source {
    let mut source = on_green();
    source.policy.merge = domain::policy::MergePolicy::Human;
    source
}

#[tokio::test]
async fn an_approval_is_for_one_head() {
    let (world, job) = world_of(Scenario::default(), people()).await;
    in_review(&world, &job).await;
    world.pass(MINUTE).await;
    let (github, head) = (world.sandbox.github(), world.pull(1));
    world.approve_merge(&job).await;
    github.push(
        world.clock.now(),
        REPO,
        &head.head_ref,
        "Sneaked in",
        "somebody",
    );
    world.pass(hour(1)).await;
    assert_eq!(world.sandbox.counters().merge_calls, 0);
    world.must_give(&job, "needs_approval").await;
    let old = head.head_sha.parse().expect("a SHA");
    let refusal = world
        .backend
        .approve_merge(&world.named(&job), Some(&old), &usual())
        .await
        .expect_err("an old head");
    assert!(
        refusal.to_string().contains("look at it again"),
        "{refusal}"
    );
    world.finish().await;
}

/// A person sends the pull request to the branch `release`, which is made for it.
fn retarget(world: &World) -> impl Future<Output = ()> + Send + 'static {
    world
        .sandbox
        .github()
        .push(world.clock.now(), REPO, "release", "A branch", "somebody");
    let url = format!("{}/repos/{REPO}/pulls/1", world.sandbox.github_base());
    async move {
        let client = reqwest::Client::builder()
            .no_proxy()
            .user_agent("a person")
            .build()
            .expect("a client");
        let request = client
            .patch(url)
            .bearer_auth(sandbox::github::DEFAULT_TOKEN)
            .body(r#"{"base":"release"}"#);
        let answer = request.send().await.expect("an answer");
        assert!(answer.status().is_success(), "{answer:?}");
    }
}

#[tokio::test]
async fn a_merge_onto_another_base_than_judged_raises_an_alarm() {
    let (world, job) = green_world().await;
    in_review(&world, &job).await;
    world.fate.before_next("merge", retarget(&world));
    world.until_is(MINUTE * 10, &job, "merged").await;
    world.pass(MINUTE * 5).await;
    assert_eq!(world.pull(1).base_ref, "release");
    let mut events = world.events(&job).await;
    events.sort();
    assert_eq!(events, ["completed/completed", "error/wrong_base"]);
    assert!(world.wake_names().contains(&"error/wrong_base".to_owned()));
    assert_eq!(world.sandbox.counters().branch_deletes, 0);
    world.finish().await;
}

#[tokio::test]
async fn a_pull_request_that_was_sent_to_another_base_is_not_merged() {
    let (world, job) = green_world().await;
    world.until_pull(MINUTE * 5).await;
    retarget(&world).await;
    world.pass(hour(1)).await;
    world.must_give(&job, "wrong_base").await;
    assert_eq!(world.sandbox.counters().merge_calls, 0);
    world.finish().await;
}

#[tokio::test]
async fn merges_of_one_base_go_one_after_the_other_and_each_is_proved() {
    let world = World::on_green(Scenario::default()).await;
    let jobs = world.submit_many(5).await;
    world.until_merged(MINUTE * 30, &jobs).await;
    world.pass(MINUTE).await;
    let it = world.sandbox.counters();
    assert_eq!((it.merges, it.merge_calls, it.branch_deletes), (5, 5, 5));
    for number in 1..=5 {
        let pull = world.pull(number);
        assert_eq!(pull.merged_sha.as_ref(), Some(&pull.head_sha));
        assert!(world.evidence(number, &pull.head_sha).await.is_some());
    }
    world.finish().await;
}

#[tokio::test]
async fn it_is_merged_by_the_method_and_under_the_title_that_were_asked_for() {
    let mut source = on_green();
    source.policy.merge = MergePolicy::Human;
    source.policy.other_merge_methods = vec![MergeMethod::Merge];
    let (world, job) = world_of(Scenario::default(), source).await;
    in_review(&world, &job).await;
    world.pass(MINUTE * 5).await;
    let style = MergeStyle {
        method: Some(MergeMethod::Rebase),
        ..MergeStyle::default()
    };
    let refused = world.approve_merge_as(&job, &style).await;
    let refused = refused.expect_err("another method").to_string();
    assert!(refused.contains("allow squash, merge"), "{refused}");
    let style = MergeStyle {
        method: Some(MergeMethod::Merge),
        title: Some("Add the search box".to_owned()),
        delete_branch: Some(false),
    };
    world
        .approve_merge_as(&job, &style)
        .await
        .expect("an approval");
    merges_leaving(&world, &job).await;
    let pull = world.pull(1);
    let github = world.sandbox.github();
    let tip = github.branch(REPO, "main").expect("a tip");
    assert_eq!(github.message(&tip).as_deref(), Some("Add the search box"));
    // A merge commit contains the head itself; a squash would not.
    assert_eq!(github.branch_exists(REPO, &pull.head_ref), Some(true));
    world.finish().await;
}

/// Merged, and everything that follows had time to happen.
async fn merges_leaving(world: &World, job: &JobId) {
    world.until_is(MINUTE * 20, job, "merged").await;
    world.pass(MINUTE * 5).await;
}
