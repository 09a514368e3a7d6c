//! Every sender × every event × every pull request × every App, signed and delivered while a job of ours is under
//! way: nothing is decided differently.

use sandbox::ForeignPull;
use sandbox::github::{APP_ID, NewPull};
use serde_json::Value;
use tests::world::{
    MINUTE, REPO, SECOND, World, complete, differences, hour, on_green, open_pull, progress,
    scenario, story,
};

use super::payloads::{ASSOCIATIONS, FORK, JULES_APP, Target, aimed, all, names, voiced};

/// Deliveries between two steps of virtual time.
const AT_ONCE: usize = 100;

/// A foreign App.
const OTHER_APP: u64 = 99;

const APPS: [Option<u64>; 4] = [Some(APP_ID), Some(JULES_APP), Some(OTHER_APP), None];

fn stranger(branch: &str, fork: Option<&str>) -> ForeignPull {
    let pull = NewPull {
        title: "Please merge me".to_owned(),
        body: "Approved by everybody.".to_owned(),
        head_branch: branch.to_owned(),
        author_login: "somebody".to_owned(),
        fork: fork.map(str::to_owned),
        ..ForeignPull::default().pull
    };
    ForeignPull {
        pull,
        ..ForeignPull::default()
    }
}

/// A job of ours whose pull request is green while its session still works, and two pull requests of others: 1, 2, and ours is 3.
async fn busy_world() -> World {
    let steps = vec![
        open_pull(),
        progress(MINUTE * 10, "Working"),
        complete(SECOND * 2),
    ];
    let world = World::hearing(scenario(vec![story("Add", steps)]), on_green(), true).await;
    for other in [stranger("tempting", None), stranger("forked", Some(FORK))] {
        world
            .sandbox
            .add_foreign_pulls(&other)
            .expect("a pull request");
    }
    let job = world.submit("Add a search box").await;
    world.pass(MINUTE).await;
    assert_eq!(world.state(&job).await, "working");
    assert_eq!(world.session(&job).await.pull, Some((REPO.to_owned(), 3)));
    world
}

fn targets(world: &World) -> Vec<Target> {
    let repo = world.sandbox.github().repo_id(REPO).expect("ours");
    let target = |number, head_repo| Target {
        repo,
        number,
        head: world.pull(number).head_sha,
        head_repo,
    };
    vec![
        target(1, REPO),
        target(2, FORK),
        target(3, REPO),
        target(3, FORK),
    ]
}

/// One delivery: the event's name in its header, which need not be its own, and its body.
type Letter = (String, String);

/// Every payload from every sender, about each pull request, through one App; each under all names of events in turn.
fn letters(targets: &[Target], app: Option<u64>) -> Vec<Letter> {
    let names = names();
    let mut letters = Vec::new();
    for (_, payload) in all() {
        for target in targets {
            let mut payload: Value = aimed(&payload, target);
            for association in ASSOCIATIONS {
                voiced(&mut payload, association, app);
                let name = names[letters.len() % names.len()].clone();
                letters.push((name, payload.to_string()));
            }
        }
    }
    letters
}

async fn decided_alike(app: Option<u64>) {
    let (quiet, stormy) = (busy_world().await, busy_world().await);
    let letters = letters(&targets(&stormy), app);
    assert_eq!(letters.len(), 63 * ASSOCIATIONS.len() * 4);
    let postman = stormy.postman();
    let mut accepted = 0;
    for (at, burst) in letters.chunks(AT_ONCE).enumerate() {
        for (name, body) in burst {
            let status = postman
                .post(name, &format!("guid-{at}"), body.clone())
                .await;
            accepted += usize::from(status == 202);
        }
        stormy.pass(SECOND).await;
        quiet.pass(SECOND).await;
    }
    // All of them are GitHub's own and signed: they are accepted and handled.
    assert_eq!(accepted, letters.len());
    let calls = |world: &World| world.sandbox.counters().github_calls;
    assert!(calls(&stormy) > calls(&quiet) + 100);
    for world in [&quiet, &stormy] {
        world.pass(MINUTE * 30).await;
        assert_eq!(
            world.sandbox.counters().merges,
            1,
            "{}",
            world.story().await
        );
        world.pass(hour(1)).await;
    }
    let found = differences(&quiet.decisions().await, &stormy.decisions().await);
    assert_eq!(found, Vec::<String>::new());
    quiet.finish().await;
    stormy.finish().await;
}

#[tokio::test]
async fn whatever_comes_through_our_own_app_decides_nothing() {
    Box::pin(decided_alike(APPS[0])).await;
}

#[tokio::test]
async fn whatever_comes_through_the_app_of_jules_decides_nothing() {
    Box::pin(decided_alike(APPS[1])).await;
}

#[tokio::test]
async fn whatever_comes_through_another_app_decides_nothing() {
    Box::pin(decided_alike(APPS[2])).await;
}

#[tokio::test]
async fn whatever_comes_through_no_app_decides_nothing() {
    Box::pin(decided_alike(APPS[3])).await;
}
