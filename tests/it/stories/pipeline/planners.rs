//! What becomes of a requirement when its planner ends, in a run of the planner alone.

use std::pin::Pin;

use domain::delivery::{Act, Delivery};
use domain::layer::Layer;
use domain::pipeline::{EntryPoint, Exchange, Implement, Pipeline, PipelineAsk};
use engine::pipelines::PipelineOrder;
use engine::work::Work;
use sandbox::story::{Step, Story};
use tests::world::{MINUTE, REPO, SECOND, World, hour, story};

use super::super::issues::order_to;
use super::trials::REAL;
use super::{
    begin, begin_and_end, members, piped, push, push_all, requirements, rules, run, steps,
    until_over, world_of,
};

/// A world with a requirement that asks for deep analysis.
async fn world(stories: Vec<Story>) -> World {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let world = world_of(source, stories).await;
    begin_and_end(&world, EntryPoint::Requirements).await;
    push_all(&world, "jules", &REAL[1..]);
    world
}

async fn begin_planner(world: &World) -> Pipeline {
    begin_planner_of(world, None).await
}

async fn begin_planner_of(world: &World, requirement: Option<&str>) -> Pipeline {
    let repo = REPO.parse().expect("a repository");
    let order = PipelineOrder::Only(PipelineAsk {
        layer: Some(Layer::Planner),
        requirement: requirement.map(str::to_owned),
        ..PipelineAsk::default()
    });
    let begun = world.backend.start_pipeline(&repo, &order, "ann").await;
    begun.expect("a run")
}

async fn planned(world: &World) -> String {
    let begun = begin_planner(world).await;
    let over = until_over(world, &begun).await;
    steps(&over).remove(0)
}

/// The same for the requirement that a person names.
async fn planned_by_name(world: &World, path: &str) -> String {
    let begun = begin_planner_of(world, Some(path)).await;
    let over = until_over(world, &begun).await;
    steps(&over).remove(0)
}

async fn until_is(world: &World, word: &str) {
    let is_so = async |world: &World| {
        let known = requirements(world).await;
        known.first().is_some_and(|it| it.state.word() == word)
    };
    // The end of its planner calls it: it is not read at its due only.
    Box::pin(world.until(MINUTE, word, is_so)).await;
}

#[tokio::test]
async fn a_requirement_is_ready_once_its_planner_is_merged() {
    let world = world(vec![Story::layer()]).await;
    assert_eq!(planned(&world).await, "planner done");
    until_is(&world, "ready").await;
    world.finish().await;
}

/// Two dispatchers get the same message, as a message and the due of its run may come at once.
#[tokio::test]
async fn a_plan_that_is_made_twice_counts_once_and_names_the_planner_of_its_run() {
    let world = world(vec![Story::layer()]).await;
    let begun = begin_planner(&world).await;
    let work = Work::Pipeline {
        id: begun.id.clone(),
    };
    let (other, clock, same) = (
        world.another_dispatcher(),
        world.clock.clone(),
        work.clone(),
    );
    world.fate.before_next("commit REQ#", async move {
        clock.advance(SECOND);
        Box::pin(other.handle(&same)).await.expect("handled");
    });
    let handled = Box::pin(world.dispatcher.handle(&work)).await;
    handled.expect("handled");
    let now = run(&world, &begun).await;
    let job = members(&now, "planner")[0].0.clone();
    let known = requirements(&world).await.remove(0);
    assert_eq!((known.state.job(), known.planners), (Some(&job), 1));
    until_over(&world, &begun).await;
    until_is(&world, "ready").await;
    world.finish().await;
}

#[tokio::test]
async fn a_planner_that_fails_before_its_session_counts_like_any_other() {
    let world = world(vec![Story::layer()]).await;
    let (path, text) = REAL[2];
    let odd = text.replace("label: docs", "label: nolabel");
    push(&world, "jules", (path, &odd));
    for word in ["unplanned", "unplanned", "failed"] {
        let told = planned(&world).await;
        assert!(told.contains("has the label `nolabel`"), "{told}");
        assert_eq!(requirements(&world).await[0].state.word(), word);
    }
    let last = planned(&world).await;
    assert!(last.starts_with("planner skipped"), "{last}");
    assert_eq!(world.sandbox.counters().creates, 0);
    // A person mends the file, and has it planned once more.
    push(&world, "jules", (path, text));
    assert_eq!(planned_by_name(&world, path).await, "planner done");
    until_is(&world, "ready").await;
    assert_eq!(requirements(&world).await[0].planners, 4);
}

