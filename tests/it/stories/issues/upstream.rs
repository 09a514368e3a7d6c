//! What people do with the session of a delivery on Jules's own page.

use domain::delivery::RunStatus;
use domain::ids::JobId;
use tests::world::from_work;

use super::*;

/// The job of a delivery, once its session is there.
async fn job_with_session(world: &World, number: u64) -> JobId {
    let has_session = async |world: &World| {
        let found = delivery(world, number).await;
        found.is_some_and(|it| it.runs.iter().any(|run| run.session.is_some()))
    };
    Box::pin(world.until(hour(1), "a session", has_session)).await;
    let found = delivery(world, number).await.expect("a delivery");
    found.task.job.expect("a job")
}

/// People of the account approve there. What they approved is the plan of the delivery, also where no poll
/// saw it wait.
#[tokio::test]
async fn a_plan_that_is_approved_on_its_own_page_goes_on_by_that_person() {
    for is_seen_before in [true, false] {
        let plan = Step::Plan {
            after: SECOND * 20,
            steps: vec!["Look at the totals".to_owned()],
        };
        let planning = story("You plan and implement", from_work(vec![plan]));
        let world = World::of(scenario(vec![planning]), taking(|_| {})).await;
        let number = open_issue(&world, "Add a test", "");
        until(&world, number, "plan/pending").await;
        order(&world, number, Act::Start).await;
        let job = job_with_session(&world, number).await;
        if is_seen_before {
            until(&world, number, "plan/succeeded").await;
        } else {
            // The plan is made, and Gaffer does not look meanwhile.
            assert_eq!(place(&world, number).await, "plan/running");
            world.clock.advance(SECOND * 30);
            world.sandbox.advance();
        }
        world.approve_upstream(&job).await;
        until(&world, number, "close/succeeded").await;
        let ended = delivery(&world, number).await.expect("a delivery");
        let mut spans = ended.phase_runs.iter();
        let begun = spans.find(|span| span.phase == Phase::Implement);
        let begun = begun.map(|span| (span.run_status, span.actor.clone()));
        let by_them = (RunStatus::Running, Actor::person("on Jules's page"));
        assert_eq!(begun, Some(by_them));
        let plan = ended.plan.expect("a plan");
        assert!(
            plan.content.starts_with("1. Look at the totals"),
            "{plan:?}"
        );
        let counters = world.sandbox.counters();
        assert_eq!((counters.creates, counters.approvals), (1, 1));
        assert_eq!(counters.approve_calls, 1, "the call of that person");
        world.finish().await;
    }
}
