//! Trial runs: no session runs, everything else is real, and nothing of it stays.

use domain::layer::Layer;
use domain::pipeline::{EntryPoint, Exchange, Implement, MockTag, Pipeline, PipelineAsk};
use engine::pipelines::PipelineOrder;
use sandbox::github::PullState;
use scaffold::mock;
use tests::world::{REPO, World, hour};

use super::{begin, findings, piped, rules, steps, tree, until_over, world_of};

fn tag() -> MockTag {
    "mock-1".parse().expect("a tag")
}

async fn world() -> World {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let world = world_of(source, Vec::new()).await;
    let bootstrap = begin(&world, EntryPoint::Requirements).await;
    until_over(&world, &bootstrap).await;
    world
}

async fn ordered(world: &World, order: PipelineOrder) -> Pipeline {
    let repo = REPO.parse().expect("a repository");
    let begun = world.backend.start_pipeline(&repo, &order, "ann").await;
    until_over(world, &begun.expect("a run")).await
}

async fn tried(world: &World, layer: Layer, requirement: Option<&str>) -> Vec<String> {
    let ask = PipelineAsk {
        layer: Some(layer),
        requirement: requirement.map(str::to_owned),
        mock: Some(tag()),
        ..PipelineAsk::default()
    };
    steps(&ordered(world, PipelineOrder::Only(ask)).await)
}

async fn cleaned(world: &World) -> Vec<String> {
    steps(&ordered(world, PipelineOrder::Clean(tag())).await)
}

/// Every layer up to the pull request of the code. Returns the number of that one.
async fn whole(world: &World) -> u64 {
    assert_eq!(tried(world, Layer::Narrator, None).await, ["narrator done"]);
    assert_eq!(
        tried(world, Layer::Observers, None).await,
        ["observers done"]
    );
    assert_eq!(tried(world, Layer::Decider, None).await, ["decider done"]);
    assert_eq!(tried(world, Layer::Planner, None).await, ["planner done"]);
    assert_eq!(findings(world), [""; 0]);
    let worker = tree(world, "jules");
    let mut requirements = worker.below(".jules/exchange/requirements");
    let is_file = |path: &str| path.ends_with(".yml");
    let (path, _) = requirements
        .find(|(path, _)| is_file(path.as_str()))
        .expect("a requirement");
    let path = path.as_str().to_owned();
    assert_eq!(
        tried(world, Layer::Implementer, Some(&path)).await,
        ["implementer done"]
    );
    *world.sandbox.github().pulls(REPO).last().expect("a pull")
}

#[tokio::test]
async fn a_trial_run_needs_no_session_and_its_code_is_never_merged() {
    let world = world().await;
    let code = whole(&world).await;
    world.pass(hour(2)).await;
    let pull = world.pull(code);
    assert_eq!(
        (pull.base_ref.as_str(), pull.state),
        ("main", PullState::Open)
    );
    assert_eq!(world.sandbox.counters().creates, 0, "no session");
    assert!(!mock::traces(&tree(&world, "jules"), &tag()).is_empty());
}

#[tokio::test]
async fn nothing_of_a_trial_run_stays() {
    let world = world().await;
    let code = whole(&world).await;
    assert_eq!(cleaned(&world).await, ["clean done"]);
    world.pass(hour(1)).await;
    let pull = world.pull(code);
    assert_eq!(pull.state, PullState::Closed);
    let branch = world.sandbox.github().branch_exists(REPO, &pull.head_ref);
    assert_eq!(branch, Some(false));
    assert_eq!(mock::traces(&tree(&world, "jules"), &tag()), []);
    assert_eq!(findings(&world), [""; 0]);
    let again = cleaned(&world).await;
    assert_eq!(
        again,
        ["clean skipped (Nothing of the trial run mock-1 is left)"]
    );
}
