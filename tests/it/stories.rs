//! The stories of the first issue, on virtual time: the whole engine and the real adapters around the sandbox.

mod accounts;
mod afresh;
mod afterwards;
mod answers;
mod attention;
mod blocked;
mod budgets;
mod cancelled;
mod checks;
mod clock;
mod deliveries;
mod demo;
mod github;
mod halted;
mod hearing;
mod idle;
mod inbox;
pub(crate) mod issues;
mod listening;
mod merges;
mod notices;
mod pauses;
mod pipeline;
mod plans;
mod polls;
mod pushes;
mod quotas;
mod readings;
mod repair;
mod sessions;
mod sprints;
mod stacks;
mod throttles;
mod turns;
mod wakes;
mod why;

use domain::ids::JobId;
use domain::policy::{PlanApproval, Policy, Source};
use sandbox::story::Story;
use tests::world::{MINUTE, REPO, SECOND, World, asks, on_green, scenario, silent, source, story};

async fn merged_story(webhooks: bool) {
    let world = World::hearing(sandbox::Scenario::default(), on_green(), webhooks).await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 10, &job, "merged").await;
    world.pass(MINUTE).await;

    let counters = world.sandbox.counters();
    assert_eq!(
        (counters.creates, counters.merges, counters.merge_calls),
        (1, 1, 1)
    );
    assert_eq!((counters.branch_deletes, counters.archives), (1, 1));
    assert_eq!(counters.approve_calls, 0, "Jules goes on by itself");
    assert_eq!(world.events(&job).await, ["completed/completed"]);
    let pull = world
        .sandbox
        .github()
        .pull(REPO, 1)
        .expect("the pull request");
    assert_eq!(pull.merged_sha.as_ref(), Some(&pull.head_sha));
    let wakes = world.wakes();
    assert_eq!(wakes.len(), 1);
    assert_eq!(wakes[0]["event"], "completed");
    assert_eq!(wakes[0]["job_id"], job.to_string());
    assert!(world.evidence(1, &pull.head_sha).await.is_some());
    world.finish().await;
}

#[tokio::test]
async fn a_prompt_becomes_a_merged_pull_request() {
    merged_story(true).await;
}

#[tokio::test]
async fn the_same_without_webhooks() {
    merged_story(false).await;
}

#[tokio::test]
async fn by_default_people_merge() {
    let policy = Policy {
        plan_approval: PlanApproval::Auto,
        ..Policy::default()
    };
    let world = World::of(sandbox::Scenario::default(), Source { policy, ..source() }).await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 10, &job, "in-review").await;
    world.pass(MINUTE * 30).await;
    assert_eq!(world.sandbox.counters().merge_calls, 0);
    world.must_give(&job, "needs_approval").await;

    world.approve_merge(&job).await;
    world.until_is(MINUTE * 3, &job, "merged").await;
    assert_eq!(world.sandbox.counters().merges, 1);
    world.finish().await;
}

#[tokio::test]
async fn a_question_wakes_the_agent_once_and_its_answer_goes_on() {
    let ask = asks(SECOND * 3, "Which database?");
    let mut steps = vec![ask];
    steps.extend(Story::default().steps.into_iter().skip(1));
    let world = World::on_green(scenario(vec![story("ask me", steps)])).await;
    let job = world.submit("ask me").await;
    world.until_is(MINUTE * 2, &job, "asking").await;
    world.pass(MINUTE * 40).await;
    assert_eq!(world.events(&job).await, ["question/question"]);
    let wakes = world.wakes();
    assert_eq!(wakes.len(), 1, "{wakes:#?}");
    assert_eq!(wakes[0]["message"], "Which database?");

    world.answer(&job, "PostgreSQL", "answer-1").await;
    world.answer(&job, "PostgreSQL", "answer-1").await;
    world.until_is(MINUTE * 10, &job, "merged").await;
    assert_eq!(world.sandbox.counters().messages, 1);
    assert_eq!(
        world.events(&job).await,
        ["question/question", "completed/completed"]
    );
    world.finish().await;
}

#[tokio::test]
async fn a_plan_is_shown_to_whoever_approves_plans() {
    let mut source = on_green();
    source.policy.plan_approval = PlanApproval::Agent;
    let world = World::of(sandbox::Scenario::default(), source).await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 2, &job, "plan-waits").await;
    world.pass(MINUTE * 2).await;
    assert_eq!(world.events(&job).await, ["question/plan_approval"]);
    assert_eq!(
        world.wakes()[0]["payload"]["steps"][0]["title"],
        "Look around"
    );

    world.approve_plan(&job).await;
    world.until_is(MINUTE * 10, &job, "merged").await;
    assert_eq!(world.sandbox.counters().approvals, 1);
    world.finish().await;
}

/// A world with one job, whose session falls silent for ever.
async fn falling_silent() -> (World, JobId) {
    let world = World::on_green(scenario(vec![silent("stall")])).await;
    let job = world.submit("stall").await;
    (world, job)
}

#[tokio::test]
async fn silence_is_stuck_once_a_window() {
    let (world, job) = falling_silent().await;
    world.pass(MINUTE * 14).await;
    assert!(world.events(&job).await.is_empty());
    assert!(world.wakes().is_empty());
    world.pass(MINUTE * 2).await;
    assert_eq!(
        world.events(&job).await,
        ["stuck/stuck"],
        "{}",
        world.story().await
    );
    world.pass(MINUTE * 13).await;
    assert_eq!(world.events(&job).await.len(), 1);
    world.pass(MINUTE * 3).await;
    assert_eq!(world.events(&job).await, ["stuck/stuck", "stuck/stuck"]);
    world.finish().await;
}
