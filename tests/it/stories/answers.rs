//! The answer chain, and how often the same thing is announced.

use domain::effect::{Action, JulesAction};
use domain::event::Audience;
use domain::ids::JobId;
use domain::outgoing_text;
use domain::policy::{Answers, PlanApproval, Source};
use engine::keys;
use sandbox::agent::AgentSetup;
use tests::world::{
    AGENT, MINUTE, SECOND, Setup, World, asks, from_work, hour, on_green, scenario, story,
};

use super::falling_silent;

/// A world whose sessions ask so many questions, under a source with this chain.
async fn asking(questions: u32, chain: &[&str], agent: bool) -> World {
    let setup = setup(questions, chain);
    let agent = setup.source.agent.clone().filter(|_| agent);
    let source = Source {
        agent,
        ..setup.source
    };
    World::with(Setup { source, ..setup }).await
}

/// The same with one question, and with an agent that answers its wakes so.
async fn answering(statuses: &[u16], chain: &[&str]) -> World {
    let mut setup = setup(1, chain);
    setup.scenario.agents = vec![AgentSetup {
        name: AGENT.to_owned(),
        statuses: statuses.to_vec(),
        ..AgentSetup::default()
    }];
    World::with(setup).await
}

fn setup(questions: u32, chain: &[&str]) -> Setup {
    let ask = |n: u32| asks(SECOND * 3, &format!("Question {n}"));
    let steps = (1..=questions).map(ask).collect();
    let mut source = on_green();
    source.policy.plan_approval = PlanApproval::Auto;
    let chain = chain.iter().map(|step| step.parse().expect("a step"));
    source.policy.answers = Answers::new(chain.collect()).expect("a chain");
    Setup {
        scenario: scenario(vec![story("ask", from_work(steps))]),
        source,
        ..Setup::default()
    }
}

async fn asked(world: &World) -> JobId {
    let job = world.submit("ask").await;
    world.until_is(MINUTE * 5, &job, "asking").await;
    job
}

/// Audiences of the job's events.
async fn audiences(world: &World, job: &JobId) -> Vec<Audience> {
    let events = world.backend.store.events(job).await.expect("events");
    events.iter().map(|event| event.audience).collect()
}

#[tokio::test]
async fn what_is_said_again_under_its_old_name_answers_no_other_question() {
    let world = asking(2, &["agent:2h", "nudge:20m", "human"], true).await;
    let job = asked(&world).await;
    world.answer(&job, "Yes", "the key").await;
    world.until_events(MINUTE * 5, &job, 2).await;
    assert_eq!(world.sandbox.counters().messages, 1);
    world.pass(MINUTE * 110).await;
    let version = world.version(&job).await;
    // It sends nothing, so no turn waits for its outcome.
    world.answer(&job, "Yes", "the key").await;
    assert_eq!(world.version(&job).await, version);
    world.pass(MINUTE * 15).await;
    assert_eq!(world.sandbox.counters().messages, 2);
    let effects = world.backend.store.effects(&keys::job_pk(&job)).await;
    let said = |effect: &Action| matches!(effect, Action::Jules(JulesAction::Say { text, .. }) if *text == outgoing_text::decide_yourself());
    let effects = effects.expect("effects");
    assert!(effects.iter().any(|effect| said(&effect.value.action)));
}

