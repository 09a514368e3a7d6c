//! Continuous integration that never starts, cannot be read, fails, or is late: every wait has its reason, and nothing merges unproved.

use domain::ids::JobId;
use sandbox::github::{CheckSetup, CheckState, CiSetup, Conclusion, Outcome, RepoSetup};
use sandbox::{Author, Fault, FaultKind, Lags, Scenario, Service};
use tests::world::{
    MINUTE, REPO, SECOND, World, ci, complete, green_checks, hour, open_draft, progress, scenario,
    story, with_ci,
};

async fn world_of(scenario: Scenario) -> (World, JobId) {
    let world = World::on_green(scenario).await;
    let job = world.submit("Add a test").await;
    (world, job)
}

async fn merges(world: &World, job: &JobId) {
    world.until_is(MINUTE * 20, job, "merged").await;
    world.pass(MINUTE).await;
    world.finish().await;
}

fn never() -> CiSetup {
    ci(vec![CheckSetup::new("build", Outcome::Never)])
}

/// A check of the first pull request ends like this.
fn check_ends(world: &World, name: &str, conclusion: Conclusion) {
    let (head, now) = (world.pull(1).head_sha, world.clock.now());
    let ended = CheckState::Completed(conclusion);
    let github = world.sandbox.github();
    github.set_check(now, REPO, (&head, name), ended);
}

/// Waits, gives this cause in words, announces it once, and never merges.
async fn never_starts(scenario: Scenario, words: &str) -> World {
    let (world, job) = world_of(scenario).await;
    world.until_is(MINUTE * 5, &job, "in-review").await;
    world.pass(MINUTE * 3).await;
    world.must_give(&job, "no_checks_yet").await;
    world.pass(hour(3)).await;
    let why = world.backend.why(&job).await.expect("a why");
    let sentence = why
        .because
        .iter()
        .find(|it| it.code == "ci_never_started")
        .map(|it| it.sentence.clone())
        .unwrap_or_default();
    assert!(sentence.contains(words), "{why:#?}");
    assert_eq!(
        world.events(&job).await,
        ["completed/completed", "error/ci_never_started"]
    );
    assert_eq!(
        world.wake_names(),
        ["completed/completed", "error/ci_never_started"]
    );
    let counters = world.sandbox.counters();
    assert_eq!((counters.merge_calls, counters.messages), (0, 0));
    world.finish().await;
    world
}

#[tokio::test]
async fn no_workflow_at_all() {
    never_starts(with_ci(CiSetup::default()), "no workflow").await;
}

#[tokio::test]
async fn the_actions_token_starts_no_workflows() {
    let author = Author::User {
        login: "github-actions[bot]".to_owned(),
        id: 41_898_282,
    };
    never_starts(
        Scenario {
            author,
            ..with_ci(never())
        },
        "token",
    )
    .await;
}

#[tokio::test]
async fn workflows_that_wait_for_approval() {
    never_starts(
        with_ci(ci(vec![CheckSetup::new("build", Outcome::ApprovalPending)])),
        "approv",
    )
    .await;
}

#[tokio::test]
async fn nothing_that_explains_it() {
    never_starts(with_ci(never()), "").await;
}

#[tokio::test]
async fn checks_that_start_after_all_are_waited_for_and_merged() {
    let late = ci(vec![CheckSetup {
        starts_after: MINUTE * 9,
        ..CheckSetup::new("build", Outcome::Success)
    }]);
    let (world, job) = world_of(with_ci(late)).await;
    merges(&world, &job).await;
    assert_eq!(
        world.events(&job).await,
        ["completed/completed", "error/ci_never_started"]
    );
}

#[tokio::test]
async fn a_check_that_wants_an_action() {
    let (world, job) = world_of(with_ci(never())).await;
    world.until_is(MINUTE * 5, &job, "in-review").await;
    check_ends(&world, "build", Conclusion::ActionRequired);
    world.pass(hour(1)).await;
    world.must_give(&job, "action_required").await;
    check_ends(&world, "build", Conclusion::Success);
    merges(&world, &job).await;
}

#[tokio::test]
async fn a_page_cut_short_is_not_green() {
    let (world, job) = world_of(Scenario::default()).await;
    world.sandbox.faults().add(Fault::new(
        Service::GitHub,
        "/check-runs",
        FaultKind::TruncatedPage,
    ));
    world.pass(MINUTE * 30).await;
    assert_eq!(world.sandbox.counters().merge_calls, 0);
    assert_eq!(world.sandbox.counters().messages, 0);
    world.sandbox.faults().clear();
    merges(&world, &job).await;
}

