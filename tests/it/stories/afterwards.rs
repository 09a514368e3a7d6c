//! Pushes after a session has finished: its own work goes on, and what reverts the work of others waits for an
//! approval.

use domain::ids::JobId;
use domain::policy::MergePolicy;
use sandbox::github::{ChangedFile, CiSetup, NewCommit, PullState, RepoSetup, RequiredCheck};
use sandbox::story::{Step, Story};
use sandbox::{Fault, FaultKind, Scenario, Service};
use tests::world::{
    MINUTE, REPO, SECOND, World, complete, green_checks, hour, on_green, progress, story,
};

/// A session that changes one file.
fn changing(matches: &str, file: &str) -> Story {
    let steps = vec![
        progress(SECOND, "Working"),
        Step::OpenPull {
            after: SECOND,
            files: vec![ChangedFile::modified(file)],
            draft: false,
        },
        complete(SECOND),
    ];
    story(matches, steps)
}

/// Green is merged once it has the newest base, unless people merge.
async fn world_with(merge: MergePolicy) -> World {
    let strict = CiSetup {
        checks: green_checks(),
        required: vec![RequiredCheck::any("build")],
        strict: true,
        ..CiSetup::default()
    };
    let mut source = on_green();
    source.policy.merge = merge;
    World::of(
        Scenario {
            repos: vec![RepoSetup::new(REPO).with_ci(strict)],
            stories: vec![changing("first", "x.rs"), changing("second", "b.rs")],
            ..Scenario::default()
        },
        source,
    )
    .await
}

/// The session of a job, which has finished, pushes.
async fn pushes(world: &World, job: &JobId, files: &[&str], reverts: &[&str]) {
    let session = world.session(job).await.id.to_string();
    let push = Step::Push {
        after: SECOND,
        message: "One more thing".to_owned(),
        files: files
            .iter()
            .map(|file| ChangedFile::modified(file))
            .collect(),
        reverts: reverts.iter().map(|&path| path.to_owned()).collect(),
    };
    assert!(world.sandbox.jules().append_steps(&session, vec![push]));
}

/// The session began before another pull request was merged, and pushes its old state of `x.rs` over the branch that
/// Gaffer has updated; its own patch names these files.
async fn takes_back_what_was_merged(files: &[&str]) {
    let world = world_with(MergePolicy::OnGreen).await;
    let first = world.submit("first").await;
    // Otherwise either of them could be merged before the other.
    world.pass(SECOND * 20).await;
    let second = world.submit("second").await;
    world.until_is(MINUTE * 10, &first, "merged").await;
    let updated = async |world: &World| world.sandbox.counters().branch_updates > 0;
    world.until(MINUTE * 10, "an update", updated).await;
    let undone = world
        .sandbox
        .github()
        .pulls(REPO)
        .into_iter()
        .find(|number| world.pull(*number).state == PullState::Open)
        .expect("the second pull request");
    pushes(&world, &second, files, &["x.rs"]).await;
    world.pass(hour(1)).await;
    assert_eq!(world.pull(undone).state, PullState::Open);
    world.must_give(&second, "unexpected_push").await;
    assert_eq!(
        world.events(&second).await,
        ["completed/completed", "question/unexpected_push"]
    );
    let wakes = world.wakes();
    let asked = wakes.last().expect("a wake");
    assert_eq!(asked["payload"]["paths"], serde_json::json!(["x.rs"]));

    world.approve_merge(&second).await;
    world.until_is(MINUTE * 10, &second, "merged").await;
    world.pass(MINUTE).await;
    world.finish().await;
}

#[tokio::test]
async fn a_finished_session_that_takes_back_merged_work_is_not_merged() {
    takes_back_what_was_merged(&[]).await;
}

#[tokio::test]
async fn what_takes_back_merged_work_is_not_merged_though_the_session_s_patch_names_it() {
    takes_back_what_was_merged(&["x.rs"]).await;
}

#[tokio::test]
async fn what_a_finished_session_adds_to_its_own_work_is_merged() {
    let world = world_with(MergePolicy::Human).await;
    let job = world.submit("first").await;
    world.until_is(MINUTE * 10, &job, "in-review").await;
    world.pass(MINUTE).await;
    let before = world.pull(1).head_sha;
    pushes(&world, &job, &["y.rs"], &[]).await;
    world.pass(MINUTE * 20).await;
    assert_ne!(world.pull(1).head_sha, before);
    assert_eq!(world.events(&job).await, ["completed/completed"]);
    world.approve_merge(&job).await;
    world.until_is(MINUTE * 10, &job, "merged").await;
    world.pass(MINUTE).await;
    world.finish().await;
}

/// A stranger pushes a file to the branch of a pull request that waits for its checks; nothing is merged, and an
/// event asks about it.
async fn a_stranger_pushes(compares: bool) {
    let world = world_with(MergePolicy::OnGreen).await;
    if !compares {
        let refusal = FaultKind::status(404);
        let fault = Fault::new(Service::GitHub, "/compare/", refusal);
        world.sandbox.faults().add(fault);
    }
    let job = world.submit("first").await;
    world.until_is(MINUTE * 10, &job, "in-review").await;
    world.pass(SECOND * 20).await;
    let commit = NewCommit {
        message: "While you are at it".to_owned(),
        author_login: "eve".to_owned(),
        files: vec![ChangedFile::modified("deploy.rs")],
        ..NewCommit::default()
    };
    let (now, branch) = (world.clock.now(), world.pull(1).head_ref);
    world
        .sandbox
        .github()
        .push_commit(now, REPO, &branch, commit);
    world.pass(hour(1)).await;
    assert_eq!(world.pull(1).state, PullState::Open);
    let events = world.events(&job).await;
    assert_eq!(
        events[..2],
        ["completed/completed", "question/unexpected_push"]
    );
    assert_eq!(events.len(), if compares { 2 } else { 3 }, "{events:?}");
    let asked = &world.wakes()[1];
    let paths = if compares { vec!["deploy.rs"] } else { vec![] };
    assert_eq!(asked["payload"]["paths"], serde_json::json!(paths));
    world.finish().await;
}

#[tokio::test]
async fn a_stranger_s_files_are_asked_about() {
    a_stranger_pushes(true).await;
}

#[tokio::test]
async fn a_push_that_github_does_not_compare_is_asked_about() {
    a_stranger_pushes(false).await;
}
