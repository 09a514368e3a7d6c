//! Pull requests that Gaffer opens by itself: found again after a death, never mixed up with others, closed when they are cancelled.

use domain::ids::JobId;
use domain::pipeline::{EntryPoint, Exchange, Implement, Pipeline};
use sandbox::github::PullState;
use sandbox::story::Story;
use sandbox::{Fault, FaultKind, Service};
use tests::world::{Moment, REPO, SECOND, World, hour};

use super::trials::REAL;
use super::{
    begin, begin_and_end, call_off, findings, git, layered, members, piped, push, push_all, rules,
    run, steps, tree, until_over, world_of,
};

async fn world() -> World {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    world_of(source, vec![Story::layer()]).await
}

async fn bootstrap(world: &World, begun: &Pipeline) -> JobId {
    let now = run(world, begun).await;
    members(&now, "bootstrap")[0].0.clone()
}

fn opening(kind: FaultKind) -> Fault {
    Fault::new(Service::GitHub, "/pulls", kind)
        .on("POST")
        .next(1)
}

#[tokio::test]
async fn a_process_that_dies_after_any_act_opens_one_pull_request() {
    let alive = world().await;
    let begun = begin(&alive, EntryPoint::Decider).await;
    let began = alive.fate.count();
    until_over(&alive, &begun).await;
    let acts = alive.fate.acts();
    let writes = |act: &String| act == "create_branch" || act == "open_pull";
    assert_eq!(acts.iter().filter(|act| writes(act)).count(), 3, "{acts:?}");
    for (at, act) in acts.iter().enumerate().skip(began) {
        let world = world().await;
        world.fate.kill_at(at, Moment::After);
        let begun = begin(&world, EntryPoint::Decider).await;
        let over = until_over(&world, &begun).await;
        let when = format!("dying after act {at}, `{act}`");
        assert_eq!(steps(&over)[0], "bootstrap done", "{when}");
        assert_eq!(world.sandbox.counters().merges, 1, "{when}");
        assert_eq!(world.sandbox.github().pulls(REPO), [1], "{when}");
        assert_eq!(findings(&world), [""; 0], "{when}");
    }
}

#[tokio::test]
async fn an_answer_that_is_lost_opens_no_second_one() {
    for kind in [
        FaultKind::CutAfterEffect,
        FaultKind::StatusAfterEffect { code: 422 },
        FaultKind::CutBefore,
    ] {
        let world = world().await;
        world.sandbox.faults().add(opening(kind.clone()));
        let over = begin_and_end(&world, EntryPoint::Decider).await;
        assert_eq!(steps(&over)[0], "bootstrap done", "{kind:?}");
        assert_eq!(world.sandbox.github().pulls(REPO), [1], "{kind:?}");
    }
}

#[tokio::test]
async fn a_commit_of_another_on_our_branch_is_never_merged() {
    let world = world().await;
    world.sandbox.faults().add(opening(FaultKind::CutBefore));
    let begun = begin(&world, EntryPoint::Decider).await;
    world.pass(SECOND).await;
    let branch = format!("jules-gaffer-{}", bootstrap(&world, &begun).await);
    assert_eq!(
        world.sandbox.github().branch_exists(REPO, &branch),
        Some(true)
    );
    push(&world, &branch, ("src/lib.rs", "broken"));
    let over = until_over(&world, &begun).await;
    assert!(
        steps(&over)[0].contains("has a commit that Gaffer did not make"),
        "{:?}",
        steps(&over)
    );
    assert_eq!(world.sandbox.counters().merges, 0);
}

#[tokio::test]
async fn what_is_called_off_while_it_is_opened_is_closed() {
    let world = world().await;
    let begun = begin(&world, EntryPoint::Decider).await;
    let off = call_off(&world, &begun, "bootstrap");
    world.fate.before_next("open_pull", off);
    world.pass(hour(1)).await;
    assert_eq!(world.pull(1).state, PullState::Closed);
    assert_eq!(world.sandbox.counters().merges, 0);
}

#[tokio::test]
async fn one_that_is_called_off_before_it_is_opened_leaves_no_branch() {
    let world = world().await;
    world.sandbox.faults().add(opening(FaultKind::CutBefore));
    let begun = begin(&world, EntryPoint::Decider).await;
    world.pass(SECOND).await;
    let branch = format!("jules-gaffer-{}", bootstrap(&world, &begun).await);
    let is_there = || world.sandbox.github().branch_exists(REPO, &branch);
    assert_eq!(is_there(), Some(true));
    let off = world.backend.cancel_pipeline(&begun.id, "ann").await;
    assert!(off.expect("a run").is_over());
    world.pass(hour(1)).await;
    assert_eq!(is_there(), Some(false), "{}", world.story().await);
    assert_eq!(world.sandbox.github().pulls(REPO), [0; 0]);
}

#[tokio::test]
async fn one_that_is_called_off_is_closed() {
    let world = layered(Exchange::Human, Implement::Human).await;
    let begun = begin(&world, EntryPoint::Decider).await;
    world.pass(hour(1)).await;
    assert_eq!(world.pull(1).state, PullState::Open);
    let off = world.backend.cancel_pipeline(&begun.id, "ann").await;
    assert!(off.expect("a run").is_over());
    world.pass(hour(1)).await;
    assert_eq!(world.pull(1).state, PullState::Closed);
}

#[tokio::test]
async fn a_branch_that_has_the_files_of_the_target_needs_no_bootstrap() {
    let world = world().await;
    begin_and_end(&world, EntryPoint::Decider).await;
    let github = world.sandbox.github();
    for (number, outcome) in [(1, "bootstrap done"), (2, "bootstrap skipped")] {
        if number == 1 {
            push(&world, "main", ("src/lib.rs", "pub fn sub() {}"));
        }
        let over = begin_and_end(&world, EntryPoint::Decider).await;
        assert!(
            steps(&over)[0].starts_with(outcome),
            "{number}: {:?}",
            steps(&over)
        );
    }
    assert_eq!(github.pulls(REPO), [1, 2]);
}

/// Both branches changed the same file of the exchange: outside the system's folder the target counts, inside it the worker branch.
/// The commit has both as parents, so neither conflicts later.
#[tokio::test]
async fn a_bootstrap_takes_the_code_over_and_no_file_of_the_exchange() {
    let world = world().await;
    begin_and_end(&world, EntryPoint::Requirements).await;
    let (path, text) = REAL[0];
    push(&world, "jules", (path, text));
    let summary = ".jules/exchange/changes.yml";
    let of_target = [
        (path, "of the target"),
        (summary, "of the target"),
        ("src/lib.rs", "pub fn sub() {}"),
    ];
    push_all(&world, "main", &of_target);
    let folder = world.sandbox.github().folder(REPO).expect("real git");
    let resolved = |names: &[&str]| git(&folder, &[&["rev-parse"][..], names].concat());
    let tips = resolved(&["jules", "main"]);
    let system = resolved(&["jules:.jules"]);
    let over = begin_and_end(&world, EntryPoint::Requirements).await;
    assert_eq!(steps(&over)[0], "bootstrap done");
    let worker = tree(&world, "jules");
    assert_eq!(worker.text(path), Some(text));
    assert_eq!(worker.text(summary), None);
    assert_eq!(worker.text("src/lib.rs"), Some("pub fn sub() {}"));
    assert_eq!(resolved(&["jules:.jules"]), system);
    let made = world.pull(2).head_sha;
    assert_eq!(resolved(&[&format!("{made}:.jules")]), system);
    assert_eq!(resolved(&[&format!("{made}^@")]), tips, "both are parents");
}