#[tokio::test]
async fn every_page_of_checks_is_read() {
    // The red one is the hundred and first.
    let mut checks: Vec<CheckSetup> = (0..100)
        .map(|n| CheckSetup::new(&format!("a{n:03}"), Outcome::Success))
        .collect();
    checks.push(CheckSetup::new("zz-last", Outcome::Failure));
    let (world, job) = world_of(with_ci(ci(checks))).await;
    world.until_is(MINUTE * 5, &job, "in-review").await;
    world.pass(MINUTE * 3).await;
    assert_eq!(world.sandbox.counters().merge_calls, 0);
    world.must_give(&job, "checks_failed").await;
}

#[tokio::test]
async fn mergeable_null_is_waited_for() {
    let (world, job) = world_of(Scenario {
        lags: Lags {
            mergeable: MINUTE * 4,
            ..Lags::default()
        },
        ..Scenario::default()
    })
    .await;
    world.until_is(MINUTE * 3, &job, "in-review").await;
    world.pass(MINUTE * 2).await;
    world.must_give(&job, "mergeable_unknown").await;
    assert_eq!(world.sandbox.counters().merge_calls, 0);
    merges(&world, &job).await;
}

#[tokio::test]
async fn a_commit_status_that_fails_is_sent_back() {
    let mut checks = green_checks();
    checks.push(CheckSetup::status("ci/legacy", Outcome::FailsFirst(1)));
    let (world, job) = world_of(with_ci(ci(checks))).await;
    world.until_count(MINUTE * 10, |it| it.messages == 1).await;
    assert!(world.session(&job).await.messages[0].contains("ci/legacy"));
    merges(&world, &job).await;
    assert_eq!(world.sandbox.counters().messages, 1);
}

#[tokio::test]
async fn neutral_and_skipped_pass_beside_a_success() {
    let checks = vec![
        CheckSetup::new("build", Outcome::Success),
        CheckSetup::new("docs", Outcome::Neutral),
        CheckSetup::new("lint", Outcome::Skipped),
    ];
    let (world, job) = world_of(with_ci(ci(checks))).await;
    merges(&world, &job).await;
}

#[tokio::test]
async fn red_checks_go_back_so_often_and_then_to_somebody_else() {
    let (world, job) = world_of(with_ci(ci(vec![CheckSetup::new(
        "build",
        Outcome::Failure,
    )])))
    .await;
    world.pass(hour(6)).await;
    // Three heads were announced, the fourth was not.
    let counters = world.sandbox.counters();
    assert_eq!((counters.messages, counters.merge_calls), (3, 0));
    let events = world.events(&job).await;
    assert_eq!(
        events
            .iter()
            .filter(|event| *event == "error/ci_failed")
            .count(),
        1,
        "{events:?}"
    );
    world.finish().await;
}

#[tokio::test]
async fn a_red_head_is_told_about_once_however_often_it_is_read() {
    let quiet = sandbox::story::Story {
        on_message: vec![progress(SECOND, "Reading"), complete(SECOND)],
        ..story("Add", tests::world::work())
    };
    let red = Scenario {
        stories: vec![quiet],
        ..with_ci(ci(vec![CheckSetup::new("build", Outcome::Failure)]))
    };
    let (world, job) = world_of(red).await;
    world.pass(hour(4)).await;
    assert_eq!(world.sandbox.counters().messages, 1);
    assert!(world.gives(&job, "checks_failed").await);
    world.finish().await;
}

#[tokio::test]
async fn jules_own_fix_needs_no_message() {
    let mut played = with_ci(ci(vec![CheckSetup::new("build", Outcome::FailsFirst(1))]));
    played.switches.ci_fixer_cap = 1;
    let (world, job) = world_of(played).await;
    merges(&world, &job).await;
    assert_eq!(world.sandbox.counters().messages, 0);
}

#[tokio::test]
async fn a_conflict_goes_to_the_session() {
    let (world, job) = world_of(Scenario::default()).await;
    world.until_is(MINUTE * 5, &job, "in-review").await;
    let now = world.clock.now();
    world.sandbox.github().set_conflict(now, REPO, 1, true);
    world.until_count(MINUTE * 10, |it| it.messages == 1).await;
    assert!(world.session(&job).await.messages[0].contains("conflict"));
    merges(&world, &job).await;
    assert_eq!(world.sandbox.counters().messages, 1);
    assert!(!world.pull(1).conflicts);
}

#[tokio::test]
async fn a_draft_whose_session_rests_is_marked_ready() {
    let steps = vec![progress(SECOND, "Working"), open_draft(), complete(SECOND)];
    let (world, job) = world_of(scenario(vec![story("Add", steps)])).await;
    merges(&world, &job).await;
    assert_eq!(world.sandbox.counters().ready_for_review, 1);
}

#[tokio::test]
async fn another_repository_without_webhooks_or_jobs_is_not_read() {
    let mut played = Scenario::default();
    played.repos.push(RepoSetup::new("acme/other"));
    let (world, job) = world_of(played).await;
    merges(&world, &job).await;
    assert!(
        world
            .requests(Service::GitHub, "GET", "acme/other")
            .is_empty()
    );
}
