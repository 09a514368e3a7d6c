//! What a person is shown: every event that waits for a person, and nothing that an agent sees to.

use domain::event::Audience;
use domain::policy::PlanApproval;
use domain::wake::Notify;
use engine::backend::IndexEntry;
use engine::keys;
use engine::settings::Agent;
use tests::world::{AGENT, MINUTE, World, asking, on_green, scenario};

/// A world with a person beside its agent, who works or does not exist; the person's notices go to a receiver of their own.
async fn world_with_me(has_agent: bool) -> World {
    let mut source = on_green();
    if !has_agent {
        source.agent = None;
    }
    let world = World::of(scenario(vec![asking("asks", "Which one?")]), source).await;
    let me = Agent {
        notify: Some(Notify::Ntfy),
        ..Agent::new("me".parse().expect("a name"))
    };
    world
        .secrets
        .put("agents/me", &world.sandbox.agent_url("me"));
    let mut unit = world.backend.unit();
    let place = IndexEntry {
        list: keys::listed(keys::AGENTS, "me"),
        ..IndexEntry::default()
    };
    unit.put(keys::agent(&me.name), &me, None, place);
    world.backend.commit(unit).await.expect("a commit");
    world
}

fn shown(world: &World) -> Vec<String> {
    let received = world.sandbox.agents().received("me").into_iter();
    received.map(|received| received.body).collect()
}

#[tokio::test]
async fn a_question_without_an_agent_is_shown_to_a_person_once() {
    let world = world_with_me(false).await;
    let job = world.submit("asks").await;
    world.pass(MINUTE * 10).await;
    let shown = shown(&world);
    let expected = "acme/shop: Jules asks a question\nWhich one?\n";
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(shown[0].starts_with(expected), "{shown:?}");
    assert!(shown[0].ends_with(&format!("gaffer job why {job}")));
}

#[tokio::test]
async fn without_an_agent_what_is_told_is_a_persons() {
    for (has_agent, audience) in [(true, Audience::Agent), (false, Audience::Human)] {
        let mut source = on_green();
        source.policy.plan_approval = PlanApproval::Auto;
        source.agent = source.agent.filter(|_| has_agent);
        let world = World::of(sandbox::Scenario::default(), source).await;
        let job = world.submit("Add a test").await;
        world.until_is(MINUTE * 60, &job, "merged").await;
        let events = world.backend.store.events(&job).await.expect("events");
        let told: Vec<Audience> = events.iter().map(|event| event.audience).collect();
        assert_eq!(told, [audience]);
    }
}

#[tokio::test]
async fn what_an_agent_sees_to_is_shown_to_nobody() {
    let world = world_with_me(true).await;
    world.submit("asks").await;
    world.pass(MINUTE * 10).await;
    assert_eq!(world.sandbox.agents().received(AGENT).len(), 1);
    assert!(shown(&world).is_empty());
}
