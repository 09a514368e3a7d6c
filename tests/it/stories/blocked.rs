//! Obstacles to a merge that pass neither by themselves nor through the session: announced once.

use domain::ids::JobId;
use sandbox::github::{ChangedFile, PullState};
use sandbox::story::Step;
use tests::world::{
    MINUTE, REPO, SECOND, Setup, World, complete, hour, on_green, progress, scenario, story,
};

/// A session that changes what runs the checks.
fn touching_ci() -> sandbox::Scenario {
    let files = vec![ChangedFile::modified(".github/workflows/ci.yml")];
    let open = Step::OpenPull {
        after: SECOND * 2,
        files,
        draft: false,
    };
    let done = complete(SECOND * 2);
    let steps = vec![progress(SECOND * 2, "Working"), open, done];
    scenario(vec![story("Cache", steps)])
}

async fn blocked(setup: Setup) -> (World, JobId) {
    let world = Box::pin(World::with(Setup {
        scenario: touching_ci(),
        ..setup
    }))
    .await;
    let job = world.submit("Cache the builds").await;
    Box::pin(world.pass(hour(2))).await;
    (world, job)
}

#[tokio::test]
async fn a_change_that_only_a_person_may_merge_wakes_once() {
    let (world, job) = blocked(Setup {
        source: on_green(),
        ..Setup::default()
    })
    .await;
    let told = ["completed/completed", "error/merge_blocked"];
    // Both may be seen in the same second, and then their ids decide which is listed first.
    let mut events = world.events(&job).await;
    events.sort();
    assert_eq!(events, told, "{}", world.story().await);
    assert_eq!(world.wakes().len(), 2);
    assert!(world.gives(&job, "protected_path").await);
    let counters = world.sandbox.counters();
    let written = (counters.merge_calls, counters.comments, counters.labels);
    assert_eq!(written, (0, 0, 0));
    world.approve_merge(&job).await;
    world.pass(MINUTE * 2).await;
    assert_eq!(world.state(&job).await, "merged");
    world.finish().await;
}

#[tokio::test]
async fn a_source_may_want_it_told_on_the_pull_request() {
    let mut source = on_green();
    source.policy.comment_when_blocked = true;
    source.policy.blocked_label = Some("needs-somebody".to_owned());
    let (world, job) = blocked(Setup {
        source,
        ..Setup::default()
    })
    .await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.comments, counters.labels), (1, 1));
    assert_eq!(world.pull(1).labels, ["needs-somebody"]);
    assert_eq!(world.events(&job).await.len(), 2);
    world.finish().await;
}

#[tokio::test]
async fn nobody_hears_of_it_while_writing_is_switched_off() {
    let (world, job) = blocked(Setup {
        source: on_green(),
        observe_only: true,
        ..Setup::default()
    })
    .await;
    assert_eq!(world.events(&job).await, Vec::<String>::new());
    assert_eq!(world.sandbox.counters().creates, 0);
}

#[tokio::test]
async fn a_pull_request_that_is_reopened_goes_on() {
    let world = World::on_green(sandbox::Scenario::default()).await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 5, &job, "in-review").await;
    let github = world.sandbox.github();
    github.close(world.clock.now(), REPO, 1);
    world.pass(MINUTE * 5).await;
    world.must_give(&job, "closed").await;
    github.reopen(world.clock.now(), REPO, 1);
    // It is read again before it would have counted as given up.
    world.pass(MINUTE * 4).await;
    assert_eq!(world.pull(1).state, PullState::Merged);
    assert_eq!(world.state(&job).await, "merged");
    assert_eq!(world.events(&job).await, ["completed/completed"]);
    world.finish().await;
}
