//! Narrators: none runs again before the code has changed.

use domain::account::Pace;
use domain::layer::Layer;
use domain::pipeline::{EntryPoint, Exchange, Implement, PipelineAsk};
use engine::pipelines::PipelineOrder;
use jiff::Timestamp;
use sandbox::story::Story;
use tests::world::{MINUTE, REPO, SECOND, World, hour, story, without_change};

use super::{begin, layered, piped, push, rules, steps, until_over, world_of};

/// How the narrator of a run of its own ended.
async fn narrated(world: &World) -> String {
    let ask = PipelineAsk {
        layer: Some(Layer::Narrator),
        ..PipelineAsk::default()
    };
    let (repo, order) = (
        REPO.parse().expect("a repository"),
        PipelineOrder::Only(ask),
    );
    let begun = world.backend.start_pipeline(&repo, &order, "ann").await;
    let over = until_over(world, &begun.expect("a run")).await;
    steps(&over).remove(0)
}

#[tokio::test]
async fn a_narrator_runs_again_only_once_the_code_has_changed() {
    let world = layered(Exchange::Auto, Implement::Human).await;
    let other = async |world: &World| {
        let begun = begin(world, EntryPoint::Requirements).await;
        until_over(world, &begun).await;
    };
    other(&world).await;
    assert_eq!(narrated(&world).await, "narrator done");
    // The summary has a day, and the commit that it covers is of that day.
    let skipped = "narrator skipped (Nothing changed since the last summary)";
    assert_eq!(narrated(&world).await, skipped);
    // A run without a narrator lies between.
    other(&world).await;
    push(&world, "main", (".jlo/roles/README.md", "Roles of ours.\n"));
    assert_eq!(narrated(&world).await, skipped);
    assert_eq!(world.sandbox.counters().creates, 1);
    push(&world, "main", ("src/lib.rs", "pub fn sub() {}\n"));
    assert_eq!(narrated(&world).await, "narrator done");
    assert_eq!(narrated(&world).await, skipped);
    assert_eq!(world.sandbox.counters().creates, 2);
    world.finish().await;
}

/// When the session of the narrator completed.
fn completed_at(world: &World) -> Timestamp {
    let sessions = world.sandbox.jules().sessions();
    let mut sessions = sessions.iter();
    let narrator = sessions.find(|it| it.prompt.contains("layer: narrator"));
    let mut activities = narrator.expect("a session").activities.iter();
    let completed = activities.find(|it| it.get("sessionCompleted").is_some());
    let at = completed.and_then(|it| it["createTime"].as_str());
    at.and_then(|at| at.parse().ok()).expect("a time")
}

/// Two minutes after its end is seen, which is at the next poll of its account.
#[tokio::test]
async fn an_agent_without_a_pull_request_says_when_it_ends() {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let done = without_change(SECOND);
    let silent = story("layer: narrator", vec![done]);
    let world = world_of(source, vec![silent, Story::layer()]).await;
    let begun = begin(&world, EntryPoint::Narrator).await;
    let says = async |world: &World| {
        let why = world.backend.pipeline_why(&begun.id).await;
        let because = why.expect("an answer").because;
        let end = ": If no pull request has come by then, it ends.";
        because.iter().any(|it| it.sentence.ends_with(end))
    };
    Box::pin(world.until(hour(1), "when it ends", says)).await;
    let over = until_over(&world, &begun).await;
    assert_eq!(steps(&over)[1], "narrator done");
    let ended = over.steps[1].state.since().expect("an end");
    let waited = ended.duration_since(completed_at(&world));
    let longest = MINUTE * 2 + Pace::default().idle;
    assert!((MINUTE * 2..=longest).contains(&waited), "{waited:#}");
    world.finish().await;
}
