//! Plans that a person makes for what implements a requirement.

use domain::delivery::{Act, Checkpoints, Delivery, Phase, PlanBy};
use domain::ids::DeliveryId;
use domain::pipeline::{EntryPoint, Exchange, Implement};
use sandbox::story::Story;
use tests::world::{World, hour};

use super::super::issues::order_to;
use super::{begin, piped, requirements, rules, until_over, world_of};

async fn until(world: &World, id: &DeliveryId, wanted: &str) {
    let is_so = async |world: &World| {
        let found = world.backend.store.get::<Delivery>(id).await;
        let found = found.expect("a store").map(|found| found.value);
        found.is_some_and(|it| format!("{}/{}", it.phase, it.run_status) == wanted)
    };
    Box::pin(world.until(hour(1), wanted, is_so)).await;
}

async fn plan(world: &World, id: &DeliveryId, content: &str) {
    until(world, id, "plan/running").await;
    let act = Act::Plan {
        content: content.to_owned(),
        target_files: Vec::new(),
    };
    order_to(world, id, act).await;
}

/// The prompts of the sessions that implement something, the first one first.
fn prompts(world: &World) -> Vec<String> {
    let sessions = world.sandbox.jules().sessions().into_iter();
    let prompts = sessions.map(|session| session.prompt);
    let implement = prompts.filter(|prompt| prompt.contains("layer: implementer"));
    implement.collect()
}

#[tokio::test]
async fn each_session_of_a_requirement_gets_the_plan_of_its_delivery() {
    let mut source = piped(rules(Exchange::Auto, Implement::Auto));
    source.deliveries.plan_by = PlanBy::Human;
    let checkpoints = Checkpoints::at(&[Phase::Implement]);
    source.deliveries.checkpoints = checkpoints.expect("checkpoints");
    let world = world_of(source, vec![Story::layer()]).await;
    let begun = begin(&world, EntryPoint::Observers).await;
    until_over(&world, &begun).await;
    let found = requirements(&world).await.remove(0);
    let id = found.state.delivery().expect("a delivery");
    plan(&world, id, "Take the first way.").await;
    until(&world, id, "implement/succeeded").await;
    let reason = "Otherwise, please.".to_owned();
    order_to(&world, id, Act::Reject { reason }).await;
    plan(&world, id, "Take the second way.").await;
    let is_begun = async |world: &World| prompts(world).len() == 2;
    Box::pin(world.until(hour(1), "another session", is_begun)).await;
    let begun = prompts(&world);
    for (prompt, own, other) in [
        (&begun[0], "the first way", "the second way"),
        (&begun[1], "the second way", "the first way"),
    ] {
        assert!(!prompt.contains(other), "{prompt}");
        let (before, _) = prompt.split_once("\n---\n# Output\n").expect("an output");
        assert!(before.contains(own), "{prompt}");
        assert!(before.contains(&found.reference.path), "{prompt}");
    }
}
