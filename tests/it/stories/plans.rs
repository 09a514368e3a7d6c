//! Plans, approved by Gaffer, by the agent or by a person.

use domain::job::{EndReason, JobPhase};
use domain::policy::{Automation, PlanApproval, Terms};
use sandbox::story::Step;
use sandbox::{Fault, FaultKind, Service};
use serde_json::json;
use tests::world::{MINUTE, SECOND, World, from_work, hour, on_green, progress, scenario, story};

async fn world_with(approval: PlanApproval) -> World {
    let mut source = on_green();
    source.policy.plan_approval = approval;
    World::of(sandbox::Scenario::default(), source).await
}

#[tokio::test]
async fn a_person_is_shown_the_plan_and_the_agent_sleeps() {
    let world = world_with(PlanApproval::Human).await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 2, &job, "plan-waits").await;
    world.pass(MINUTE * 90).await;
    assert_eq!(world.events(&job).await, ["question/plan_approval"]);
    let counters = world.sandbox.counters();
    assert_eq!((counters.wakes_received, counters.approve_calls), (0, 0));

    world.approve_plan(&job).await;
    world.approve_plan(&job).await;
    world.until_is(MINUTE * 10, &job, "merged").await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.approvals, counters.approve_calls), (1, 1));
    assert_eq!(world.wake_names(), ["completed/completed"]);
    world.finish().await;
}

#[tokio::test]
async fn gaffer_approves_a_plan_that_waits_in_spite_of_the_policy() {
    let world = world_with(PlanApproval::Agent).await;
    // The session asks for approval, and the policy changes before its plan is there.
    let job = world.submit("Add a test").await;
    world.until_count(MINUTE, |it| it.creates == 1).await;
    world.put_source(&on_green()).await;
    world.until_is(MINUTE * 10, &job, "merged").await;
    assert_eq!(world.events(&job).await, ["completed/completed"]);
    let counters = world.sandbox.counters();
    assert_eq!((counters.approvals, counters.approve_calls), (1, 1));
    assert_eq!(
        world.requests(Service::Jules, "POST", ":approvePlan").len(),
        1
    );
    world.finish().await;
}

#[tokio::test]
async fn an_approved_plan_that_still_shows_as_waiting_is_not_approved_again() {
    let world = world_with(PlanApproval::Agent).await;
    let lags = sandbox::Lags {
        approve: MINUTE * 2,
        activities: tests::world::SECOND * 20,
        ..sandbox::Lags::default()
    };
    world.sandbox.faults().set_lags(lags);
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 2, &job, "plan-waits").await;
    world.approve_plan(&job).await;
    world.until_is(MINUTE * 20, &job, "merged").await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.approvals, counters.approve_calls), (1, 1));
    assert_eq!(
        world.events(&job).await,
        ["question/plan_approval", "completed/completed"]
    );
    world.finish().await;
}

#[tokio::test]
async fn a_job_that_wants_its_plan_seen_waits_for_its_agent_though_its_source_does_not() {
    let world = world_with(PlanApproval::Auto).await;
    let terms = Terms {
        require_plan_approval: Some(true),
        ..Terms::default()
    };
    let job = world.submit_under("Add a test", terms).await;
    world.until_is(MINUTE * 2, &job, "plan-waits").await;
    world.pass(MINUTE * 5).await;
    assert_eq!(world.wake_names(), ["question/plan_approval"]);
    assert_eq!(world.sandbox.counters().approve_calls, 0);
    world.approve_plan(&job).await;
    world.until_is(MINUTE * 10, &job, "merged").await;
    assert_eq!(world.sandbox.counters().approve_calls, 1);
    world.finish().await;
}

#[tokio::test]
async fn a_job_without_a_pull_request_completes_and_ends() {
    let world = world_with(PlanApproval::Auto).await;
    let terms = Terms {
        automation: Automation::AutomationModeUnspecified,
        ..Terms::default()
    };
    let job = world.submit_under("Try another parser", terms).await;
    world
        .until(MINUTE * 10, "completed", async |world| {
            world.events(&job).await == ["completed/completed"]
        })
        .await;
    world.pass(MINUTE * 60 * 24 * 8).await;
    let job = world.backend.must_job(&job).await.expect("a job").value;
    let JobPhase::Ended(ending) = &job.phase else {
        panic!("{:?}", job.phase);
    };
    assert_eq!((&ending.how, &ending.pull), (&EndReason::Completed, &None));
    world.finish().await;
}

/// A plan was approved; then the session writes another one and works on it without asking.
#[tokio::test]
async fn a_second_plan_that_nobody_approved_is_not_merged_before_it_is() {
    let second = json!({ "planGenerated": { "plan": {
        "id": "second", "steps": [{ "id": "1", "title": "Do something else", "index": 0 }],
    } } });
    let second = second.as_object().cloned().expect("an object");
    let steps = vec![
        Step::Plan {
            after: SECOND,
            steps: vec!["Do it".to_owned()],
        },
        progress(SECOND * 10, "Working"),
        Step::Activity {
            after: SECOND * 10,
            activity: second,
        },
        progress(SECOND * 10, "Working on the second"),
        progress(MINUTE * 2, "Still at it"),
    ];
    let mut source = on_green();
    source.policy.plan_approval = PlanApproval::Human;
    let world = World::of(scenario(vec![story("test", from_work(steps))]), source).await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 2, &job, "plan-waits").await;
    world.approve_plan(&job).await;
    world.pass(hour(1)).await;
    assert_eq!(world.sandbox.counters().merge_calls, 0);
    world.must_give(&job, "plan_unreviewed").await;
    let events = world.events(&job).await;
    assert_eq!(
        events,
        [
            "question/plan_approval",
            "question/unreviewed_plan",
            "completed/completed"
        ]
    );

    world.approve_plan(&job).await;
    world.until_is(MINUTE * 10, &job, "merged").await;
    assert_eq!(
        world.sandbox.counters().approve_calls,
        1,
        "Jules did not wait for the second"
    );
    world.pass(MINUTE).await;
    world.finish().await;
}

#[tokio::test]
async fn an_approval_that_waits_for_its_retry_is_not_given_to_a_later_plan() {
    let world = world_with(PlanApproval::Human).await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 2, &job, "plan-waits").await;
    let throttled = FaultKind::Status {
        code: 429,
        retry_after_secs: Some(300),
        body: None,
    };
    let refusal = Fault::new(Service::Jules, ":approvePlan", throttled);
    world.sandbox.faults().add(refusal.on("POST").next(1));
    world.approve_plan(&job).await;
    world.pass(SECOND * 10).await;
    world.say_upstream(&job, "Make it smaller").await;
    world.pass(MINUTE * 10).await;
    assert_eq!(world.sandbox.counters().approvals, 0);
    assert_eq!(
        world.events(&job).await,
        ["question/plan_approval", "question/plan_approval"]
    );

    world.approve_plan(&job).await;
    world.until_is(MINUTE * 10, &job, "merged").await;
    assert_eq!(world.sandbox.counters().approvals, 1);
    world.finish().await;
}
