//! Events from where the asker stands.

use std::time::Duration;

use api::DoorState;
use domain::event::{Aid, Audience, Event, Occurrence};
use domain::ids::{EventId, JobId};
use engine::desk::Place;
use engine::keys;
use jiff::SignedDuration;
use serde_json::Value;
use tokio::sync::watch;

use crate::world::{SESSION, TOKEN, World};

/// A completion that was seen so many seconds from now.
async fn seen(world: &World, job: &JobId, name: &str, seconds: i64) -> String {
    let event = Event {
        id: EventId::of(name),
        job: Some(job.clone()),
        account: "default".parse().unwrap(),
        attempt: 1,
        observed_at: world.desk.now() + SignedDuration::from_secs(seconds),
        status: "COMPLETED".to_owned(),
        last_activity: None,
        what: Occurrence::Completed { pulls: Vec::new() },
        audience: Audience::Agent,
        seq: None,
        aid: Aid::default(),
    };
    let sort = format!("{:020}:{}", event.observed_at.as_nanosecond(), event.id);
    let place = Place {
        list: keys::listed(keys::EVENTS, sort),
        ..Place::default()
    };
    let mut unit = world.desk.unit();
    unit.put(keys::event(job, &event.id), &event, None, place);
    world.desk.commit(unit).await.unwrap();
    event.id.to_string()
}

async fn ask(world: &World, query: &str) -> (Vec<String>, String) {
    let page = world.get(&format!("/events{query}")).await.ok(200);
    let id = |event: &Value| event["event_id"].as_str().unwrap().to_owned();
    let ids = page["events"].as_array().unwrap().iter().map(id).collect();
    (ids, page["cursor"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn each_event_is_told_once_in_order_and_none_is_passed_over() {
    let world = World::new().await;
    let job = world.job("acme/shop").await;
    let (none, begin) = ask(&world, "").await;
    assert!(none.is_empty());
    let (none, same) = ask(&world, &format!("?after={begin}")).await;
    assert_eq!((none.len(), same.as_str()), (0, begin.as_str()));
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(seen(&world, &job, &n.to_string(), n).await);
    }
    let (mut told, mut cursor) = (Vec::new(), begin);
    loop {
        let (page, next) = ask(&world, &format!("?limit=2&after={cursor}")).await;
        cursor = next;
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 2);
        told.extend(page);
    }
    assert_eq!(told, ids);
    // Another hand saw it before, and wrote it after the others.
    let late = seen(&world, &job, "late", 1).await;
    let (page, cursor) = ask(&world, &format!("?after={cursor}")).await;
    assert_eq!(page, [late]);
    assert!(ask(&world, &format!("?after={cursor}")).await.0.is_empty());
    // Whoever begins anew gets the newest.
    let (newest, _) = ask(&world, "?limit=2").await;
    assert_eq!(newest, ids[3..]);
    let (none, here) = ask(&world, "?limit=0").await;
    assert!(none.is_empty());
    assert!(ask(&world, &format!("?after={here}")).await.0.is_empty());
}

#[tokio::test]
async fn a_burst_is_told_to_its_end() {
    let world = World::new().await;
    let job = world.job("acme/shop").await;
    for n in 0..150 {
        seen(&world, &job, &n.to_string(), n / 100).await;
    }
    // Whoever begins in the middle of it gets what comes then.
    let (_, here) = ask(&world, "?limit=0").await;
    let next = seen(&world, &job, "next", 2).await;
    assert_eq!(ask(&world, &format!("?after={here}")).await.0, [next]);
    let (mut told, mut cursor) = (Vec::new(), "e1.0.".to_owned());
    loop {
        let (page, next) = ask(&world, &format!("?limit=20&after={cursor}")).await;
        if page.is_empty() {
            break;
        }
        told.extend(page);
        cursor = next;
    }
    assert_eq!(told.len(), 151);
    told.sort();
    told.dedup();
    assert_eq!(told.len(), 151);
}

#[tokio::test]
async fn events_of_one_job_are_told_alone() {
    let world = World::new().await;
    let job = world.job("acme/shop").await;
    let other = world.job("acme/other").await;
    let mine = seen(&world, &job, "mine", 0).await;
    seen(&world, &other, "other", 1).await;
    let (told, cursor) = ask(&world, &format!("?job={job}")).await;
    assert_eq!(told, [mine]);
    let next = seen(&world, &job, "next", 2).await;
    let (told, _) = ask(&world, &format!("?job={job}&after={cursor}")).await;
    assert_eq!(told, [next]);
    let page = world.get("/events").await.ok(200);
    assert_eq!(page["events"][1]["repo"], "acme/other");
    for missing in ["01j00000000000000000000000", "15400000000000000009"] {
        let missing = world.get(&format!("/events?job={missing}")).await;
        assert_eq!(missing.code(404), "no_such_job");
    }
}

#[tokio::test]
async fn events_of_a_job_are_told_by_its_session_too() {
    let world = World::new().await;
    let job = world.watched(|_| ()).await;
    let mine = seen(&world, &job, "mine", 0).await;
    let (told, _) = ask(&world, &format!("?job={SESSION}")).await;
    assert_eq!(told, [mine]);
}

#[tokio::test]
async fn what_cannot_be_read_is_named() {
    let world = World::new().await;
    for (query, field) in [
        ("after=x", "after"),
        ("after=e1.1..zz", "after"),
        ("job=..%2Fx", "job"),
        ("limit=101", "limit"),
        ("limit=-1", "limit"),
        ("wait_seconds=21", "wait_seconds"),
        ("wait=1", "wait"),
    ] {
        let refused = world.get(&format!("/events?{query}")).await;
        assert_eq!(refused.code(400), "bad_parameter", "{query}");
        assert_eq!(refused.json()["field"], field, "{query}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_is_held_open_for_a_while() {
    let mut world = World::new().await;
    let job = world.job("acme/shop").await;
    let (_, cursor) = ask(&world, "").await;
    let query = format!("?after={cursor}&wait_seconds=20");
    let began = tokio::time::Instant::now();
    ask(&world, &query).await;
    assert_eq!(
        began.elapsed(),
        Duration::ZERO,
        "a function answers at once"
    );
    let (_stop, stopped) = watch::channel(false);
    let state = DoorState::new(world.desk.clone(), vec![TOKEN.into()]);
    world.router = api::router(state.holding(stopped));
    ask(&world, &query).await;
    assert!(began.elapsed() >= Duration::from_secs(20));
    let (told, id) = tokio::join!(ask(&world, &query), seen(&world, &job, "it", 0));
    assert_eq!(told.0, [id]);
    assert!(began.elapsed() < Duration::from_secs(25));
}
