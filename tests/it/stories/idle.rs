//! An agent that hands work over and goes idle: the points of its story that no other file covers.

use domain::effect::{Action, JulesAction};
use domain::ids::JobId;
use domain::wake::{Channel, ReturnMode};
use engine::keys;
use jiff::Timestamp;
use sandbox::github::{CheckSetup, Outcome};
use sandbox::story::Step;
use tests::world::{
    MINUTE, SECOND, World, asking, ci, progress, scenario, source, story, with_ci, work,
};

use super::inbox::{going, take};

/// How soon a question is an event: the tick of an account with work, and the second in which it is polled.
const POLLED_WITHIN: jiff::SignedDuration = SECOND.saturating_mul(11);

#[tokio::test]
async fn half_an_hour_of_progress_is_not_one_byte() {
    let mut steps: Vec<Step> = (0..40).map(|_| progress(MINUTE, "Working")).collect();
    steps.extend(work());
    let world = World::on_green(scenario(vec![story("long", steps)])).await;
    let job = world.submit("long").await;
    let begun = world.session_activities(&job).await;
    world.pass(MINUTE * 35).await;
    let made = world.session_activities(&job).await - begun;
    assert!(made >= 30, "an activity a minute: {made}");
    assert!(world.all_events().await.is_empty());
    let counters = world.sandbox.counters();
    assert_eq!((counters.wakes_received, counters.wake_bytes), (0, 0));
    world.until_is(MINUTE * 15, &job, "merged").await;
    assert_eq!(world.wake_names(), ["completed/completed"]);
    world.finish().await;
}

/// When the session of a job said this.
async fn said_at(world: &World, job: &JobId, words: &str) -> Timestamp {
    let activities = world.session(job).await.activities;
    let mut activities = activities.iter();
    let said = activities.find(|it| it.to_string().contains(words));
    let said = said.and_then(|it| it["createTime"].as_str());
    said.and_then(|at| at.parse().ok()).expect("a time")
}

#[tokio::test]
async fn a_question_wakes_at_the_next_poll_and_again_when_its_handler_crashes() {
    let story = asking("ask", "Which database?");
    let world = going(&[Channel::Inbox], 500, vec![story]).await;
    let job = world.submit("ask").await;
    let mut taken = Vec::new();
    world
        .until(MINUTE * 5, "a wake", async |world| {
            taken = take(world).await;
            !taken.is_empty()
        })
        .await;
    let had_after = world.clock.now() - said_at(&world, &job, "Which database?").await;
    let had_after = jiff::SignedDuration::try_from(had_after).expect("a duration");
    assert!(had_after <= POLLED_WITHIN, "{had_after:#}");
    let (agent, event) = (world.agent(), taken[0].event.id.clone());
    let back = world
        .backend
        .give_back((&agent, &event, 1), "exit code 1", ReturnMode::AsPlanned)
        .await;
    back.expect("a lease");
    world.pass(SECOND * 6).await;
    let again = take(&world).await;
    assert_eq!(again[0].event.id, event);
    // The second attempt answers.
    world.answer(&job, "SQLite", "answer").await;
    let done = world.backend.acknowledge(&agent, &event).await;
    done.expect("an acknowledgement");
    world.until_is(MINUTE * 15, &job, "merged").await;
    assert_eq!(world.session(&job).await.messages, ["SQLite"]);
    let told = ["question/question", "completed/completed"];
    assert_eq!(world.events(&job).await, told);
    let rest = take(&world).await;
    assert_eq!(rest.len(), 1, "the completion alone: {rest:#?}");
    world.finish().await;
}

#[tokio::test]
async fn a_merge_names_the_checks_it_waits_for_and_ends_with_the_session_put_away() {
    let slow = CheckSetup {
        takes: MINUTE * 10,
        ..CheckSetup::new("integration", Outcome::Success)
    };
    let mut people = source();
    people.policy.plan_approval = domain::policy::PlanApproval::Auto;
    let world = World::of(with_ci(ci(vec![slow])), people).await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 5, &job, "in-review").await;
    world.pass(MINUTE * 2).await;
    world.approve_merge(&job).await;
    world.pass(MINUTE).await;
    let why = world.backend.why(&job).await.expect("a why");
    let waits = why.because.iter().find(|it| it.code == "checks_pending");
    let waits = waits.unwrap_or_else(|| panic!("{why:#?}"));
    assert!(waits.sentence.contains("integration"), "{waits:?}");
    assert_eq!(world.sandbox.counters().merge_calls, 0);
    world.until_is(MINUTE * 15, &job, "merged").await;
    world.pass(MINUTE).await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.merges, counters.archives), (1, 1));
    assert_eq!(world.wake_names(), ["completed/completed"]);
    world.finish().await;
}

#[tokio::test]
async fn a_retry_is_the_next_attempt_and_each_event_says_of_which_it_is() {
    let fail = Step::Fail {
        after: SECOND * 5,
        reason: "It does not build.".to_owned(),
    };
    let world = World::on_green(scenario(vec![story("fail", vec![fail])])).await;
    let job = world.submit("fail").await;
    for attempt in 1..=2_u64 {
        world
            .until(MINUTE * 3, "a failure", async |world| {
                world.wakes().len() as u64 == attempt
            })
            .await;
        if attempt == 1 {
            let again = world.backend.retry_job(&world.named(&job), None).await;
            again.expect("a retry");
        }
    }
    let told = world.wakes();
    let attempts: Vec<_> = told.iter().map(|wake| wake["attempt"].as_u64()).collect();
    assert_eq!(attempts, [Some(1), Some(2)]);
    assert!(told.iter().all(|wake| wake["job_id"] == job.to_string()));
    assert_ne!(told[0]["event_id"], told[1]["event_id"]);
    let effects = world.backend.store.effects(&keys::job_pk(&job)).await;
    let effects = effects.expect("effects");
    let created = effects.iter().filter(|effect| {
        matches!(
            effect.value.action,
            Action::Jules(JulesAction::CreateSession { .. })
        )
    });
    assert_eq!(created.count(), 2);
    world.finish().await;
}
