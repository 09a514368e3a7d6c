//! Pull requests that GitHub keeps together: check suites of one head that replace each other.

use sandbox::github::{CheckSetup, CiSetup, Outcome, RepoSetup};
use sandbox::story::Step;
use sandbox::Scenario;
use tests::world::{MINUTE, REPO, SECOND, Setup, World, ci, on_green, progress, story};

/// Marking the draft as ready cancels the checks that run and starts them again: the cancelled ones are no failure.
#[tokio::test]
async fn checks_that_were_cancelled_for_newer_ones_are_no_failure() {
    let slow = CheckSetup {
        takes: MINUTE,
        ..CheckSetup::new("build", Outcome::Success)
    };
    let again = CiSetup {
        again_on_ready: true,
        ..ci(vec![slow])
    };
    let steps = vec![
        progress(SECOND, "Working"),
        Step::OpenPull {
            after: SECOND,
            files: Vec::new(),
            draft: true,
        },
        Step::Complete {
            after: SECOND,
            no_change: false,
        },
    ];
    let world = World::with(Setup {
        scenario: Scenario {
            repos: vec![RepoSetup::new(REPO).with_ci(again)],
            stories: vec![story("test", steps)],
            ..Scenario::default()
        },
        source: on_green(),
        ..Setup::default()
    })
    .await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 20, &job, "merged").await;
    assert!(!world.pull(1).draft);
    assert_eq!(
        world.sandbox.counters().messages,
        0,
        "nothing was to repair"
    );
    assert_eq!(world.events(&job).await, ["completed/completed"]);
    world.pass(MINUTE).await;
    world.finish().await;
}
