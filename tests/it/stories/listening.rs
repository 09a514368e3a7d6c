//! What ends a job waits until the session was listened to: no last word of it is lost because its log lagged.

use sandbox::github::{CheckSetup, Outcome};
use sandbox::{Lags, Scenario};
use tests::world::{MINUTE, SECOND, Setup, World, ci, on_green, with_ci};

async fn world_of(scenario: Scenario) -> World {
    World::with(Setup {
        scenario,
        source: on_green(),
        ..Setup::default()
    })
    .await
}

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
        let world = world_of(played).await;
        let job = world.submit("Add a test").await;
        world
            .until(MINUTE * 30, "merged", async |world| {
                world.state(&job).await == "merged"
            })
            .await;
        assert_eq!(
            world.events(&job).await,
            ["completed/completed", "completed/completed"],
            "a log that lags by {lag} s"
        );
        world.finish().await;
    }
}
