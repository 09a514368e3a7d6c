//! Many pull requests that are ready at once: in one repository they take turns, in several they share the pace of writes.

use domain::ids::JobId;
use domain::policy::MergePolicy;
use domain::pull::{LANE_HOLD, Lane};
use engine::backend::IndexEntry;
use engine::keys;
use jiff::SignedDuration;
use sandbox::github::RepoSetup;
use sandbox::jules::AccountSetup;
use sandbox::{Lags, Logged, Scenario, Service};
use tests::world::{MINUTE, REPO, SECOND, World, ci, green_checks, on_green};

/// A world with so many additional repositories.
async fn world_of(repos: usize, merge: MergePolicy) -> World {
    let names: Vec<String> = (0..repos).map(|n| format!("acme/r{n}")).collect();
    let source = |repo: &str| {
        let mut source = on_green();
        source.repo = repo.parse().expect("a repository");
        source.policy.merge = merge;
        source
    };
    let repo = |name: &str| RepoSetup::new(name).with_ci(ci(green_checks()));
    let all = names.iter().map(String::as_str).chain([REPO]);
    let world = World::of(
        Scenario {
            accounts: vec![AccountSetup {
                concurrent: 60,
                per_24h: 300,
                ..AccountSetup::default()
            }],
            repos: all.map(repo).collect(),
            ..Scenario::default()
        },
        source(REPO),
    )
    .await;
    for name in &names {
        world.put_source(&source(name)).await;
    }
    world
}

/// Requests to GitHub for each merge since a given request: those that count, and unmodified ones.
fn requests_per_merge(world: &World, since: usize) -> (usize, usize) {
    let requests: Vec<Logged> = world.sandbox.requests();
    let github = requests.iter().skip(since);
    let github = github.filter(|it| it.service == Service::GitHub);
    let (free, counted): (Vec<_>, Vec<_>) = github.partition(|it| it.status == 304);
    let merges = usize::try_from(world.sandbox.counters().merges).expect("few");
    (counted.len().div_ceil(merges), free.len().div_ceil(merges))
}

/// Lets all jobs merge, and returns the time from the first merge to the last.
async fn merged(world: &World, jobs: &[JobId]) -> SignedDuration {
    let first = async |world: &World| world.sandbox.counters().merges > 0;
    world.until(MINUTE * 10, "a merge", first).await;
    let began = world.clock.now();
    world.until_merged(MINUTE * 10, jobs).await;
    world.clock.now().duration_since(began)
}

#[tokio::test]
async fn repositories_that_are_ready_at_once_merge_a_second_apart() {
    let world = world_of(5, MergePolicy::Human).await;
    let mut jobs = Vec::new();
    for n in 0..5 {
        jobs.push(world.submit_to(&format!("acme/r{n}"), "Add a test").await);
    }
    world.pass(MINUTE * 10).await;
    let before = world.sandbox.requests().len();
    for job in &jobs {
        world.approve_merge(job).await;
    }
    let took = merged(&world, &jobs).await;
    assert!(took <= SECOND * 5, "{took:#}");
    assert_eq!(world.sandbox.counters().merge_calls, 5);
    let (counted, free) = requests_per_merge(&world, before);
    assert!(
        counted <= 4 && free <= 24,
        "{counted} and {free} free requests a merge"
    );
    world.pass(MINUTE).await;
    world.finish().await;
}

/// How many merges one repository gets done in which time, and at what price.
async fn crowd(size: usize, lags: Lags) -> (SignedDuration, (usize, usize)) {
    let world = world_of(0, MergePolicy::OnGreen).await;
    world.sandbox.faults().set_lags(lags);
    let mut jobs = Vec::new();
    for n in 0..size {
        jobs.push(world.submit(&format!("Add page {n}")).await);
    }
    let took = merged(&world, &jobs).await;
    assert_eq!(world.sandbox.counters().merge_calls, size as u64);
    let requests = requests_per_merge(&world, 0);
    world.pass(MINUTE).await;
    world.finish().await;
    (took, requests)
}

#[tokio::test]
async fn one_after_the_other_is_read_and_merged_and_the_others_cost_nothing() {
    let (alone, few) = crowd(4, Lags::default()).await;
    let (took, many) = crowd(16, Lags::default()).await;
    assert!(
        alone <= SECOND * 12 && took <= SECOND * 48,
        "{alone:#}, {took:#}"
    );
    assert!(many.0 <= few.0 + 2, "{few:?} and {many:?} requests a merge");
    assert!(
        many.1 <= few.1 + 2 && many.1 <= 14,
        "{few:?} and {many:?} requests a merge"
    );
}

#[tokio::test]
async fn a_turn_outlasts_the_moment_in_which_github_works_out_conflicts() {
    let lags = Lags {
        mergeable: SECOND * 2,
        ..Lags::default()
    };
    let (took, requests) = crowd(8, lags).await;
    assert!(took <= SECOND * 50, "{took:#}");
    assert!(requests.0 <= 18, "{requests:?} requests a merge");
}

#[tokio::test]
async fn who_waits_for_a_turn_stays_unread_when_settings_change() {
    let world = world_of(0, MergePolicy::OnGreen).await;
    let jobs = world.submit_many(6).await;
    let ready = async |world: &World| world.gives(&jobs[0], "settling").await;
    world.until(MINUTE * 10, "ready", ready).await;
    // Another pull request has the turn and does not give it back.
    let turn = Lane {
        holder: format!("{REPO}#99").parse().expect("a pull request"),
        until: world.clock.now() + LANE_HOLD,
        waiting: Vec::new(),
    };
    let repo = REPO.parse().expect("a repository");
    let mut unit = world.backend.unit();
    unit.put(
        keys::lane(&repo, "main"),
        &turn,
        None,
        IndexEntry::default(),
    );
    world.backend.commit(unit).await.expect("a turn");
    let queue = async |world: &World| {
        let lane = world.backend.store.lane(&repo, "main").await;
        lane.expect("a store").expect("a lane").value.waiting.len() == 6
    };
    world.until(LANE_HOLD, "a queue", queue).await;
    world.pass(SECOND * 5).await;
    let readings = || world.requests(Service::GitHub, "GET", "/reviews").len();
    let before = readings();
    let mut changed = on_green();
    changed.policy.merges_per_day = 19;
    world.put_source(&changed).await;
    world.pass(SECOND * 5).await;
    assert_eq!(readings(), before);
    world.until_merged(MINUTE * 10, &jobs).await;
    world.pass(MINUTE).await;
    world.finish().await;
}
