//! Pull requests that GitHub keeps together: check suites of one head that replace each other, and stacks.

use domain::policy::MergePolicy;
use sandbox::github::{CheckSetup, CiSetup, NewPull, Outcome, PullState, RepoSetup};
use sandbox::{Foreign, ForeignPull, Scenario};
use tests::world::{
    MINUTE, REPO, SECOND, World, ci, complete, hour, on_green, open_draft, progress, story,
};

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
    let steps = vec![progress(SECOND, "Working"), open_draft(), complete(SECOND)];
    let world = World::on_green(Scenario {
        repos: vec![RepoSetup::new(REPO).with_ci(again)],
        stories: vec![story("test", steps)],
        ..Scenario::default()
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

/// Merging the second of a stack would merge the first, which was never judged.
#[tokio::test]
async fn what_stands_on_others_in_a_stack_is_not_merged() {
    let below = NewPull {
        title: "Below".to_owned(),
        head_branch: "feature".to_owned(),
        author_login: "somebody".to_owned(),
        ..NewPull::default()
    };
    let mut source = on_green();
    source.branch = Some("feature".parse().expect("a branch"));
    source.policy.merge = MergePolicy::Human;
    let world = World::of(
        Scenario {
            foreign: vec![Foreign::Pull(ForeignPull {
                pull: below,
                ..ForeignPull::default()
            })],
            ..Scenario::default()
        },
        source,
    )
    .await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 5, &job, "in-review").await;
    world.sandbox.github().stack(REPO, &[1, 2]);
    world.approve_merge(&job).await;
    world.pass(hour(1)).await;
    world.must_give(&job, "stacked").await;
    assert_eq!(world.sandbox.counters().merge_calls, 0);
    assert_eq!(world.pull(1).state, PullState::Open);
    assert_eq!(
        world.events(&job).await,
        ["completed/completed", "error/merge_blocked"]
    );
    // Once the one below is merged, it is the bottom.
    let now = world.clock.now();
    assert!(world.sandbox.github().merge_by_hand(now, REPO, 1, "acme"));
    world.pass(MINUTE * 2).await;
    world.finish().await;
}
