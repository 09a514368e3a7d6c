//! What GitHub may keep from Gaffer without stopping a run: writes to the worker branch but by merges, and statuses.

use domain::pipeline::{EntryPoint, Exchange, Implement};
use sandbox::Service;
use sandbox::github::{Access, Permissions, Resource, TokenKind, TokenSetup};
use tests::world::{REPO, World};

use super::{begin_and_end, findings, layered, push, requirements, steps};

/// A world whose worker branch is there.
async fn world() -> World {
    let world = layered(Exchange::Auto, Implement::Human).await;
    begin_and_end(&world, EntryPoint::Requirements).await;
    world
}

/// How every step of a whole run ends.
const DONE: [&str; 6] = [
    "bootstrap done",
    "narrator done",
    "observers done",
    "decider done",
    "planner done",
    "requirements done",
];

/// Everything that reaches it, the bootstrap among it, is a pull request that is merged.
#[tokio::test]
async fn a_worker_branch_that_is_protected_takes_a_whole_run() {
    let world = world().await;
    world.sandbox.github().change_repo(REPO, |setup| {
        setup.protected_branches = vec!["jules".to_owned()];
    });
    push(&world, "main", ("src/lib.rs", "pub fn sub() {}\n"));
    let over = begin_and_end(&world, EntryPoint::Narrator).await;
    assert_eq!(steps(&over), DONE, "{}", world.story().await);
    assert_eq!(requirements(&world).await[0].state.word(), "ready");
    assert_eq!(findings(&world), [""; 0]);
    let counters = world.sandbox.counters();
    // Each bootstrap, a narrator, two observers, a decider and a planner.
    assert_eq!((counters.creates, counters.merges), (5, 7));
    assert_eq!(world.wake_names(), [""; 0]);
    world.finish().await;
}

/// The results of both checks do not show on GitHub, and count all the same.
#[tokio::test]
async fn an_app_that_may_write_no_statuses_only_shows_none() {
    let world = world().await;
    world.sandbox.github().add_token(TokenSetup {
        kind: TokenKind::Installation,
        permissions: Permissions::all().with(Resource::Statuses, Access::Read),
        ..TokenSetup::default()
    });
    let put = || world.requests(Service::GitHub, "POST", "/statuses/");
    let before = put().len();
    push(&world, "main", ("src/lib.rs", "pub fn sub() {}\n"));
    let over = begin_and_end(&world, EntryPoint::Narrator).await;
    assert_eq!(steps(&over), DONE, "{}", world.story().await);
    assert_eq!(findings(&world), [""; 0]);
    let refused: Vec<u16> = put()[before..].iter().map(|it| it.status).collect();
    assert!(!refused.is_empty(), "they are asked for");
    assert!(refused.iter().all(|status| *status == 403), "{refused:?}");
    let github = world.sandbox.github();
    let pulls = github.pulls(REPO).into_iter();
    for pull in pulls.map(|number| world.pull(number)).skip(1) {
        let shown = github.statuses(REPO, &pull.head_sha);
        assert_eq!(shown, [""; 0], "#{}", pull.number);
    }
    assert_eq!(world.wake_names(), [""; 0]);
    world.finish().await;
}