#[tokio::test]
async fn a_question_that_its_agent_leaves_is_answered_by_a_nudge() {
    let world = asking(1, &["agent:2h", "nudge:20m", "human"], true).await;
    let job = asked(&world).await;
    world.pass(MINUTE * 110).await;
    assert_eq!(world.sandbox.counters().messages, 0);
    assert!(world.gives(&job, "agents_turn").await);
    world.until_is(MINUTE * 30, &job, "merged").await;
    assert_eq!(world.sandbox.counters().messages, 1);
    let effects = world.backend.store.effects(&keys::job_pk(&job)).await;
    let words: Vec<String> = effects
        .expect("effects")
        .into_iter()
        .filter_map(|effect| {
            if let Action::Jules(JulesAction::Say { text, .. }) = effect.value.action {
                Some(text)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(words, [outgoing_text::decide_yourself()]);
    // Only the agent was asked, and once.
    let told = ["question/question", "completed/completed"];
    assert_eq!(world.events(&job).await, told);
    assert_eq!(world.wakes().len(), 2);
    world.finish().await;
}

#[tokio::test]
async fn a_question_that_nobody_answers_is_shown_to_a_person_once() {
    let world = asking(1, &["agent:1h", "human"], true).await;
    let job = asked(&world).await;
    world.pass(hour(3)).await;
    assert_eq!(
        audiences(&world, &job).await,
        [Audience::Agent, Audience::Human]
    );
    assert!(world.gives(&job, "persons_turn").await);
    assert_eq!(world.wakes().len(), 1, "a person's event wakes nobody");
    world.say_upstream(&job, "SQLite").await;
    world.until_is(MINUTE * 15, &job, "merged").await;
    world.finish().await;
}

#[tokio::test]
async fn without_an_agent_its_turn_is_left_out() {
    let world = asking(1, &["agent:8h", "nudge:20m", "human"], false).await;
    let job = asked(&world).await;
    world.until_is(MINUTE * 15, &job, "merged").await;
    assert_eq!(world.sandbox.counters().messages, 1);
    assert!(world.wakes().is_empty());
    world.finish().await;
}

#[tokio::test]
async fn an_agent_that_takes_no_more_wakes_loses_its_turn_at_once() {
    let world = answering(&[410], &["agent:8h", "nudge:20m", "human"]).await;
    let job = asked(&world).await;
    world.pass(MINUTE * 2).await;
    // The agent was tried once, and the nudge came within the minute, not in the morning.
    assert_eq!(world.sandbox.counters().messages, 1);
    world.until_is(MINUTE * 15, &job, "merged").await;
    let other = asked(&world).await;
    world.pass(MINUTE).await;
    assert_eq!(world.sandbox.counters().messages, 2);
    assert!(
        !world
            .events(&other)
            .await
            .contains(&"question/question".to_owned())
    );
    world.finish().await;
}

#[tokio::test]
async fn a_nudge_that_was_held_is_not_said_after_the_answer() {
    let world = asking(1, &["nudge:20m", "human"], true).await;
    let job = world.submit("ask").await;
    world.until_is(MINUTE, &job, "working").await;
    world.pause(true).await;
    world.until_is(MINUTE * 5, &job, "asking").await;
    world.say_upstream(&job, "PostgreSQL").await;
    world.pass(MINUTE).await;
    world.pause(false).await;
    world.until_is(MINUTE * 30, &job, "merged").await;
    assert_eq!(world.session(&job).await.messages, ["PostgreSQL"]);
    world.finish().await;
}

#[tokio::test]
async fn a_session_that_only_asks_again_is_not_nudged_twice() {
    let world = asking(2, &["nudge:20m", "human"], true).await;
    let job = asked(&world).await;
    world.pass(hour(3)).await;
    assert_eq!(world.sandbox.counters().messages, 1);
    assert_eq!(audiences(&world, &job).await, [Audience::Human]);
    world.finish().await;
}

#[tokio::test]
async fn a_session_that_is_silent_for_ever_is_told_three_times_and_then_a_person() {
    let (world, job) = falling_silent().await;
    world.pass(hour(8)).await;
    let (agent, human) = (Audience::Agent, Audience::Human);
    assert_eq!(audiences(&world, &job).await, [agent, agent, agent, human]);
    assert_eq!(world.events(&job).await, ["stuck/stuck"; 4]);
    assert_eq!(world.wake_names(), ["stuck/stuck"; 3]);
    world.finish().await;
}

#[tokio::test]
async fn a_plan_that_its_agent_leaves_is_shown_to_a_person_and_not_approved() {
    let mut source = on_green();
    source.policy.plan_approval = PlanApproval::Agent;
    let chain = vec!["agent:1h".parse().expect("a step")];
    source.policy.answers = Answers::new(chain).expect("a chain");
    let world = World::of(sandbox::Scenario::default(), source).await;
    let job = world.submit("Add a test").await;
    world.pass(hour(2)).await;
    assert_eq!(
        audiences(&world, &job).await,
        [Audience::Agent, Audience::Human]
    );
    assert_eq!(world.sandbox.counters().approvals, 0);
    assert_eq!(world.state(&job).await, "plan-waits");
    world.finish().await;
}
