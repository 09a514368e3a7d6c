//! An agent's inbox over HTTP.

use std::time::Duration;

use api::ApiState;
use domain::event::{Event, Occurrence};
use domain::ids::{AgentName, EventId, JobId};
use domain::wake::{Channel, Wake};
use engine::backend::IndexEntry;
use engine::keys;
use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::world::{TOKEN, World};

fn zai() -> AgentName {
    "zai".parse().unwrap()
}

/// A question of a job lies in the inbox.
async fn asked(world: &World, job: &JobId, text: &str) -> EventId {
    let event = Event {
        job: Some(job.clone()),
        attempt: 1,
        status: "AWAITING_USER_FEEDBACK".to_owned(),
        ..Event::new(
            EventId::from_name(text),
            "default".parse().unwrap(),
            world.backend.now(),
            Occurrence::Question {
                text: Some(text.to_owned()),
            },
        )
    };
    let (id, now) = (event.id.clone(), world.backend.now());
    let repo = Some("acme/shop".to_owned());
    let wake = Wake::new(event.clone(), zai(), repo, now).by(&[Channel::Inbox]);
    world.put(keys::event(job, &id), &event).await;
    let place = IndexEntry {
        list: keys::listed(keys::inbox(&zai()), format!("{}:{id}", now.as_nanosecond())),
        ..IndexEntry::default()
    };
    world.put_at(keys::wake(&zai(), &id), &wake, place).await;
    id
}

async fn take(world: &World, body: Value) -> Value {
    world.post("/agents/zai/take", &body).await.ok(200)
}

#[tokio::test]
async fn a_wake_is_taken_extended_given_back_and_acknowledged() {
    let world = World::new().await;
    let none = take(&world, json!({})).await;
    assert_eq!(none, json!({"wakes": []}));
    let job = world.job("acme/shop").await;
    let id = asked(&world, &job, "Which database?").await;
    let taken = take(&world, json!({"limit": 10})).await;
    let wake = &taken["wakes"][0];
    assert_eq!(wake["event"]["event"], "question");
    assert_eq!(wake["event"]["event_id"], id.to_string());
    assert_eq!(wake["event"]["job_id"], job.to_string());
    assert_eq!(wake["event"]["repo"], "acme/shop");
    assert_eq!(wake["event"]["message"], "Which database?");
    assert_eq!(wake["attempt"], 1);
    assert_eq!(wake["until"], "2026-03-01T12:10:00Z");
    assert_eq!(take(&world, json!({})).await, json!({"wakes": []}));

    let held = json!({"agent": "zai", "attempt": 1});
    let path = |verb: &str| format!("/events/{id}/{verb}");
    world.clock.advance(SignedDuration::from_secs(60));
    let longer = world.post(&path("extend"), &held).await.ok(200);
    assert_eq!(longer["until"], "2026-03-01T12:11:00Z");
    let back =
        json!({"agent": "zai", "attempt": 1, "why": "exit code 1", "retry_after_seconds": 90});
    let back = world.post(&path("return"), &back).await.ok(200);
    assert_eq!(back["comes_again"], "2026-03-01T12:02:30Z");
    for verb in ["extend", "return"] {
        let lost = world.post(&path(verb), &held).await;
        assert_eq!(lost.code(409), "lease_lost");
    }
    world.clock.advance(SignedDuration::from_secs(90));
    let again = take(&world, json!({})).await;
    assert_eq!(again["wakes"][0]["attempt"], 2);
    let untried = json!({"agent": "zai", "attempt": 2, "untried": true});
    let back = world.post(&path("return"), &untried).await.ok(200);
    assert_eq!(back["comes_again"], "2026-03-01T12:02:30Z");
    let again = take(&world, json!({})).await;
    assert_eq!(again["wakes"][0]["attempt"], 2, "no try was counted");
    let done = world.post(&path("ack"), &json!({"agent": "zai"})).await;
    assert_eq!(done.ok(200)["event_id"], id.to_string());
    let held = json!({"agent": "zai", "attempt": 2});
    let over = world.post(&path("extend"), &held).await;
    assert_eq!(over.code(409), "acknowledged");
    assert_eq!(take(&world, json!({})).await, json!({"wakes": []}));
}

#[tokio::test]
async fn nothing_is_taken_for_an_agent_that_is_not_there() {
    let world = World::new().await;
    let none = world.post("/agents/zai/take", &json!({"limit": 0})).await;
    assert_eq!(none.ok(422)["field"], "limit");
    let other = world.post("/agents/nobody/take", &json!({})).await;
    assert_eq!(other.code(404), "no_such_agent");
    let odd = world.post("/agents/No%0aBody/take", &json!({})).await;
    assert_eq!(odd.code(400), "bad_id");
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_is_held_open_until_something_comes_or_the_process_stops() {
    let mut world = World::new().await;
    let job = world.job("acme/shop").await;
    let began = tokio::time::Instant::now();
    take(&world, json!({"wait_seconds": 20})).await;
    assert_eq!(
        began.elapsed(),
        Duration::ZERO,
        "a function answers at once"
    );

    let (stop, stopped) = watch::channel(false);
    let state = ApiState::new(world.backend.clone(), vec![TOKEN.into()]);
    world.router = api::router(state.holding(stopped));
    let none = take(&world, json!({"wait_seconds": 20})).await;
    assert_eq!(none, json!({"wakes": []}));
    assert!(began.elapsed() >= Duration::from_secs(20));

    let waiting = take(&world, json!({"wait_seconds": 20}));
    let (taken, id) = tokio::join!(waiting, asked(&world, &job, "Which?"));
    assert_eq!(taken["wakes"][0]["event"]["event_id"], id.to_string());
    assert!(began.elapsed() < Duration::from_secs(25));

    let waiting = take(&world, json!({"wait_seconds": 20}));
    let (none, ()) = tokio::join!(waiting, async {
        stop.send_replace(true);
    });
    assert_eq!(none, json!({"wakes": []}));
    assert!(began.elapsed() < Duration::from_secs(25));
}