#[tokio::test]
async fn a_requirement_is_unplanned_once_the_run_of_its_planner_is_called_off() {
    let slow = story("layer: planner", vec![Step::Hang { after: SECOND }]);
    let world = world(vec![slow]).await;
    let begun = begin_planner(&world).await;
    until_is(&world, "planning").await;
    let off = world.backend.cancel_pipeline(&begun.id, "ann").await;
    assert!(off.expect("a run").is_over());
    until_is(&world, "unplanned").await;
    let known = requirements(&world).await.remove(0);
    let why = known.state.reason().unwrap_or_default();
    assert!(why.contains("cancelled it"), "{why}");
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
    world.until_count(MINUTE * 30, |it| it.creates == 4).await;
    let sessions = world.sandbox.jules().sessions();
    let prompt = &sessions.last().expect("a session").prompt;
    let (path, _) = REAL[2];
    for part in ["layer: implementer", path, "task: docs"] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    // Its file still asks for deep analysis.
    assert_eq!(
        planned_by_name(&world, path).await,
        "planner failed (requirement rea003 is being implemented already)"
    );
    assert_eq!(world.sandbox.counters().creates, 4);
}

#[tokio::test]
async fn a_requirement_that_is_ready_is_refused_to_the_planner_that_is_named_for_it() {
    let world = world(vec![Story::layer()]).await;
    let (path, text) = REAL[2];
    let ready = text.replace("deep_analysis: true", "deep_analysis: false");
    push(&world, "jules", (path, &ready));
    let why = "asks for no deep analysis: it can be implemented as it is";
    assert_eq!(
        planned_by_name(&world, path).await,
        format!("planner failed (`{path}` {why})")
    );
    assert_eq!(world.sandbox.counters().creates, 0);
    assert_eq!(requirements(&world).await, []);
}

/// A person starts the requirement once these acts were reached, one after the other. Returns how its planner ended that was begun by name.
async fn planned_while_it_is_started(world: &World, acts: &[&'static str]) -> String {
    let begun = begin_planner_of(world, Some(REAL[2].0)).await;
    let backend = world.backend.clone();
    let id = requirements(world).await[0].reference.id.clone();
    let mut then: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
        let repo = REPO.parse().expect("a repository");
        let started = backend.start_requirement(&repo, &id, false).await;
        assert_eq!(started.expect("a start").state.word(), "implementing");
    });
    for act in acts.iter().rev().copied() {
        let (fate, next) = (world.fate.clone(), then);
        then = Box::pin(async move { fate.before_next(act, next) });
    }
    then.await;
    let work = Work::Pipeline {
        id: begun.id.clone(),
    };
    let handled = Box::pin(world.dispatcher.handle(&work)).await;
    handled.expect("handled");
    let over = until_over(world, &begun).await;
    steps(&over).remove(0)
}

/// Calls the delivery of the requirement off, so that this may be started or planned again.
async fn give_up(world: &World) {
    let known = requirements(world).await.remove(0);
    let id = known.state.delivery().expect("a delivery").clone();
    let is_begun = async |world: &World| {
        let found = world.backend.store.get::<Delivery>(&id).await;
        found.expect("a store").is_some()
    };
    Box::pin(world.until(MINUTE, "its delivery", is_begun)).await;
    // The first one stops it, and it might be tried again.
    for _ in 0..2 {
        order_to(world, &id, Act::Cancel).await;
    }
    let has_failed = async |world: &World| {
        let known = requirements(world).await;
        known[0].state.word() == "failed"
    };
    Box::pin(world.until(hour(1), "it failed", has_failed)).await;
}

#[tokio::test]
async fn no_planner_that_is_named_begins_beside_an_implementation() {
    let world = world(Vec::new()).await;
    let (path, text) = REAL[2];
    let ready = text.replace("deep_analysis: true", "deep_analysis: false");
    push(&world, "jules", (path, &ready));
    let noted = begin(&world, EntryPoint::Requirements).await;
    until_over(&world, &noted).await;
    push(&world, "jules", (path, text));
    let refused = "planner failed (requirement rea003 is being implemented already)";
    // It is started between the two reads of the run, and then, after a failure, right before the plan is saved.
    let acts = ["get REQ#", "get REQ#", "commit "];
    assert_eq!(
        planned_while_it_is_started(&world, &acts[..2]).await,
        refused
    );
    give_up(&world).await;
    assert_eq!(planned_while_it_is_started(&world, &acts).await, refused);
    assert_eq!(requirements(&world).await[0].attempt, 2);
}
