//! What ends a job waits until the session was listened to: no last word of it is lost because its log lagged.

use sandbox::github::{CheckSetup, Outcome};
use sandbox::{Fault, FaultKind, Lags, Scenario, Service};
use tests::world::{MINUTE, Moment, SECOND, World, ci, on_green, with_ci};

#[tokio::test]
async fn a_repaired_session_is_heard_twice_however_its_log_lags() {
    for lag in 1..=10 {
        let fails_first = ci(vec![CheckSetup::new("build", Outcome::FailsFirst(1))]);
        let played = Scenario {
            lags: Lags {
                activities: SECOND * lag,
                ..Lags::default()
            },
            ..with_ci(fails_first)
        };
        let world = World::on_green(played).await;
        let job = world.submit("Add a test").await;
        world.until_is(MINUTE * 30, &job, "merged").await;
        assert_eq!(
            world.events(&job).await,
            ["completed/completed", "completed/completed"],
            "a log that lags by {lag} s"
        );
        world.finish().await;
    }
}

/// Jules lists nothing there.
fn silent(path: &str) -> Fault {
    let unavailable = FaultKind::status(503);
    Fault::new(Service::Jules, path, unavailable).on("GET")
}

fn head(world: &World) -> String {
    world.pull(1).head_sha
}

#[tokio::test]
async fn a_session_that_may_have_heard_of_its_checks_is_listened_to_before_its_fix_is_merged() {
    let mut source = on_green();
    // Ready to be merged before the message's call is given up.
    source.timing.settle = SECOND * 20;
    let fails_first = ci(vec![CheckSetup::new("build", Outcome::FailsFirst(1))]);
    let world = World::hearing(with_ci(fails_first), source, true).await;
    let fate = world.fate.clone();
    world.fate.before_next("say", async move {
        fate.kill_at(fate.acts().len() - 1, Moment::After);
    });
    let job = world.submit("Add a test").await;
    world.until_count(MINUTE * 30, |it| it.messages == 1).await;
    let red = head(&world);
    // The process died, and Jules does not show whether the message arrived, while the fix is pushed and its checks pass.
    let unheard = ["/sessions?", "/activities"].map(silent);
    for fault in &unheard {
        world.sandbox.faults().add(fault.clone());
    }
    world.pass(MINUTE * 5).await;
    assert_ne!(head(&world), red, "the fix was not pushed");
    assert_eq!(world.sandbox.counters().merge_calls, 0);
    world.sandbox.faults().clear();
    world.until_is(MINUTE * 30, &job, "merged").await;
    assert_eq!(
        world.events(&job).await,
        ["completed/completed", "completed/completed"]
    );
    world.finish().await;
}
