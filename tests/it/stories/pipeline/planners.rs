//! What becomes of a requirement when its planner ends, in a run of the planner alone.

use domain::layer::Layer;
use domain::pipeline::{EntryPoint, Exchange, Implement, PipelineAsk};
use engine::pipelines::PipelineOrder;
use sandbox::story::{Step, Story};
use tests::world::{REPO, SECOND, World, hour, story};

use super::trials::REAL;
use super::{begin, piped, push_all, requirements, rules, steps, until_over, world_of};

/// A world with a requirement that asks for deep analysis.
async fn world(stories: Vec<Story>) -> World {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let world = world_of(source, stories).await;
    let begun = begin(&world, EntryPoint::Requirements).await;
    until_over(&world, &begun).await;
    push_all(&world, "jules", &REAL[1..]);
    world
}

async fn planned(world: &World) -> String {
    let repo = REPO.parse().expect("a repository");
    let order = PipelineOrder::Only(PipelineAsk {
        layer: Some(Layer::Planner),
        ..PipelineAsk::default()
    });
    let begun = world.backend.start_pipeline(&repo, &order, "ann").await;
    let over = until_over(world, &begun.expect("a run")).await;
    steps(&over).remove(0)
}

async fn until_is(world: &World, word: &str) {
    let is_so = async |world: &World| requirements(world).await[0].state.word() == word;
    Box::pin(world.until(hour(1), word, is_so)).await;
}

#[tokio::test]
async fn a_requirement_is_ready_once_its_planner_is_merged() {
    let world = world(vec![Story::layer()]).await;
    assert_eq!(planned(&world).await, "planner done");
    until_is(&world, "ready").await;
    world.finish().await;
}

#[tokio::test]
async fn a_requirement_that_no_planner_expands_gets_three_and_is_left_to_people() {
    let fails = Step::Fail {
        after: SECOND,
        reason: "out of memory".to_owned(),
    };
    let world = world(vec![story("layer: planner", vec![fails])]).await;
    for word in ["unplanned", "unplanned", "failed"] {
        assert_eq!(
            planned(&world).await,
            "planner failed (it failed: out of memory)"
        );
        until_is(&world, word).await;
    }
    let last = planned(&world).await;
    assert_eq!(
        last,
        "planner skipped (No requirement asks for deep analysis)"
    );
    assert_eq!(world.sandbox.counters().creates, 3);
    let repo = REPO.parse().expect("a repository");
    let id = requirements(&world).await[0].reference.id.clone();
    let started = world.backend.start_requirement(&repo, &id, false).await;
    assert_eq!(started.expect("a start").state.word(), "implementing");
}
