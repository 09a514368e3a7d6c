//! A sprint whose process dies again and again: it ends the same, and nothing of it happens twice.

use sandbox::github::PullState;
use tests::world::Moment;

use super::*;

/// Two that conflict, in either order, and one that shares nothing.
fn stories() -> Vec<Story> {
    let both = [(10, "price"), (12, "total: the sum of all")];
    let again = [("src/cart.rs", cart(&both))];
    vec![
        member(
            "curator",
            1,
            &[("src/cart.rs", cart(&[(10, "price"), (12, "total")]))],
            &again,
        ),
        member(
            "refactor",
            4,
            &[("src/cart.rs", cart(&[(12, "sum of all")]))],
            &again,
        ),
        member("visionary", 8, &[("VISION.md", "Far.\n".to_owned())], &[]),
    ]
}

/// Whether the sprint is over, its jobs have ended with it, and the pull requests of its members are closed. A process
/// that dies at the start leaves members whose jobs do not exist yet, so a sprint that goes on is not asked for jobs.
async fn is_through(world: &World) -> bool {
    let sprint = sprint(world).await;
    if !sprint.is_over() {
        return false;
    }
    for member in &sprint.members {
        if world.state(&member.job).await != "woven" {
            return false;
        }
    }
    let github = world.sandbox.github();
    let mut pulls = github.pulls(REPO).into_iter();
    pulls.all(|number| world.pull(number).state != PullState::Open)
}

/// A sprint whose process dies after so many acts, and after as many again, to the end.
async fn played(every: usize) -> World {
    let world = world_of(false, stories()).await;
    begin(&world).await;
    let deaths = Cell::new(None);
    let is_through = async |world: &World| {
        if deaths.replace(Some(world.deaths())) != Some(world.deaths()) {
            let act = world.fate.count() + every - 1;
            world.fate.kill_at(act, Moment::After);
        }
        is_through(world).await
    };
    Box::pin(world.until(hour(6), "the sprint is over", is_through)).await;
    world
}

/// The process dies as soon as the next act is done whose name begins so.
pub(super) fn dies_after_next(world: &World, act: &'static str) {
    let fate = world.fate.clone();
    // An act is counted before its hook runs.
    let dies = async move { fate.kill_at(fate.count() - 1, Moment::After) };
    world.fate.before_next(act, dies);
}

/// Requests that GitHub has carried out.
pub(super) fn done(world: &World, method: &str, path: &str) -> usize {
    let found = world.requests(Service::GitHub, method, path);
    let is_done = |status: u16| (200..300).contains(&status);
    found.iter().filter(|it| is_done(it.status)).count()
}

#[tokio::test]
async fn a_process_that_dies_after_every_few_acts_does_everything_once() {
    for every in [8, 13] {
        let world = played(every).await;
        let over = sprint(&world).await;
        let when = format!("dying after every {every} acts, {} times", world.deaths());
        assert!(world.deaths() > 10, "{when}");
        let states = over.members.iter().map(|it| it.state.word());
        assert_eq!(states.collect::<Vec<_>>(), ["applied"; 3], "{when}");
        assert_eq!((over.state.word(), over.ticks), ("done", 4), "{when}");
        let counters = world.sandbox.counters();
        let once = (counters.creates, counters.messages, counters.merges);
        assert_eq!(once, (3, 1, 1), "{when}");
        let pulls = world.sandbox.github().pulls(REPO);
        assert_eq!(pulls, [101, 102, 103, 104], "{when}");
        let branch = "jules-sprint-50-integration";
        let refs = (
            done(&world, "POST", "/git/refs"),
            done(&world, "PATCH", &format!("/git/refs/heads/{branch}")),
        );
        assert_eq!(refs, (1, 1), "one commit for each weave, {when}");
        let mail = mail(&world).await;
        let sent = mail.iter().filter(|line| line.starts_with("send")).count();
        assert_eq!((sent, mail.len()), (1, 2), "{mail:?}, {when}");
        let texts = world.sandbox.github().texts(REPO, "main").expect("main");
        let both = [(10, "price"), (12, "total: the sum of all")];
        assert_eq!(texts["src/cart.rs"], cart(&both), "{when}");
        world.finish().await;
    }
}
